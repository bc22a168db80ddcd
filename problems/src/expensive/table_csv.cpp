// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of tables of configurations: cells first, then what the columns are.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/table.hpp"

#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::DataText;
using detail::printable;

constexpr std::string_view table_form =
    "a first line with the names of the columns, then a line for each configuration";

struct Row {
  std::int64_t line = 0;
  std::vector<std::string> cells;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// One cell from the front of `rest`, with the separator behind it; false: a quote has no end.
bool take_cell(std::string_view& rest, char separator, std::string& cell) {
  const std::size_t first = rest.find_first_not_of(' ');
  if (first == std::string_view::npos || rest[first] != '"') {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    cell = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return true;
  }
  rest.remove_prefix(first + 1);
  for (cell.clear();;) {
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) return false;
    cell += rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!rest.starts_with('"')) break;  // two quotes are one
    cell += '"';
    rest.remove_prefix(1);
  }
  const std::size_t end = std::min(rest.find(separator), rest.size());
  if (!trimmed(rest.substr(0, end)).empty()) return false;
  rest.remove_prefix(end);
  return true;
}

Row row_of(DataText& text, std::string_view line, std::int64_t number, char separator) {
  Row row{number, {}};
  std::string_view rest = trimmed(line);
  for (;;) {
    std::string cell;
    if (!take_cell(rest, separator, cell)) {
      text.fail(number, 0, "a cell in quotes does not end as it should",
                "a double quote at both ends, and two for one within");
    }
    row.cells.push_back(std::move(cell));
    if (rest.empty()) return row;
    rest.remove_prefix(1);
  }
}

char separator_of(std::string_view line) {
  for (const char c : {',', ';', '\t'}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

// Header and rows; lines that are blank or begin with # are passed over.
std::vector<Row> rows_of(DataText& text) {
  std::vector<Row> rows;
  std::string_view rest = text.text();
  if (rest.starts_with(detail::utf8_mark)) rest.remove_prefix(detail::utf8_mark.size());
  char separator = ',';
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view inner = trimmed(line);
    if (inner.empty() || inner.front() == '#') continue;
    if (rows.empty()) separator = separator_of(inner);
    Row row = row_of(text, line, number, separator);
    if (!rows.empty() && row.cells.size() != rows.front().cells.size()) {
      text.complain(number, 0,
                    "the line should have " + std::to_string(rows.front().cells.size()) +
                        " values and has " + std::to_string(row.cells.size()),
                    table_form);
      continue;
    }
    rows.push_back(std::move(row));
  }
  text.finish();
  if (rows.empty()) text.fail(0, 0, "there is nothing in the table", table_form);
  if (rows.size() == 1) text.fail(0, 0, "the table has no rows", table_form);
  return rows;
}

bool is_number(const std::string& cell, double& value) {
  return detail::why_no_real(cell, value) == nullptr;
}

bool stands_for_nothing(const std::string& cell) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"};
  return std::ranges::find(words, cell) != std::end(words);
}

std::size_t column_named(const std::string& name, const std::vector<std::string>& names,
                         const std::string& option, const std::string& file) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + printable(one);
  const std::string near = nearest_name(name, names);
  if (name.empty()) {
    throw InvalidArgument("table.objective",
                          "which column of " + printable(file) + " is the objective?",
                          "there are: " + all, "--" + option + " " + printable(names.back()));
  }
  throw InvalidArgument("table.column",
                        "--" + option + " " + printable(name) + ": " + printable(file) +
                            " has no such column" +
                            (near.empty() ? "" : "; the nearest is '" + printable(near) + "'"),
                        "there are: " + all);
}

// Numbers, unless a word among them is more than a sign that something is missing.
bool holds_numbers(const std::vector<Row>& rows, std::size_t column) {
  double value = 0;
  bool some = false;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::string& cell = rows[r].cells[column];
    if (is_number(cell, value)) {
      some = true;
    } else if (!stands_for_nothing(cell)) {
      return false;
    }
  }
  return some;
}

void complain_of_gap(DataText& text, const Row& row, const std::string& column) {
  text.complain(row.line, 0, "the value of column '" + printable(column) + "' is missing",
                "a value in every row; leave out rows that are not complete");
}

std::vector<double> numbers_of(DataText& text, const std::vector<Row>& rows, std::size_t column) {
  const std::string& name = rows.front().cells[column];
  std::vector<double> values;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::string& cell = rows[r].cells[column];
    double value = 0;
    if (stands_for_nothing(cell)) {
      complain_of_gap(text, rows[r], name);
    } else if (!is_number(cell, value)) {
      text.complain(rows[r].line, 0,
                    "'" + printable(cell) + "' of column '" + printable(name) + "' is no number",
                    "a number in every row");
    }
    values.push_back(value + 0.0);  // never -0
  }
  return values;
}

