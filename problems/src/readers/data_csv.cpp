// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "kiln/problems/model_data.hpp"

#include "csv.hpp"
#include "data_text.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::CsvCell;
using detail::DataText;
using detail::printable;
using detail::trimmed;

constexpr std::string_view table_form =
    "lines of numbers separated by commas; the first line may have the names of the columns";

struct Line {
  std::string_view text;
  std::int64_t number = 0;
};

/// The lines that are neither blank nor comments.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    ++number;
    const std::string_view inner = trimmed(line);
    if (!inner.empty() && inner.front() != '#') lines.push_back({line, number});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<CsvCell> cells_of(DataText& text, const Line& line, char separator) {
  if (separator != ' ') {
    auto cells = detail::csv_cells(line.text, separator);
    if (!cells) {
      text.fail(
          line.number, 0, "a quoted cell is not closed correctly",
          "a double quote at both ends of the cell, and two double quotes for each one inside");
    }
    for (CsvCell& cell : *cells) cell.text = std::string(trimmed(cell.text));
    return std::move(*cells);
  }
  std::vector<CsvCell> cells;
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t at = line.text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.text.find_first_of(blanks, at), line.text.size());
    std::string_view word = line.text.substr(at, end - at);
    const bool quoted = word.size() > 1 && word.front() == '"' && word.back() == '"';
    if (quoted) word = trimmed(word.substr(1, word.size() - 2));
    cells.push_back({std::string(word), static_cast<std::int64_t>(at + 1)});
    at = line.text.find_first_not_of(blanks, end);
  }
  return cells;
}

bool is_missing(std::string_view text) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "NULL", "null", "?", ".", "None"};
  return std::ranges::find(words, text) != std::end(words);
}

bool is_number(std::string_view text) {
  double value = 0;
  const char* const why = detail::why_no_real(text, value);
  if (why == nullptr || std::string_view(why) != " is not a number") return true;
  return !detail::with_decimal_point(text).empty();  // refused as a value, but no name
}

/// The names of the columns; those of a first line that is a header, else x[1], x[2], ...
std::vector<std::string> names_of(DataText& text, const Line& line,
                                  const std::vector<CsvCell>& cells, bool header) {
  std::vector<std::string> names;
  std::set<std::string_view> taken;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string name = "x[" + std::to_string(i + 1) + "]";
    if (header && cells[i].text.empty()) {
      text.complain(line.number, cells[i].column,
                    "column " + std::to_string(i + 1) + " has no name", table_form);
    } else if (header) {
      name = cells[i].text;
      if (!taken.insert(cells[i].text).second) {
        text.complain(line.number, cells[i].column,
                      "the column '" + printable(name) + "' appears twice", "unique names");
      }
    }
    names.push_back(std::move(name));
  }
  return names;
}

void take_row(DataText& text, const Line& line, const std::vector<CsvCell>& cells,
              std::vector<DataArray>& columns) {
  if (cells.size() != columns.size()) {
    text.complain(line.number, 0,
                  "the line should have " + std::to_string(columns.size()) + " values and has " +
                      std::to_string(cells.size()),
                  table_form);
    return;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double value = 0;
    const std::string point = detail::with_decimal_point(cells[i].text);
    const std::string of_column = " of column '" + printable(columns[i].name) + "'";
    if (is_missing(cells[i].text)) {
      text.complain(line.number, cells[i].column, "the value" + of_column + " is missing",
                    "a number; remove incomplete rows");
    } else if (const char* const why = detail::why_no_real(cells[i].text, value)) {
      text.complain(line.number, cells[i].column,
                    "the value '" + printable(cells[i].text) + "'" + of_column + why,
                    point.empty() ? "a finite number" : "a decimal point: " + point);
    }
    columns[i].values.push_back(value);
  }
}

}  // namespace

ModelData detail::parse_csv(DataText& text) {
  const std::vector<Line> lines = lines_of(text.text());
  if (lines.empty()) text.fail(0, 0, "there are no data; the file is empty", table_form);
  if (lines.size() == 1) {
    const auto issue = detail::lone_returns(trimmed(lines.front().text));
    if (issue) text.fail(lines.front().number, issue->column, issue->message, issue->expected);
  }
  const std::string_view next = lines.size() > 1 ? trimmed(lines[1].text) : std::string_view();
  const char separator = detail::csv_separator(trimmed(lines.front().text), next, ' ');
  const std::vector<CsvCell> first = cells_of(text, lines.front(), separator);
  // A value that is missing in the first row does not make it a header.
  const bool header = std::ranges::any_of(
      first, [](const CsvCell& cell) { return !is_missing(cell.text) && !is_number(cell.text); });
  std::vector<DataArray> columns;
  for (std::string& name : names_of(text, lines.front(), first, header)) {
    columns.push_back({std::move(name), {}, {}, lines.front().number});
  }
  if (header && lines.size() == 1) {
    text.fail(lines.front().number, 0, "the file has names of columns, but no rows", table_form);
  }
  for (std::size_t i = header ? 1 : 0; i < lines.size(); ++i) {
    take_row(text, lines[i], cells_of(text, lines[i], separator), columns);
  }
  text.finish();
  ModelData data(text.file_name());
  for (DataArray& column : columns) {
    column.shape = {static_cast<std::int64_t>(column.values.size())};
    data.add(std::move(column));
  }
  return data;
}

}  // namespace kiln::problems
