// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln::problems {

/// A table of text: the names of its columns, then rows of as many cells.
struct CsvTable {
  struct Row {
    std::int64_t line = 0;  ///< in the file, from 1
    std::vector<std::string> cells;
  };
  std::string file;       ///< as messages call it
  Row header;             ///< the names; no cells: the text has no line of its own
  std::vector<Row> rows;  ///< in the order of the text
  char separator = ',';   ///< comma, semicolon or tab
};

/// Reads a table whose first line has the names of the columns. Commas, semicolons or tabs separate
/// the cells: the first line tells which. Cells may stand in double quotes, within a line; blanks
/// around the others are left out. Lines end in LF or CR LF; blank lines and those that begin with
/// `#` are passed over, and so is a UTF-8 byte-order mark.
///
/// Names may be there twice, and there may be no row: callers know what they need.
/// @param name  only for messages: a file name.
/// @throws ParseError, with the lines, for rows of other lengths, quotes without an end, names of
/// over 1 KiB or with control characters, and what csv_text() refuses; IoError `io.read`.
/// @par Source  RFC 4180, within one line.
KILN_API CsvTable read_csv(std::istream& in, const std::string& name);

/// The same of a text that csv_text() gave.
/// @param names  of the columns, where the text has no line with them
KILN_API CsvTable read_csv(std::string_view text, const std::string& name,
                           std::vector<std::string> names = {});

/// All of such a text, without a byte-order mark.
/// @throws ParseError for lines over 1 MiB, texts over 1 GiB, lines that end in CR alone, UTF-16,
/// gzip and NUL bytes; IoError `io.read`.
KILN_API std::string csv_text(std::istream& in, const std::string& name);

/// The names in the first line of such a text; nothing where it has none or its quotes do not end.
KILN_API std::optional<std::vector<std::string>> csv_names(std::string_view text);

/// Refuses two columns of one name; columns without a name are none.
/// @throws ParseError with each name that is there twice.
KILN_API void require_distinct_names(const CsvTable& table);

/// Gives numbers with decimal commas a point, where commas do not separate: those of the columns
/// that have nothing else but numbers.
/// @param numbers  columns that may hold numbers
/// @param word_option  what makes a column one of words, for messages; may be empty
/// @return a sentence that says so with the first of them; "" where no number has a comma.
/// @throws ParseError for a comma that may separate thousands, one beside decimal points, and one
/// where commas separate.
KILN_API std::string take_decimal_commas(CsvTable& table, const std::set<std::size_t>& numbers,
                                         std::string_view word_option = {});

/// The text as a cell, in quotes where it needs them: read_csv() reads the same text back if no
/// control character is in it.
KILN_API std::string csv_cell(std::string_view text);

}  // namespace kiln::problems
