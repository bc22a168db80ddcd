// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/numeric_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/unpacked.hpp"

#include "readers/text_reader.hpp"
#include "tables/columns.hpp"
#include "tables/delimiter.hpp"
#include "tables/fields.hpp"

namespace kiln::problems {
namespace detail {
namespace {

constexpr std::size_t sample_bytes = std::size_t{1} << 20;
constexpr std::size_t max_columns = 100'000;
constexpr std::size_t max_name_bytes = 1024;

void check(const NumericTableOptions& options) {
  const auto refuse = [](const std::string& message, const std::string& expected) {
    throw InvalidArgument("table.options", message, expected);
  };
  if (options.rows < 1) {
    refuse("--rows " + std::to_string(options.rows) + " keeps no row", "1 or more rows");
  }
  if (options.every < 1) {
    refuse("--every " + std::to_string(options.every) + " is not positive",
           "1 for all rows, N for one row in N");
  }
  if (options.skip < 0) {
    refuse("--skip " + std::to_string(options.skip) + " is negative",
           "the number of rows to leave out at the beginning");
  }
  const auto byte = static_cast<unsigned char>(options.delimiter);
  constexpr std::string_view reserved = "\"#+-.\r\n_";
  const bool letter_or_digit =
      (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
  if (byte >= 0x7f || letter_or_digit || (byte != 0 && byte < 0x20 && byte != '\t') ||
      reserved.find(options.delimiter) != std::string_view::npos) {
    refuse("the delimiter '" + printable(std::string(1, options.delimiter)) +
               "' may be part of a number or a name",
           "a comma, a semicolon, a tab, a blank for white space, or another sign such as |");
  }
}

// Reads a table in one pass.
class TableParser {
 public:
  TableParser(std::istream& in, const std::string& file_name, const NumericTableOptions& options,
              TableLimits limits)
      : options_(options), issues_(file_name), reader_(in, issues_, limits) {}

  NumericTable read();

 private:
  bool next_row();
  std::vector<std::string> fields_of_first_row(bool& has_text);
  void check_names(const std::vector<std::string>& names);
  void take_rows(ColumnCollector& columns, bool more);
  void note_rows(const ColumnCollector& columns);
  void note_numbers_as_names();
  Fix fix(const ColumnCollector& columns) const;

  const NumericTableOptions& options_;
  TextIssues issues_;
  RowReader reader_;
  char delimiter_ = ',';
  std::int64_t empty_lines_ = 0;     // between rows
  std::int64_t trailing_lines_ = 0;  // empty ones since the last row
  NumericTable table_;
};

// Goes to the next row of data or of names; false at the end.
bool TableParser::next_row() {
  while (reader_.next(delimiter_)) {
    const RowKind kind = kind_of_row(reader_.row(), delimiter_);
    if (kind == RowKind::data) return true;
    trailing_lines_ += kind == RowKind::blank;
  }
  return false;
}

std::vector<std::string> TableParser::fields_of_first_row(bool& has_text) {
  std::vector<std::string> fields;
  double value = 0;
  for (FieldCursor cursor(reader_.row(), delimiter_); cursor.next();) {
    const TableField& field = cursor.field();
    if (!field.well_quoted) {
      reader_.fail(field.offset, "the closing quote of the field is not at its end",
                   "two double quotes for each one inside a quoted field");
    }
    if (fields.size() == max_columns) {
      reader_.fail(field.offset,
                   "the table has more than " + std::to_string(max_columns) + " columns",
                   "at most " + std::to_string(max_columns) + " columns");
    }
    has_text = has_text || read_field(field.text, delimiter_ != ',', value) == FieldKind::text;
    fields.push_back(in_one_line(std::string(field.text)));
  }
  return fields;
}

void TableParser::check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() <= max_name_bytes) continue;
    reader_.fail(0,
                 "the name of column '" + printable(name) + "' has " + std::to_string(name.size()) +
                     " bytes",
                 "names of at most " + std::to_string(max_name_bytes) + " bytes");
  }
}

void TableParser::take_rows(ColumnCollector& columns, bool more) {
  for (; more; more = next_row()) {
    const std::int64_t row = table_.rows_in_file++ - options_.skip;
    empty_lines_ += row + options_.skip > 0 ? trailing_lines_ : 0;
    trailing_lines_ = 0;
    if (row >= 0 && row % options_.every == 0 && columns.rows() < options_.rows) {
      columns.take(reader_);
    }
  }
}

void TableParser::note_rows(const ColumnCollector& columns) {
  if (empty_lines_ > 0) {
    table_.notes.push_back(
        std::to_string(empty_lines_) +
        (empty_lines_ == 1 ? " empty line between rows is" : " empty lines between rows are") +
        " left out; NA stands for a missing value");
  }
  const std::int64_t selected =
      (table_.rows_in_file - options_.skip + options_.every - 1) / options_.every;
  if (columns.rows() < selected) {
    table_.notes.push_back("the first " + std::to_string(columns.rows()) + " of " +
                           std::to_string(selected) + " rows are read; --rows " +
                           std::to_string(selected) + " reads all");
  }
}

void TableParser::note_numbers_as_names() {
  double value = 0;
  const auto is_number = [&](const std::string& name) {
    return read_field(name, delimiter_ != ',', value) == FieldKind::number;
  };
  if (!std::ranges::all_of(table_.names, is_number)) return;
  table_.notes.push_back("the names of the columns are numbers, as '" + table_.names.front() +
                         "': the first row may be data without a header");
}

Fix TableParser::fix(const ColumnCollector& columns) const {
  if (columns.bad_column().empty()) return {};
  return "correct the lines, write NA for values to leave out, or give --columns without '" +
         printable(columns.bad_column()) + "'";
}

NumericTable TableParser::read() {
  delimiter_ = options_.delimiter;
  if (delimiter_ == '\0') {
    const std::string_view sample = reader_.peek(sample_bytes);
    delimiter_ = find_delimiter(sample, sample.size() < sample_bytes);
    if (delimiter_ != ',') {
      table_.notes.push_back("columns are separated by " + name_of_delimiter(delimiter_));
    }
  }
  if (!next_row()) issues_.fail(0, 0, "the table has no rows", "rows of numbers");
  bool has_text = false;
  std::vector<std::string> names = fields_of_first_row(has_text);
  const bool header = options_.header.value_or(has_text);
  if (header) {
    check_names(names);
  } else {
    std::ranges::fill(names, std::string());
  }
  std::vector<std::string> unnoted;
  names = names_of_columns(std::move(names), header ? table_.notes : unnoted);

  const bool all = options_.columns.empty();
  std::vector<std::size_t> kept(all ? names.size() : 0);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (!all) kept = find_columns(options_.columns, names, issues_.file_name(), "columns");
  ColumnCollector columns(std::move(names), kept, !all, delimiter_);
  take_rows(columns, !header || next_row());

  issues_.finish(fix(columns));
  if (table_.rows_in_file == 0) {
    issues_.fail(0, 0, "the table has a header and no rows", "rows of numbers");
  }
  if (columns.rows() == 0) {
    throw InvalidArgument("table.options",
                          "--skip " + std::to_string(options_.skip) + " leaves out all " +
                              std::to_string(table_.rows_in_file) + " rows",
                          "a number below " + std::to_string(table_.rows_in_file));
  }
  if (columns.finish(table_) == 0) {
    issues_.fail(0, 0, "no column of the table has numbers", "at least one column of numbers");
  }
  if (header && !options_.header) note_numbers_as_names();
  note_rows(columns);
  return std::move(table_);
}

}  // namespace

NumericTable read_table_of_numbers(std::istream& in, const std::string& file_name,
                                   const NumericTableOptions& options, TableLimits limits) {
  check(options);
  return TableParser(in, file_name, options, limits).read();
}

}  // namespace detail

NumericTable read_numeric_table(std::istream& in, const std::string& file_name,
                                const NumericTableOptions& options) {
  return detail::read_table_of_numbers(in, file_name, options, {});
}

NumericTable read_numeric_table(const std::string& path, const NumericTableOptions& options) {
  if (path == "-") {
    UnpackedStream unpacked(std::cin, "standard input");
    return read_numeric_table(unpacked, "standard input", options);
  }
  std::error_code ignored;  // folders open like files, and only reading fails
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoError("io.open", detail::in_one_line(path) + " is a folder, not a table", {},
                  "give the path of a file in this folder");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw IoError("io.open", "cannot open the table " + detail::in_one_line(path) + ": " + reason,
                  {}, "check the path, relative to the current folder");
  }
  UnpackedStream unpacked(in, path);
  return read_numeric_table(unpacked, path, options);
}

}  // namespace kiln::problems