// The column and the level of each row.
std::vector<std::int32_t> levels_of_numbers(DataText& text, const std::vector<Row>& rows,
                                            std::size_t c, ConfigurationTable::Column& column) {
  const std::vector<double> all = numbers_of(text, rows, c);
  const std::set<double> distinct(all.begin(), all.end());
  column.values.assign(distinct.begin(), distinct.end());
  for (const double value : column.values) column.labels.push_back(kiln::detail::show_real(value));
  std::vector<std::int32_t> levels;
  for (const double value : all) {
    const auto at = std::ranges::lower_bound(column.values, value);
    levels.push_back(static_cast<std::int32_t>(at - column.values.begin()));
  }
  return levels;
}

std::vector<std::int32_t> levels_of_words(DataText& text, const std::vector<Row>& rows,
                                          std::size_t c, ConfigurationTable::Column& column) {
  std::vector<std::int32_t> levels;
  std::map<std::string, std::int32_t> known;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::string& cell = rows[r].cells[c];
    if (cell.empty()) complain_of_gap(text, rows[r], column.name);
    const auto next = static_cast<std::int32_t>(column.labels.size());
    const auto [place, fresh] = known.emplace(cell, next);
    if (fresh) column.labels.push_back(cell);
    levels.push_back(place->second);
  }
  return levels;
}

void check_names(DataText& text, const Row& header) {
  std::set<std::string> taken;
  for (const std::string& name : header.cells) {
    if (name.empty()) text.complain(header.line, 0, "a column has no name", table_form);
    if (!name.empty() && !taken.insert(name).second) {
      text.complain(header.line, 0, "the column '" + printable(name) + "' is there twice",
                    "names that differ, in a line before the rows");
    }
  }
  text.finish();
}

// Columns of numbers whose names are numbers, too: the first line is hardly one of names.
void doubt_names(const std::vector<Row>& rows, const std::string& file, ConfigurationTable& table) {
  const std::vector<std::string>& names = rows.front().cells;
  double value = 0;
  std::string doubtful;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!holds_numbers(rows, c)) continue;
    if (!is_number(names[c], value)) return;
    doubtful += (doubtful.empty() ? "" : ", ") + printable(names[c]);
  }
  if (doubtful.empty()) return;
  table.notes.push_back("the first line of " + printable(file) +
                        " has the names of the columns, and they are numbers (" + doubtful +
                        "): if it is a row, put a line of names before it");
}

// Rows of one configuration become one, in the order of first rows.
void merge_rows(ConfigurationTable& table, const std::vector<std::vector<std::int32_t>>& by_input,
                const std::vector<double>& targets) {
  std::map<std::vector<std::int32_t>, std::size_t> known;
  std::vector<double> counts;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    std::vector<std::int32_t> setting;
    for (const auto& levels : by_input) setting.push_back(levels[r]);
    const auto [place, fresh] = known.emplace(setting, table.values.size());
    if (fresh) {
      table.settings.push_back(std::move(setting));
      table.values.push_back(0);
      counts.push_back(0);
    }
    // A mean that is exact where all rows agree.
    const double count = ++counts[place->second];
    double& mean = table.values[place->second];
    mean += (targets[r] - mean) / count;
  }
}

}  // namespace

ConfigurationTable read_table(std::istream& in, const std::string& file_name,
                              const TableOptions& options) {
  DataText text(in, file_name);
  const std::vector<Row> rows = rows_of(text);
  check_names(text, rows.front());
  const std::vector<std::string>& names = rows.front().cells;
  const std::size_t target = column_named(options.target, names, "objective", file_name);
  std::set<std::size_t> left_out{target}, categorical;
  for (const std::string& name : options.ignore) {
    left_out.insert(column_named(name, names, "ignore", file_name));
  }
  for (const std::string& name : options.categorical) {
    categorical.insert(column_named(name, names, "categorical", file_name));
  }
  ConfigurationTable table;
  doubt_names(rows, file_name, table);
  table.sense = options.sense;
  table.rows = static_cast<std::int64_t>(rows.size()) - 1;
  std::vector<std::vector<std::int32_t>> by_input;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (left_out.contains(c)) continue;
    ConfigurationTable::Column column{names[c], false, {}, {}};
    column.categorical = categorical.contains(c) || !holds_numbers(rows, c);
    std::vector<std::int32_t> levels = column.categorical
                                           ? levels_of_words(text, rows, c, column)
                                           : levels_of_numbers(text, rows, c, column);
    if (column.labels.size() < 2) continue;  // it decides nothing
    table.inputs.push_back(std::move(column));
    by_input.push_back(std::move(levels));
  }
  const std::vector<double> targets = numbers_of(text, rows, target);
  text.finish();
  if (table.inputs.empty()) {
    text.fail(rows.front().line, 0, "no column beside the target has two values",
              "at least one input that differs between rows");
  }
  merge_rows(table, by_input, targets);
  return table;
}

}  // namespace kiln::problems
