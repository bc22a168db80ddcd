// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/options.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace kiln {
namespace {

[[noreturn]] void not_a(const char* what, std::string_view text, const std::string& option) {
  throw InvalidArgument("option.value", option + ": '" + std::string(text) + "' is not " + what);
}

/// A number at the beginning of `text`; what follows it is cut off into `rest`.
std::optional<double> leading_number(std::string_view text, std::string_view& rest) {
  double value = 0;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

struct Suffix {
  std::string_view text;
  double factor;
};

template <std::size_t N>
std::optional<double> scaled(std::string_view text, const std::array<Suffix, N>& suffixes) {
  std::string_view rest;
  const std::optional<double> value = leading_number(text, rest);
  if (!value) return std::nullopt;
  for (const Suffix& suffix : suffixes) {
    if (rest != suffix.text) continue;
    const double product = *value * suffix.factor;
    if (std::isfinite(product)) return product;
  }
  return std::nullopt;
}

constexpr std::array<Suffix, 7> count_suffixes{{{"", 1},
                                                {"k", 1e3},
                                                {"M", 1e6},
                                                {"G", 1e9},
                                                {"Ki", 1024.0},
                                                {"Mi", 1048576.0},
                                                {"Gi", 1073741824.0}}};
constexpr std::array<Suffix, 5> time_suffixes{
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}}};

constexpr double huge = std::numeric_limits<double>::max();
// From here on a range does not name its upper end.
constexpr double min_unnamed = std::numeric_limits<std::int32_t>::max();

bool within(double value, const OptionRange& range) {
  return value >= range.low && value <= range.high;
}

bool is_automatic(double value, const OptionRange& range) {
  return range.automatic && value == range.automatic->value;
}

/// A number as people write it: 1000000, but 1e9 and 1e-9.
std::string show_end(double end) {
  constexpr double max_digits = 1e6;
  if (std::abs(end) <= max_digits && end == std::round(end)) {
    return detail::show_integer(static_cast<std::int64_t>(end));
  }
  std::string text = detail::show_real(end);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  const std::string sign = text[exponent + 1] == '-' ? "-" : "";
  const std::size_t digits = text.find_first_not_of("+-0", exponent + 1);
  return text.substr(0, exponent + 1) + sign + text.substr(digits);
}

std::string show_ends(double low, double high) {
  if (low == -huge && high == huge) return "a number";
  const bool unnamed = high >= min_unnamed;
  if (low == std::numeric_limits<double>::denorm_min()) {
    return unnamed ? "> 0" : "> 0 and <= " + show_end(high);
  }
  return unnamed ? ">= " + show_end(low) : show_end(low) + " .. " + show_end(high);
}

}  // namespace

std::int64_t parse_count(std::string_view text, const std::string& option) {
  std::int64_t exact = 0;  // plain digits keep all 63 bits
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc() && end == text.data() + text.size()) return exact;
  const std::optional<double> value = scaled(text, count_suffixes);
  // 1.001k is 1000.9999999999999 in binary: the last digits of a product do not count.
  const double whole = value ? std::round(*value) : 0;
  if (!value || std::abs(*value - whole) > 0x1p-51 * std::abs(whole) || std::abs(whole) > 9.0e18) {
    not_a("a whole number such as 1000, 1e6, 10k or 64Ki", text, option);
  }
  return static_cast<std::int64_t>(whole);
}

double parse_duration(std::string_view text, const std::string& option) {
  const std::optional<double> value = scaled(text, time_suffixes);
  if (!value) not_a("a duration such as 30, 30s, 500ms, 5m or 2h", text, option);
  return *value;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%=";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;  // of no use on a screen
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

namespace detail {

std::int64_t parse_integer(std::string_view text, const std::string& option) {
  return parse_count(text, option);
}

double parse_real(std::string_view text, const std::string& option) {
  std::string_view rest;
  const std::optional<double> value = leading_number(text, rest);
  if (!value || !rest.empty()) not_a("a finite number", text, option);
  return *value;
}

std::vector<double> parse_reals(std::string_view text, const std::string& option) {
  std::vector<double> values;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    values.push_back(parse_real(text.substr(0, comma), option));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) not_a("a valid end of a list of numbers", ",", option);
  }
  return values;
}

std::string show_integer(std::int64_t value) { return std::to_string(value); }

std::string show_real(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::string show_reals(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + show_real(value);
  return text;
}

std::vector<std::string> parse_words(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t comma = text.find(',');
    words.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

std::string show_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

void check_choice(std::string_view text, const std::vector<std::string>& choices,
                  const std::string& option) {
  std::string all;
  for (const std::string& choice : choices) {
    if (text == choice) return;
    all += (all.empty() ? "" : ", ") + choice;
  }
  const std::string near = nearest_name(text, choices);
  throw InvalidArgument("option.choice",
                        option + ": '" + std::string(text) + "' is not one of " + all +
                            (near.empty() ? "" : "; the nearest is '" + near + "'"));
}

std::string show_choices(const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : " | ") + choice;
  return text;
}

std::string not_a_parameter(const std::string& name, const std::string& owner,
                            const std::vector<std::string>& names) {
  const std::string near = nearest_name(name, names);
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  return "'" + name + "' is not a parameter of " + owner +
         (near.empty() ? "; available: " + all : "; the nearest is '" + near + "'");
}

std::string of_other_alternative(const std::string& name, const FieldInfo& field,
                                 const std::string& chosen) {
  const std::string needed = field.choice + "=" + field.alternative;
  const std::string present = name == field.name ? "" : ", now '" + field.name + "',";
  return "'" + name + "'" + present + " is a parameter of " + needed + ", and " + field.choice +
         " is " + chosen + "; give " + needed + " or leave '" + name + "' out";
}

std::string given_twice(const std::string& former_name, const std::string& name) {
  return "'" + former_name + "' is the former name of '" + name + "', and both are given";
}

std::string show_range(const OptionRange& range) {
  const std::string ends = show_ends(range.low, range.high);
  const bool apart = range.automatic && !within(range.automatic->value, range);
  return apart ? show_end(range.automatic->value) + ", or " + ends : ends;
}

std::string show_list_range(const OptionRange& range) {
  const std::string list = "a comma-separated list";
  return range.low == -huge && range.high == huge ? list
                                                  : list + ", each value " + show_range(range);
}

void check_range(double value, const OptionRange& range, const std::string& option) {
  if (within(value, range) || is_automatic(value, range)) return;
  // A range that names no upper end has one all the same.
  const bool unnamed = value > range.high && range.high >= min_unnamed;
  throw InvalidArgument("option.range", option + ": " + show_real(value) +
                                            " is out of range: " + show_range(range) +
                                            (unnamed ? " and <= " + show_real(range.high) : ""));
}

std::string show_default(double value, const OptionRange& range, std::string text) {
  return is_automatic(value, range) ? std::string("automatic") : std::move(text);
}

}  // namespace detail

bool exists_in(const OptionTexts& texts, const FieldInfo& field) {
  if (field.choice.empty()) return true;
  const auto chosen = texts.find(field.choice);
  return chosen != texts.end() && chosen->second == field.alternative;
}

}  // namespace kiln
