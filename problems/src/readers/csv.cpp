// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include <algorithm>
#include <iterator>

#include "text_reader.hpp"

namespace kiln::problems::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool between_digits(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_digit(text[at - 1]) && is_digit(text[at + 1]);
}

// What stands in quotes at the front of `rest`, which loses it; false: it has no end.
bool take_quoted(std::string_view& rest, std::string& cell) {
  for (rest.remove_prefix(1);;) {
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) return false;
    cell += rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!rest.starts_with('"')) return true;  // two quotes are one
    cell += '"';
    rest.remove_prefix(1);
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::vector<CsvCell>> csv_cells(std::string_view line, char separator) {
  std::vector<CsvCell> cells;
  for (std::string_view rest = line;;) {
    // A tab may separate, so that only blanks are passed over.
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    CsvCell cell{{}, 1 + static_cast<std::int64_t>(line.size() - rest.size())};
    const bool quoted = rest.starts_with('"');
    if (quoted && !take_quoted(rest, cell.text)) return std::nullopt;
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view plain = trimmed(rest.substr(0, end));
    if (quoted && !plain.empty()) return std::nullopt;
    if (!quoted) cell.text = plain;
    cells.push_back(std::move(cell));
    if (end == rest.size()) return cells;
    rest.remove_prefix(end + 1);
  }
}

namespace {

/// Signs of a line outside of quotes that may separate its cells.
struct Separators {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool decimal = true;  ///< whether all commas stand between digits
};

Separators separators_of(std::string_view line) {
  Separators found;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (quoted) continue;
    found.semicolons += line[i] == ';';
    found.tabs += line[i] == '\t';
    if (line[i] != ',') continue;
    ++found.commas;
    found.decimal &= between_digits(line, i);
  }
  return found;
}

}  // namespace

char csv_separator(std::string_view line, std::string_view next, char otherwise) {
  const Separators first = separators_of(line), second = separators_of(next);
  // Names and numbers may have commas, too: "yield, in %;heat, in K" before "0,25;300,5".
  if (second.decimal) {
    if (first.semicolons > 0 && first.semicolons == second.semicolons) return ';';
    if (first.tabs > 0 && first.tabs == second.tabs) return '\t';
  }
  const std::size_t others = std::max(first.semicolons, first.tabs);
  if (first.commas > 0 && (others == 0 || (!first.decimal && first.commas >= others))) return ',';
  if (first.semicolons > 0) return ';';
  return first.tabs > 0 ? '\t' : otherwise;
}

std::string with_decimal_point(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || !between_digits(text, comma)) return {};
  std::string number(text);
  number[comma] = '.';
  double value = 0;
  return why_no_real(number, value) == nullptr ? number : std::string{};
}

bool stands_for_nothing(std::string_view cell) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"};
  return std::ranges::find(words, cell) != std::end(words);
}

}  // namespace kiln::problems::detail
