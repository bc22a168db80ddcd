// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/named_matrix.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/unpacked.hpp"

#include "readers/text_reader.hpp"
#include "tables/columns.hpp"
#include "tables/delimiter.hpp"
#include "tables/fields.hpp"
#include "tables/records.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::size_t matrix_sample_bytes = std::size_t{1} << 20;
constexpr std::size_t max_matrix_columns = 100'000;

struct MatrixField {
  std::string text;
  std::size_t offset = 0;
  FieldKind kind = FieldKind::text;
  double value = 0;
};

// A text and its place in the file.
struct PlacedName {
  std::string text;
  std::int64_t line = 0, column = 0;
};

// Reads a matrix in one pass.
class MatrixParser {
 public:
  MatrixParser(std::istream& in, const std::string& file_name, const NamedMatrixOptions& options)
      : options_(options), issues_(file_name), reader_(in, issues_, {}) {}

  NamedMatrix read();

 private:
  bool next_row();
  void read_fields();
  bool is_header() const;
  void take_header();
  void take_row();
  void take_row_name();
  void take_cell(const MatrixField& field, std::size_t column);
  std::string place_of(std::size_t column) const;
  void require_unique(const PlacedName& name, const char* what,
                      std::unordered_set<std::string>& known);
  PlacedName name_of(const MatrixField& field) const;

  const NamedMatrixOptions& options_;
  TextIssues issues_;
  RowReader reader_;
  char delimiter_ = ',';
  std::vector<MatrixField> fields_;  // of the current row; the first size_ count
  std::size_t size_ = 0, width_ = 0;
  bool has_header_ = false, has_row_names_ = false;
  std::vector<PlacedName> header_;
  std::vector<bool> ignored_;  // [column of the file]
  std::unordered_set<std::string> row_names_;
  NamedMatrix matrix_;
};

bool MatrixParser::next_row() {
  while (reader_.next(delimiter_)) {
    if (kind_of_row(reader_.row(), delimiter_) == RowKind::data) return true;
  }
  return false;
}

// Fields keep their memory from row to row.
void MatrixParser::read_fields() {
  size_ = 0;
  for (FieldCursor cursor(reader_.row(), delimiter_); cursor.next(); ++size_) {
    const TableField& field = cursor.field();
    if (!field.well_quoted) {
      reader_.fail(field.offset, "the closing quote of the field is not at its end",
                   "two double quotes for each one inside a quoted field");
    }
    if (size_ == max_matrix_columns) {
      reader_.fail(field.offset,
                   "the table has more than " + std::to_string(max_matrix_columns) + " columns",
                   "at most " + std::to_string(max_matrix_columns) + " columns");
    }
    if (size_ == fields_.size()) fields_.emplace_back();
    MatrixField& own = fields_[size_];
    own.text.assign(field.text);
    own.offset = field.offset;
    own.kind = read_field(field.text, delimiter_ != ',', own.value);
  }
}

bool MatrixParser::is_header() const {
  if (fields_.front().text.empty()) return true;
  const std::size_t first = size_ > 1 ? 1 : 0;
  for (std::size_t i = first; i < size_; ++i) {
    if (fields_[i].kind == FieldKind::text) return true;
  }
  return false;
}

PlacedName MatrixParser::name_of(const MatrixField& field) const {
  return {in_one_line(field.text), reader_.line_of(field.offset), reader_.column_of(field.offset)};
}

void MatrixParser::require_unique(const PlacedName& name, const char* what,
                                  std::unordered_set<std::string>& known) {
  if (name.text.empty()) {
    issues_.complain(name.line, name.column, std::string("a ") + what + " has no name",
                     std::string("a name for each ") + what);
  } else if (!known.insert(name.text).second) {
    issues_.complain(name.line, name.column,
                     std::string("two ") + what + "s are named '" + printable(name.text) + "'",
                     std::string("a different name for each ") + what);
  }
}

// The names of the columns, of which the first may be above the names of the rows.
void MatrixParser::take_header() {
  std::unordered_set<std::string> known;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < width_; ++i) {
    names.push_back(header_[i].text);
    if (i > 0 || !has_row_names_) require_unique(header_[i], "column", known);
  }
  issues_.finish();
  for (const std::size_t column :
       find_columns(options_.ignore, names, issues_.file_name(), "ignore")) {
    ignored_[column] = true;
  }
  for (std::size_t i = has_row_names_ ? 1 : 0; i < width_; ++i) {
    if (!ignored_[i]) matrix_.columns.push_back(names[i]);
  }
}

