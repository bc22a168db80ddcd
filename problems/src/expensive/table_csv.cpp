// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of tables of configurations: cells first, then what the columns are.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/table.hpp"

#include "readers/csv.hpp"
#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::DataText;
using detail::printable;
using detail::trimmed;

constexpr std::string_view table_form =
    "a first line with the names of the columns, then a line for each configuration";

struct Row {
  std::int64_t line = 0;
  std::vector<std::string> cells;
};

struct Sheet {
  std::vector<Row> rows;  ///< the first has the names
  char separator = ',';
};

Row row_of(DataText& text, std::string_view line, std::int64_t number, char separator) {
  const auto cells = detail::csv_cells(trimmed(line), separator);
  if (!cells) {
    text.fail(number, 0, "a cell in quotes does not end as it should",
              "a double quote at both ends, and two for one within");
  }
  Row row{number, {}};
  for (const detail::CsvCell& cell : *cells) row.cells.push_back(cell.text);
  return row;
}

// Header and rows; lines that are blank or begin with # are passed over.
Sheet sheet_of(DataText& text) {
  Sheet sheet;
  std::vector<Row>& rows = sheet.rows;
  std::string_view rest = text.text();
  if (rest.starts_with(detail::utf8_mark)) rest.remove_prefix(detail::utf8_mark.size());
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view inner = trimmed(line);
    if (inner.empty() || inner.front() == '#') continue;
    if (rows.empty()) sheet.separator = detail::csv_separator(inner, ',');
    Row row = row_of(text, line, number, sheet.separator);
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
  return sheet;
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

// Digits with commas among them: meant as a number, most likely.
bool has_commas(const std::string& cell) {
  return cell.find(',') != std::string::npos && cell.find_first_of("0123456789") < 2 &&
         cell.find_first_not_of("0123456789+-.,eE ") == std::string::npos;
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
  std::optional<Place> comma, point, stray;  // the first of each
};

bool could_be_number(const std::string& cell) {
  double value = 0;
  return is_number(cell, value) || stands_for_nothing(cell) || has_commas(cell);
}

Decimals decimals_of(const std::vector<Row>& rows, const std::set<std::size_t>& words) {
  Decimals found;
  for (std::size_t c = 0; c < rows.front().cells.size(); ++c) {
    const auto fits = [&](const Row& row) { return could_be_number(row.cells[c]); };
    if (words.contains(c) || !std::all_of(rows.begin() + 1, rows.end(), fits)) continue;
    for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
      const std::string& cell = row->cells[c];
      const bool comma = has_commas(cell);
      const bool decimal = comma && !detail::with_decimal_point(cell).empty();
      if (!comma && cell.find('.') == std::string::npos) continue;
      std::optional<Place>& first = decimal ? found.comma : comma ? found.stray : found.point;
      if (!first) first = Place{&*row, c};
      if (decimal && (found.columns.empty() || found.columns.back() != c)) {
        found.columns.push_back(c);
      }
    }
  }
  return found;
}

// "'0,25' of column 'temp'"
std::string quoted(const Place& place, const std::vector<Row>& rows) {
  return "'" + printable(place.cell()) + "' of column '" +
         printable(rows.front().cells[place.column]) + "'";
}

// Numbers with decimal commas get points, where that is what they must be; any doubt is refused.
void take_decimal_commas(DataText& text, Sheet& sheet, const std::set<std::size_t>& words,
                         ConfigurationTable& table) {
  std::vector<Row>& rows = sheet.rows;
  const Decimals found = decimals_of(rows, words);
  const auto refuse = [&](const Place& place, const std::string& why, const std::string& expected) {
    text.fail(place.row->line, 0, quoted(place, rows) + why,
              expected + "; --categorical " + printable(rows.front().cells[place.column]) +
                  " takes it for a word");
  };
  if (found.stray) refuse(*found.stray, " is no number", "a number without signs for thousands");
  if (!found.comma) return;
  const std::string point = detail::with_decimal_point(found.comma->cell());
  if (sheet.separator == ',') {
    refuse(*found.comma, " has a comma", point + ", or semicolons between the columns");
  }
  if (found.point) {
    refuse(*found.comma, " has a comma, and " + quoted(*found.point, rows) + " a point",
           "one decimal sign in the whole table: " + point);
  }
  table.notes.push_back("numbers of " + printable(text.file_name()) + " have decimal commas: " +
                        printable(found.comma->cell()) + " is read as " + point);
  for (const std::size_t c : found.columns) {
    for (std::size_t r = 1; r < rows.size(); ++r) {
      std::string with_point = detail::with_decimal_point(rows[r].cells[c]);
      if (!with_point.empty()) rows[r].cells[c] = std::move(with_point);
    }
  }
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
  Sheet sheet = sheet_of(text);
  const std::vector<Row>& rows = sheet.rows;
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
  std::set<std::size_t> words = categorical;
  for (const std::size_t c : left_out) {
    if (c != target) words.insert(c);
  }
  take_decimal_commas(text, sheet, words, table);
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
