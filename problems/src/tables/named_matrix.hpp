// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// A table without gaps: a finite number in every cell.
struct NamedMatrix {
  std::vector<std::string> rows;     ///< [row] names, unique; empty: the rows have no names
  std::vector<std::string> columns;  ///< [column] names, unique; empty: the columns have no names
  std::int64_t n_rows = 0, n_columns = 0;  ///< each at least 1
  std::vector<double> values;              ///< [row][column]
};

/// How a matrix is read.
struct NamedMatrixOptions {
  std::vector<std::string> ignore = {};  ///< names of columns that are left out
  bool unique_rows = true;               ///< whether names of rows may not repeat
};

/// Reads a table of the same syntax as read_numeric_table(), whose cells all have numbers. The
/// first row has names if a field behind its first one is text, or if its first field is empty.
/// The first column has names if its first row of data begins with text, or if the first row has
/// names and begins with an empty field.
///
/// @param in  the text, not compressed
/// @param file_name  only for messages
/// @param options  columns to leave out, and whether names of rows may repeat
/// @throws ParseError with line, column, and the names of row and column for text, infinite
/// numbers and missing values, repeated or missing names, rows of different lengths and tables
/// without rows or columns; InvalidArgument `table.column` for an unknown column to ignore;
/// IoError `io.read`.
KILN_API NamedMatrix read_named_matrix(std::istream& in, const std::string& file_name,
                                       const NamedMatrixOptions& options = {});

/// The same of a file, decompressed if it is compressed.
/// @throws as above; IoError `io.open`.
NamedMatrix load_named_matrix(const std::string& path, const NamedMatrixOptions& options = {});

}  // namespace kiln::problems::detail