std::string MatrixParser::place_of(std::size_t column) const {
  std::string place = "row ";
  place += has_row_names_ ? "'" + printable(fields_.front().text) + "'"
                          : std::to_string(matrix_.n_rows + 1);
  place += ", column ";
  return place +
         (has_header_ ? "'" + printable(header_[column].text) + "'" : std::to_string(column + 1));
}

void MatrixParser::take_cell(const MatrixField& field, std::size_t column) {
  matrix_.values.push_back(field.value);
  if (field.kind == FieldKind::number || field.kind == FieldKind::comma_number) return;
  const std::string place = place_of(column);
  const std::string text = "'" + printable(field.text) + "'";
  std::string message = place + ": " + text + " is not a number";
  if (field.kind == FieldKind::missing) {
    message = place + ": " +
              (field.text.empty() ? "the value" : text + " stands for a value that") +
              " is missing";
  }
  if (field.kind == FieldKind::infinite) message = place + ": " + text + " is not a finite number";
  reader_.complain(field.offset, message, "a finite number in every cell");
}

void MatrixParser::take_row_name() {
  const PlacedName name = name_of(fields_.front());
  matrix_.rows.push_back(name.text);
  if (options_.unique_rows) require_unique(name, "row", row_names_);
}

void MatrixParser::take_row() {
  if (size_ != width_) {
    reader_.complain(
        0,
        "the row should have " + std::to_string(width_) + (width_ == 1 ? " field" : " fields") +
            " and has " + std::to_string(size_),
        "as many fields as the first row, separated by " + name_of_delimiter(delimiter_));
  } else {
    if (has_row_names_) take_row_name();
    for (std::size_t i = has_row_names_ ? 1 : 0; i < width_; ++i) {
      if (!ignored_[i]) take_cell(fields_[i], i);
    }
  }
  ++matrix_.n_rows;
}

NamedMatrix MatrixParser::read() {
  const std::string_view sample = reader_.peek(matrix_sample_bytes);
  delimiter_ = find_delimiter(sample, sample.size() < matrix_sample_bytes);
  if (!next_row()) issues_.fail(0, 0, "the table has no rows", "rows of numbers");
  read_fields();
  width_ = size_;
  ignored_.assign(width_, false);
  has_header_ = is_header();
  if (has_header_) {
    for (std::size_t i = 0; i < size_; ++i) header_.push_back(name_of(fields_[i]));
    if (!next_row()) issues_.fail(0, 0, "the table has a header and no rows", "rows of numbers");
    read_fields();
  }
  const bool text = size_ > 0 && fields_.front().kind == FieldKind::text;
  has_row_names_ = width_ > 1 && (text || (has_header_ && header_.front().text.empty()));
  if (has_header_) {
    take_header();
  } else if (!options_.ignore.empty()) {
    issues_.fail(0, 0, "the first row has no names, and columns to ignore are named",
                 "a first row with the names of the columns");
  }
  do take_row();
  while (next_row() && (read_fields(), true));
  issues_.finish();
  for (std::size_t i = has_row_names_ ? 1 : 0; i < width_; ++i) matrix_.n_columns += !ignored_[i];
  if (matrix_.n_columns == 0) issues_.fail(0, 0, "no column is left", "a column of numbers");
  return std::move(matrix_);
}

}  // namespace

NamedMatrix read_named_matrix(std::istream& in, const std::string& file_name,
                              const NamedMatrixOptions& options) {
  return MatrixParser(in, file_name, options).read();
}

NamedMatrix load_named_matrix(const std::string& path, const NamedMatrixOptions& options) {
  std::error_code ignored;  // folders open like files, and only reading fails
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoError("io.open", in_one_line(path) + " is a folder, not a table", {},
                  "give the path of a file in this folder");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw IoError("io.open", "cannot open the table " + in_one_line(path) + ": " + reason, {},
                  "check the path, relative to the current folder");
  }
  UnpackedStream unpacked(in, path);
  return read_named_matrix(unpacked, path, options);
}

}  // namespace kiln::problems::detail
