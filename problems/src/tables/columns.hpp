// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problems/numeric_table.hpp"

#include "tables/fields.hpp"
#include "tables/records.hpp"

namespace kiln::problems::detail {

/// The names of the columns of a table, made unique: an empty name becomes `column 3`, the second
/// column `x` becomes `x (2)`.
///
/// @param texts  fields of the header; empty if there is none
/// @param notes  gets a sentence about the names that were changed
std::vector<std::string> names_of_columns(std::vector<std::string> texts,
                                          std::vector<std::string>& notes);

/// The columns that a user names, as numbers from 0, without repetition.
/// @param wanted  their names or numbers
/// @param names  of all columns
/// @param file_name  for the message
/// @param option  the option that names them, for the message: "columns"
/// @throws InvalidArgument `table.column` with the nearest name.
std::vector<std::size_t> find_columns(const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& names,
                                      const std::string& file_name, const std::string& option);

/// The text of a place in the table, for messages.
struct TableText {
  std::int64_t line = 0, column = 0;
  std::string text;
};

/// The values of one column, in the order of the rows.
struct TableColumn {
  std::string name;
  std::int64_t number = 0;  ///< in the file, from 1
  bool wanted = false;      ///< by the user, so that text in it is an error
  std::vector<double> values;
  std::int64_t missing = 0;
  bool has_numbers = false;
  std::optional<TableText> text;  ///< the first field of text
};

/// Collects the values of columns from rows, with complaints about fields that are no numbers.
class ColumnCollector {
 public:
  /// @param columns  numbers of the columns to keep, in the order of the result
  /// @param all_wanted  whether the user has named them
  ColumnCollector(std::vector<std::string> names, const std::vector<std::size_t>& columns,
                  bool all_wanted, char delimiter);

  /// Takes the fields of the current row, or complains about it. After a complaint the values are
  /// of no use, and reading on only finds more of them.
  void take(RowReader& reader);
  /// The number of rows that were taken.
  std::int64_t rows() const noexcept { return rows_; }
  /// The first column with a complaint about text or an infinite number; "" if there is none.
  const std::string& bad_column() const noexcept { return bad_column_; }

  /// Moves the columns of numbers into the table, with notes about the others.
  /// @return the number of columns
  std::size_t finish(NumericTable& table);

 private:
  // A field that is an error if its row is complete.
  struct Doubt {
    std::size_t column, offset;
    std::string text;
    FieldKind kind;
  };

  void take_field(RowReader& reader, const TableField& field, std::size_t column);
  void take_number(RowReader& reader, double value, TableColumn& column);
  void check_decimals(RowReader& reader, const TableField& field, FieldKind kind);
  void complain(RowReader& reader, const Doubt& doubt);
  std::string expected_fields() const;

  char delimiter_;
  std::vector<TableColumn> columns_;
  std::vector<std::int32_t> kept_;  // [column of the file]: number in columns_, or -1
  std::int64_t rows_ = 0;
  std::vector<Doubt> doubts_;  // of the current row
  std::string bad_column_;
  std::optional<TableText> comma_, point_;  // the first number with each of them
};

}  // namespace kiln::problems::detail
