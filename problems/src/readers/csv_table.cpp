// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of text: cells first, then how their numbers are written.
#include <algorithm>
#include <istream>
#include <utility>

#include "kiln/problems/csv.hpp"

#include "csv.hpp"
#include "data_text.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::DataText;
using detail::printable;
using detail::TextIssues;
using Row = CsvTable::Row;

constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
// Names stand on screens.
constexpr std::size_t max_name_bytes = 1024;
constexpr std::string_view table_form =
    "a first line with the names of the columns, then one line with the same number of cells for "
    "each row";

// The next line of a text, which loses it.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool says_nothing(std::string_view line) {
  const std::string_view inner = detail::trimmed(line);
  return inner.empty() || inner.front() == '#';
}

// The first line of a text that says anything, or "".
std::string_view next_line(std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (!says_nothing(line)) return line;
  }
  return {};
}

Row row_of(TextIssues& issues, std::string_view line, std::int64_t number, char separator) {
  auto cells = detail::csv_cells(line, separator);
  if (!cells) {
    issues.fail(
        number, 0, "a quoted cell is not closed correctly",
        "a double quote at both ends of the cell, and two double quotes for each one inside");
  }
  Row row{number, {}};
  for (detail::CsvCell& cell : *cells) row.cells.push_back(std::move(cell.text));
  return row;
}

std::string words_for(char separator) {
  return separator == ';' ? "semicolons" : separator == '\t' ? "tabs" : "commas";
}

void check_names(TextIssues& issues, const Row& header) {
  for (const std::string& name : header.cells) {
    if (name.size() > max_name_bytes) {
      issues.complain(
          header.line, 0,
          "the name of column '" + printable(name) + "' has " + std::to_string(name.size()) +
              " bytes",
          "names of at most " + std::to_string(max_name_bytes) + " bytes: shorten the name");
    }
    if (!std::ranges::any_of(name, detail::is_control)) continue;
    issues.complain(header.line, 0,
                    "the name of column '" + printable(name) + "' has a control character",
                    "names without control characters such as tabs");
  }
}

bool is_number(const std::string& cell) {
  double value = 0;
  return detail::why_no_real(cell, value) == nullptr;
}

// Digits with commas among them: meant as a number, most likely.
bool has_commas(const std::string& cell) {
  return cell.find(',') != std::string::npos && cell.find_first_of("0123456789") < 2 &&
         cell.find_first_not_of("0123456789+-.,eE ") == std::string::npos;
}

// The digits of a number whose thousands stand apart, "1 000" or "1'000.5"; "" for any other text.
std::string without_groups(const std::string& cell) {
  constexpr std::string_view signs[] = {" ", "'", "\u00a0", "\u2009", "\u202f", "\u2019"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string number, rest = cell;
  const auto take_digits = [&](std::size_t most) {
    std::size_t n = 0;
    while (n < std::min(most, rest.size()) && is_digit(rest[n])) ++n;
    number += rest.substr(0, n);
    rest.erase(0, n);
    return n;
  };
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    number = rest.substr(0, 1);
    rest.erase(0, 1);
  }
  if (take_digits(3) == 0) return {};
  std::size_t groups = 0;
  for (;; ++groups) {
    const auto sign =
        std::ranges::find_if(signs, [&](std::string_view one) { return rest.starts_with(one); });
    if (sign == std::end(signs)) break;
    rest.erase(0, sign->size());
    if (take_digits(4) != 3) return {};
  }
  const bool fraction = !rest.empty() && (rest[0] == '.' || rest[0] == ',');
  if (groups == 0 || (!rest.empty() && !fraction)) return {};
  if (fraction) {
    number += '.';
    rest.erase(0, 1);
    if (take_digits(rest.size()) == 0 || !rest.empty()) return {};
  }
  return number;
}

bool could_be_number(const std::string& cell) {
  return is_number(cell) || detail::stands_for_nothing(cell) || has_commas(cell) ||
         !without_groups(cell).empty();
}

// A cell of a column that has only numbers and cells with commas like them.
struct Place {
  const Row* row = nullptr;
  std::size_t column = 0;
  const std::string& cell() const { return row->cells[column]; }
};

// What decides how the numbers of a table are written.
struct Decimals {
  std::vector<std::size_t> columns;          // that have commas
  std::optional<Place> grouped;              // the first number whose thousands stand apart
  std::optional<Place> comma, point, stray;  // the first of each
};

Decimals decimals_of(const CsvTable& table, const std::set<std::size_t>& numbers) {
  Decimals found;
  for (const std::size_t c : numbers) {
    const auto fits = [c](const Row& row) { return could_be_number(row.cells[c]); };
    if (!std::ranges::all_of(table.rows, fits)) continue;
    for (const Row& row : table.rows) {
      const std::string& cell = row.cells[c];
      if (!found.grouped && !without_groups(cell).empty()) found.grouped = Place{&row, c};
      const bool comma = has_commas(cell);
      const bool decimal = comma && !detail::with_decimal_point(cell).empty();
      if (!comma && cell.find('.') == std::string::npos) continue;
      std::optional<Place>& first = decimal ? found.comma : comma ? found.stray : found.point;
      if (!first) first = Place{&row, c};
      if (decimal && (found.columns.empty() || found.columns.back() != c)) {
        found.columns.push_back(c);
      }
    }
  }
  return found;
}

