// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "kiln/errors.hpp"

#include "output/wording.hpp"

namespace kiln::cli {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: no valid UTF-8 starts here
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[length] || value > 0x10ffff || surrogate) return {};
  return {value, length};
}

bool is_harmless(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
  const bool direction =
      (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !control && !direction;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    --columns;
  }
  return at;
}

// Where the continuation of a line begins. A line that begins below what labels name, "done   ", is
// a continuation itself: the next one begins where it does.
std::size_t hang_of(std::string_view line, std::size_t columns) {
  constexpr std::size_t label = 7;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", indent);
  const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  const std::size_t deeper = indent >= label ? 0 : 2;
  return second <= columns / 2 ? second : std::min(indent + deeper, columns / 2);
}

// Where what goes to the next line begins, after a comma: of a list in braces, which has no blanks.
std::size_t comma_break_of(std::string_view line, std::size_t from, std::size_t most) {
  const std::size_t open = line.find('{', from);
  const std::size_t close = line.rfind('}');
  if (close == std::string_view::npos || (open != std::string_view::npos && open > close)) {
    return std::string_view::npos;
  }
  std::size_t comma = line.rfind(',', most - 1);
  if (comma == std::string_view::npos || comma < from) comma = line.find(',', most);
  return comma < close ? comma + 1 : std::string_view::npos;
}

// Whether this blank stands between a number and its binary unit: "398.2 KiB".
bool parts_unit(std::string_view line, std::size_t blank) {
  const std::string_view unit = line.substr(blank + 1, 3);
  const bool binary = unit == "KiB" || unit == "MiB" || unit == "GiB" || unit == "TiB";
  return binary && blank > 0 && line[blank - 1] >= '0' && line[blank - 1] <= '9';
}

// The blank before the word in quotes that this blank stands in; the blank itself in plain words.
std::size_t before_quotes(std::string_view line, std::size_t blank) {
  const std::size_t open = line.rfind(" '", blank - 1);
  if (open == std::string_view::npos || open + 1 >= blank) return blank;
  for (std::size_t at = line.find('\'', open + 2); at != std::string_view::npos;
       at = line.find('\'', at + 1)) {
    constexpr std::string_view behind = " ,.;:)";
    const bool closes = at + 1 == line.size() || behind.find(line[at + 1]) != behind.npos;
    if (closes) return at > blank ? open : blank;
  }
  return blank;
}

// The end of what stays on this line, or npos: there is nothing to break at.
std::size_t break_of(std::string_view line, std::size_t from, std::size_t columns) {
  const std::size_t most = bytes_of(line, columns);
  const std::size_t parts = line.rfind("  ", most);
  if (parts != std::string_view::npos && parts > from &&
      width_of(line.substr(0, parts)) > columns / 2)
    return parts;
  std::size_t before = line.rfind(' ', most);
  if (before != std::string_view::npos && parts_unit(line, before)) {
    before = line.rfind(' ', before - 1);
  }
  if (before != std::string_view::npos && before > from) {
    const std::size_t outside = before_quotes(line, before);
    if (outside > from) before = outside;
  }
  if (before != std::string_view::npos && before > from) return before;
  const std::size_t blank = line.find(' ', std::max(most, from));
  return blank == std::string_view::npos ? comma_break_of(line, from, most) : blank;
}

void append_fitted(std::string& text, std::string_view line, std::size_t columns) {
  const std::size_t hang = hang_of(line, columns);
  std::size_t from = std::max(hang, std::min(line.find_first_not_of(' '), line.size()));
  std::string rest(line);
  while (width_of(rest) > columns) {
    const std::size_t end = break_of(rest, from, columns);
    const std::size_t next = end == std::string::npos ? end : rest.find_first_not_of(' ', end);
    if (next == std::string::npos) break;
    const std::size_t last = rest.find_last_not_of(' ', end - 1);
    text += rest.substr(0, last + 1) + "\n";
    rest = std::string(hang, ' ') + rest.substr(next);
    from = hang;
  }
  text += rest;
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns) {
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    append_fitted(result, text.substr(0, end), columns);
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

const char* verb_of(Sense sense) noexcept {
  return sense == Sense::maximize ? "maximise" : "minimise";
}

const char* participle_of(Sense sense) noexcept {
  return sense == Sense::maximize ? "maximised" : "minimised";
}

std::string clean(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t length = point.length == 0 ? 1 : point.length;
    if (point.length != 0 && is_harmless(point.value)) {
      result += text.substr(0, length);
    } else {
      result += '?';
    }
    text.remove_prefix(length);
  }
  return result;
}

