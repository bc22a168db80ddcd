// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of configurations: what the columns of a table are.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/csv.hpp"
#include "kiln/problems/table.hpp"

#include "ascending_rows.hpp"
#include "readers/csv.hpp"
#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems {
namespace {

using detail::printable;
using detail::TextIssues;
using Row = CsvTable::Row;

constexpr std::string_view table_form =
    "a first line with the names of the columns, then one line for each configuration";

// A table with rows, whose columns all have names of their own.
CsvTable sheet_of(std::istream& in, const std::string& file_name) {
  CsvTable sheet = read_csv(in, file_name);
  TextIssues issues(file_name);
  if (sheet.header.cells.empty()) issues.fail(0, 0, "the table is empty", table_form);
  if (sheet.rows.empty()) issues.fail(0, 0, "the table has no rows", table_form);
  for (const std::string& name : sheet.header.cells) {
    if (name.empty()) issues.complain(sheet.header.line, 0, "a column has no name", table_form);
  }
  issues.finish();
  require_distinct_names(sheet);
  return sheet;
}

bool is_number(const std::string& cell, double& value) {
  return detail::why_no_real(cell, value) == nullptr;
}

// What a user types: `--ignore '"a, b"'`.
std::string option_for(const std::string& option, const std::string& column) {
  const bool list = option != "objective";
  return "--" + option + " " + shell_word(list ? csv_cell(column) : column);
}

std::size_t column_named(const std::string& name, const std::vector<std::string>& names,
                         const std::string& option, const std::string& file) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + csv_cell(printable(one));
  const std::string near = nearest_name(name, names);
  if (name.empty()) {
    throw InvalidArgument("table.objective", "no objective column is given for " + printable(file),
                          "available: " + all, option_for(option, names.back()));
  }
  throw InvalidArgument("table.column",
                        printable(file) + " has no column '" + printable(name) + "' (--" + option +
                            ")" +
                            (near.empty() ? "" : "; the nearest is '" + printable(near) + "'"),
                        "available: " + all, near.empty() ? "" : option_for(option, near));
}

// Numbers, unless a word among them is more than a sign that something is missing.
bool holds_numbers(const CsvTable& sheet, std::size_t column) {
  double value = 0;
  bool some = false;
  for (const Row& row : sheet.rows) {
    const std::string& cell = row.cells[column];
    if (is_number(cell, value)) {
      some = true;
    } else if (!detail::stands_for_nothing(cell)) {
      return false;
    }
  }
  return some;
}

// What makes a column of words of one that mostly has numbers; "" for any other column.
std::string doubt_words(const CsvTable& sheet, std::size_t c) {
  double value = 0;
  std::size_t numbers = 0, words = 0;
  const Row* first = nullptr;
  for (const Row& row : sheet.rows) {
    if (is_number(row.cells[c], value)) {
      ++numbers;
    } else if (!detail::stands_for_nothing(row.cells[c])) {
      if (words++ == 0) first = &row;
    }
  }
  if (first == nullptr || numbers < words) return {};
  constexpr std::string_view minus = "\u2212";
  const std::string& cell = first->cells[c];
  const std::string name = printable(sheet.header.cells[c]);
  const bool other_sign =
      cell.starts_with(minus) && is_number("-" + cell.substr(minus.size()), value);
  return "column '" + name + "' has numbers and words: in line " + std::to_string(first->line) +
         " " +
         (other_sign ? "the minus sign before " + printable(cell.substr(minus.size())) +
                           " is U+2212; write -"
                     : "'" + printable(cell) + "' is not a number; correct the line") +
         ", or treat the column as words: " + option_for("categorical", sheet.header.cells[c]);
}

void complain_of_gap(TextIssues& issues, const Row& row, const std::string& column) {
  issues.complain(row.line, 0, "the value of column '" + printable(column) + "' is missing",
                  "a value in every row; remove incomplete rows");
}

std::vector<double> numbers_of(TextIssues& issues, const CsvTable& sheet, std::size_t column) {
  const std::string& name = sheet.header.cells[column];
  std::vector<double> values;
  for (const Row& row : sheet.rows) {
    const std::string& cell = row.cells[column];
    double value = 0;
    if (detail::stands_for_nothing(cell)) {
      complain_of_gap(issues, row, name);
    } else if (!is_number(cell, value)) {
      issues.complain(
          row.line, 0,
          "'" + printable(cell) + "' of column '" + printable(name) + "' is not a number",
          "a number in every row");
    }
    values.push_back(value + 0.0);  // never -0
  }
  return values;
}

// The column and the level of each row.
std::vector<std::int32_t> levels_of_numbers(TextIssues& issues, const CsvTable& sheet,
                                            std::size_t c, ConfigurationTable::Column& column) {
  const std::vector<double> all = numbers_of(issues, sheet, c);
  column.values = all;
  std::ranges::sort(column.values);
  // std::ranges::unique() of GCC's library is not understood by Clang 14.
  column.values.erase(std::unique(column.values.begin(), column.values.end()), column.values.end());
  column.values.shrink_to_fit();
  for (const double value : column.values) column.labels.push_back(kiln::detail::show_real(value));
  std::vector<std::int32_t> levels;
  for (const double value : all) {
    const auto at = std::ranges::lower_bound(column.values, value);
    levels.push_back(static_cast<std::int32_t>(at - column.values.begin()));
  }
  return levels;
}