// "'0,25' of column 'temp'"
std::string quoted(const Place& place, const CsvTable& table) {
  return "'" + printable(place.cell()) + "' of column '" +
         printable(table.header.cells[place.column]) + "'";
}

}  // namespace

std::string csv_text(std::istream& in, const std::string& name) {
  DataText data(in, name, max_line_bytes);
  std::string_view rest = data.text();
  const std::string_view first = take_line(rest);
  if (!rest.empty()) return data.take();
  if (const auto issue = detail::lone_returns(first)) {
    data.fail(issue->line, issue->column, issue->message, issue->expected);
  }
  return data.take();
}

CsvTable read_csv(std::istream& in, const std::string& name) {
  return read_csv(csv_text(in, name), name);
}

CsvTable read_csv(std::string_view rest, const std::string& name, std::vector<std::string> names) {
  TextIssues text(name);
  CsvTable table;
  table.file = text.file_name();
  table.header.cells = std::move(names);
  bool first = true;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (says_nothing(line)) continue;
    if (std::exchange(first, false)) {
      table.separator = detail::csv_separator(line, next_line(rest), ',');
      if (table.header.cells.empty()) {
        table.header = row_of(text, line, number, table.separator);
        check_names(text, table.header);
        continue;
      }
    }
    Row row = row_of(text, line, number, table.separator);
    const std::size_t columns = table.header.cells.size();
    if (row.cells.size() == columns) {
      table.rows.push_back(std::move(row));
    } else {
      text.complain(number, 0,
                    "the line should have " + std::to_string(columns) + " values and has " +
                        std::to_string(row.cells.size()),
                    std::string(table_form) + ", separated by " + words_for(table.separator));
    }
  }
  text.finish();
  return table;
}

std::optional<std::vector<std::string>> csv_names(std::string_view text) {
  if (text.starts_with(detail::utf8_mark)) text.remove_prefix(detail::utf8_mark.size());
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (says_nothing(line)) continue;
    auto cells = detail::csv_cells(line, detail::csv_separator(line, next_line(text), ','));
    if (!cells) return std::nullopt;
    std::vector<std::string> names;
    for (detail::CsvCell& cell : *cells) names.push_back(std::move(cell.text));
    return names;
  }
  return std::nullopt;
}

void require_distinct_names(const CsvTable& table) {
  TextIssues issues(table.file);
  std::set<std::string> taken;
  for (const std::string& name : table.header.cells) {
    if (name.empty() || taken.insert(name).second) continue;
    issues.complain(table.header.line, 0, "the column '" + printable(name) + "' appears twice",
                    "unique column names: rename or remove one column");
  }
  issues.finish();
}

std::string take_decimal_commas(CsvTable& table, const std::set<std::size_t>& numbers,
                                std::string_view word_option) {
  TextIssues issues(table.file);
  const Decimals found = decimals_of(table, numbers);
  const auto refuse = [&](const Place& place, const std::string& why, std::string expected) {
    if (!word_option.empty()) {
      expected += "; " + std::string(word_option) + " " +
                  printable(table.header.cells[place.column]) + " treats the column as words";
    }
    issues.fail(place.row->line, 0, quoted(place, table) + why, expected);
  };
  if (found.grouped) {
    refuse(*found.grouped, " has thousands separators", without_groups(found.grouped->cell()));
  }
  if (found.stray)
    refuse(*found.stray, " is not a number", "a number without thousands separators");
  if (!found.comma) return {};
  const std::string comma = printable(found.comma->cell());
  const std::string point = detail::with_decimal_point(found.comma->cell());
  if (table.separator == ',') {
    refuse(*found.comma, " has a comma", point + ", or semicolons between the columns");
  }
  if (found.point) {
    refuse(*found.comma,
           " has a decimal comma, but " + quoted(*found.point, table) + " has a decimal point",
           "one decimal separator in the whole table: " + point);
  }
  for (const std::size_t c : found.columns) {
    for (Row& row : table.rows) {
      std::string with_point = detail::with_decimal_point(row.cells[c]);
      if (!with_point.empty()) row.cells[c] = std::move(with_point);
    }
  }
  return "numbers of " + printable(table.file) + " have decimal commas: Kiln reads " + comma +
         " as " + point;
}

std::string csv_cell(std::string_view text) {
  const bool bare = text.find_first_of(",;\t\"\n\r#") == std::string_view::npos &&
                    !text.starts_with(' ') && !text.ends_with(' ') &&
                    !text.starts_with(detail::utf8_mark);
  if (bare) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

}  // namespace kiln::problems
