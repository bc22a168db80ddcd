// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln::problems {

/// Options of the reader of tables of numbers.
struct NumericTableOptions {
  /// Wanted columns, by name or else by number from 1, in this order. Empty: all columns of
  /// numbers.
  std::vector<std::string> columns = {};
  std::optional<bool> header = {};  ///< whether the first row has names; not given: detected
  char delimiter = '\0';            ///< between fields; ' ' is white space, 0 is detected
  std::int64_t rows = 1'000'000;    ///< largest number of rows to keep
  std::int64_t every = 1;           ///< keeps the first of each `every` rows
  std::int64_t skip = 0;            ///< number of rows to leave out at the beginning
};

/// Columns of numbers.
struct NumericTable {
  std::vector<std::string> names;            ///< [column]; unique, not empty, no control characters
  std::vector<std::int64_t> numbers;         ///< [column]; its number in the file, from 1
  std::vector<std::vector<double>> columns;  ///< [column][row]; finite, or NaN if missing
  std::vector<std::int64_t> missing;         ///< [column]; number of missing values
  std::int64_t rows = 0;                     ///< kept; at least 1
  std::int64_t rows_in_file = 0;             ///< including rows that were not kept
  std::vector<std::string> notes;            ///< for the user, one sentence each
};

/// Reads a table of numbers from a text, in one pass and in bounded memory: that of the kept
/// numbers, and a buffer of some MiB.
///
/// Commas, semicolons, tabs or white space separate the fields, and are detected in the first
/// lines. A field may be in double quotes, with delimiters and line ends inside. Lines end in LF or
/// CR LF. Empty lines, lines that begin with `#` and a UTF-8 byte-order mark are skipped. The first
/// row is a header if it has a field of text. Missing values are empty fields, NA, N/A, NaN, NULL,
/// null, None, `?` and `-`. `true` is 1 and `false` is 0. If commas are not delimiters, numbers may
/// have decimal commas. Columns that have only text, or no value at all, are left out with a note
/// unless they are wanted.
///
/// @param in  the text, not compressed
/// @param file_name  only for messages
/// @param options  which columns and rows to keep, and how to read them
/// @throws ParseError with line and column for text in a column of numbers, infinite numbers, rows
/// with too few or too many fields, wrong quotes, rows over 16 MiB, more than 100,000 columns, NUL
/// bytes, UTF-16, and tables without rows or numbers; InvalidArgument `table.column` for an unknown
/// column, with the nearest one, and `table.options` for options out of range; IoError `io.read`.
/// @par Source  RFC 4180, for quotes.
KILN_API NumericTable read_numeric_table(std::istream& in, const std::string& file_name,
                                         const NumericTableOptions& options = {});

/// Reads a table of numbers from a file, decompressed if it is compressed by gzip, xz or zstd.
///
/// @param path  `-` is standard input
/// @param options  which columns and rows to keep, and how to read them
/// @throws as above; IoError `io.open` if the file cannot be opened.
KILN_API NumericTable read_numeric_table(const std::string& path,
                                         const NumericTableOptions& options = {});

}  // namespace kiln::problems