std::vector<std::int32_t> levels_of_words(TextIssues& issues, const CsvTable& sheet, std::size_t c,
                                          ConfigurationTable::Column& column) {
  std::vector<std::int32_t> levels;
  std::map<std::string, std::int32_t> known;
  for (const Row& row : sheet.rows) {
    const std::string& cell = row.cells[c];
    if (cell.empty()) complain_of_gap(issues, row, column.name);
    const auto next = static_cast<std::int32_t>(column.labels.size());
    const auto [place, fresh] = known.emplace(cell, next);
    if (fresh) column.labels.push_back(cell);
    levels.push_back(place->second);
  }
  return levels;
}

// Columns of numbers whose names are numbers, too: the first line is hardly one of names.
void doubt_names(const CsvTable& sheet, const std::string& file, ConfigurationTable& table) {
  const std::vector<std::string>& names = sheet.header.cells;
  double value = 0;
  std::string doubtful;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!holds_numbers(sheet, c)) continue;
    if (!is_number(names[c], value)) return;
    doubtful += (doubtful.empty() ? "" : ", ") + printable(names[c]);
  }
  if (doubtful.empty()) return;
  table.notes.push_back("Kiln reads the first line of " + printable(file) +
                        " as names of columns, but these names are numbers: " + doubtful +
                        "; if the first line is data, insert a line of names");
}

// Rows of one configuration become one, in the order of first rows.
void merge_rows(ConfigurationTable& table, const std::vector<std::vector<std::int32_t>>& by_input,
                const std::vector<double>& targets) {
  const std::size_t rows = targets.size();
  std::vector<std::size_t> levels;
  for (const auto& input : table.inputs) levels.push_back(input.labels.size());
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(by_input, [&](const auto& input) { return input[a] == input[b]; });
  };
  // The first row of each row's configuration, then the number of the configuration.
  std::vector<std::size_t> of_row(rows);
  std::size_t last = rows;
  for (const std::size_t row : detail::ascending_rows(
           rows, levels, [&](std::size_t r, std::size_t input) { return by_input[input][r]; })) {
    of_row[row] = last < rows && same(last, row) ? of_row[last] : row;
    last = row;
  }
  std::vector<double> counts;
  for (std::size_t r = 0; r < rows; ++r) {
    const bool fresh = of_row[r] == r;
    of_row[r] = fresh ? table.values.size() : of_row[of_row[r]];
    if (fresh) {
      for (const auto& input : by_input) table.levels.push_back(input[r]);
      table.values.push_back(0);
      counts.push_back(0);
    }
    // A mean that is exact where all rows agree.
    const double count = ++counts[of_row[r]];
    double& mean = table.values[of_row[r]];
    mean += (targets[r] - mean) / count;
  }
}

}  // namespace

ConfigurationTable read_table(std::istream& in, const std::string& file_name,
                              const TableOptions& options) {
  CsvTable sheet = sheet_of(in, file_name);
  TextIssues issues(file_name);
  const std::vector<std::string>& names = sheet.header.cells;
  const std::size_t target = column_named(options.target, names, "objective", file_name);
  std::set<std::size_t> left_out{target}, categorical;
  for (const std::string& name : options.ignore) {
    left_out.insert(column_named(name, names, "ignore", file_name));
  }
  for (const std::string& name : options.categorical) {
    categorical.insert(column_named(name, names, "categorical", file_name));
  }
  ConfigurationTable table;
  std::set<std::size_t> numbers{target};
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!left_out.contains(c)) numbers.insert(c);
  }
  for (const std::size_t c : categorical) numbers.erase(c);
  if (std::string note = take_decimal_commas(sheet, numbers, "--categorical"); !note.empty()) {
    table.notes.push_back(std::move(note));
  }
  doubt_names(sheet, file_name, table);
  table.sense = options.sense;
  table.rows = static_cast<std::int64_t>(sheet.rows.size());
  std::vector<std::vector<std::int32_t>> by_input;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (left_out.contains(c)) continue;
    ConfigurationTable::Column column{names[c], false, {}, {}};
    column.categorical = categorical.contains(c) || !holds_numbers(sheet, c);
    if (column.categorical && !categorical.contains(c)) {
      if (std::string note = doubt_words(sheet, c); !note.empty()) table.notes.push_back(note);
    }
    std::vector<std::int32_t> levels = column.categorical
                                           ? levels_of_words(issues, sheet, c, column)
                                           : levels_of_numbers(issues, sheet, c, column);
    if (column.labels.size() < 2) continue;  // it decides nothing
    table.inputs.push_back(std::move(column));
    by_input.push_back(std::move(levels));
  }
  const std::vector<double> targets = numbers_of(issues, sheet, target);
  issues.finish();
  if (table.inputs.empty()) {
    issues.fail(0, 0, "no column other than the objective has two different values",
                "at least one input whose value differs between rows");
  }
  merge_rows(table, by_input, targets);
  return table;
}

}  // namespace kiln::problems