bool is_clean(std::string_view text) { return clean(text) == text; }

std::string clean_lines(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    result += clean(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string escaped(std::string_view text) {
  // What looks like an escaped byte is escaped, too.
  if (clean(text) == text && text.find("\\x") == std::string_view::npos) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t length = point.length == 0 ? 1 : point.length;
    const bool kept = point.length != 0 && is_harmless(point.value);
    for (const char c : text.substr(0, length)) {
      if (!kept) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        result += c == '\\' ? "\\\\" : std::string(1, c);
      }
    }
    text.remove_prefix(length);
  }
  return result;
}

bool is_name(std::string_view name, std::string_view text) {
  return text == name || text == escaped(name) || text == clean(name);
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = 1;
    if (text.front() != '\\') {
      result += text.front();
    } else if (text.starts_with("\\\\")) {
      result += '\\';
      length = 2;
    } else {
      unsigned char byte = 0;
      length = 4;
      if (!text.starts_with("\\x") || text.size() < length) return std::nullopt;
      const char* const end = text.data() + length;
      const auto [rest, error] = std::from_chars(text.data() + 2, end, byte, 16);
      if (error != std::errc() || rest != end) return std::nullopt;
      result += static_cast<char>(byte);
    }
    text.remove_prefix(length);
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.length == 0) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::string shortened_lines(std::string_view text, std::size_t most) {
  constexpr std::string_view gap = " ... ";
  const std::size_t tail = most / 3;
  const auto within = [](std::string_view line, std::size_t at) {
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80;
  };
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.size() <= most) {
      result += line;
    } else {
      // Not within a character, which has four bytes at most.
      std::size_t cut = most - tail - gap.size(), rest = line.size() - tail;
      for (int i = 0; i < 3 && within(line, cut); ++i) --cut;
      for (int i = 0; i < 3 && within(line, rest); ++i) ++rest;
      result.append(line.substr(0, cut)).append(gap).append(line.substr(rest));
    }
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string human_count(double value) {
  if (value < 1000) return fmt::format("{:.0f}", value);
  constexpr std::array<const char*, 6> units{"k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  value /= 1000;
  // 999.95 would be printed as 1000.0.
  while (value >= 999.95 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f}{}", value, units[unit]);
}

std::string human_rate(double value) {
  return value < 99.95 ? fmt::format("{:.3g}", value) : human_count(value);
}

std::string human_seconds(double seconds) {
  if (seconds < 99.95) return fmt::format("{:.1f}s", seconds);
  if (seconds >= 864e6) return ">27y";  // 10,000 days, and what no integer holds
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  const auto days = whole / 86400;
  if (days < 5) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d", days);
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<const char*, 5> units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_value(double value, bool integral) {
  if (integral && std::abs(value) < 1e16) return fmt::format("{:.0f}", value);
  return fmt::format("{:.10g}", value);
}

std::vector<std::string> wrap(std::string_view sentence, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!sentence.empty()) {
    const std::size_t end = sentence.find(' ');
    const std::string_view word = sentence.substr(0, end);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty() && !word.empty()) line += ' ';
    line += word;
    if (end == std::string_view::npos) break;
    sentence.remove_prefix(end + 1);
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       std::size_t first_number) {
  return spaced_table(rows, first_number, 3);
}

std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view prefix) {
  const std::string near = nearest_name(word, candidates);
  return near.empty() ? std::string{} : fmt::format("; the nearest is '{}{}'", prefix, near);
}

}  // namespace kiln::cli
