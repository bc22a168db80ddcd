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

/// A table of text: the names of its columns, then rows with the same number of cells.
struct CsvTable {
  struct Row {
    std::int64_t line = 0;  ///< in the file, from 1
    std::vector<std::string> cells;
  };
  std::string file;       ///< its name in messages
  Row header;             ///< the names; no cells: the text has no header line
  std::vector<Row> rows;  ///< in the order of the text
  char separator = ',';   ///< comma, semicolon or tab
};

/// Reads a table whose first line has the names of the columns. Commas, semicolons or tabs separate
/// the cells, as in the first line. Cells may be in double quotes, within a line; blanks around the
/// others are left out. Lines end in LF or CR LF. Blank lines, those that begin with `#`, and a
/// UTF-8 byte-order mark are skipped.
///
/// Names may be repeated, and there may be no row: callers check their requirements.
/// @param in  the text
/// @param name  only for messages: a file name.
/// @throws ParseError, with the lines, for rows of other lengths, quotes without an end, names of
/// over 1 KiB or with control characters, and what csv_text() refuses; IoError `io.read`.
/// @par Source  RFC 4180, within one line.
KILN_API CsvTable read_csv(std::istream& in, const std::string& name);

/// Reads a table from a text that csv_text() returned.
/// @param text  what csv_text() returned
/// @param name  only for messages: a file name.
/// @param names  of the columns, if the text has no header line
KILN_API CsvTable read_csv(std::string_view text, const std::string& name,
                           std::vector<std::string> names = {});

/// Reads the whole text, without a byte-order mark.
/// @throws ParseError for lines over 1 MiB, texts over 1 GiB, lines that end in CR alone, UTF-16,
/// gzip and NUL bytes; IoError `io.read`.
KILN_API std::string csv_text(std::istream& in, const std::string& name);

/// The names in the first line of such a text; nothing if it has none or its quotes do not end.
KILN_API std::optional<std::vector<std::string>> csv_names(std::string_view text);

/// Refuses two columns of the same name; columns without a name do not count.
/// @throws ParseError with each repeated name.
KILN_API void require_distinct_names(const CsvTable& table);

/// Replaces decimal commas by points, if commas are not separators, in columns that otherwise have
/// only numbers.
/// @param table  is changed
/// @param numbers  columns that may hold numbers
/// @param word_option  the option that declares a column as words, for messages; may be empty
/// @return a sentence that reports the first of them; "" if no number has a comma.
/// @throws ParseError for a comma that may separate thousands, one beside decimal points, and one
/// where commas are separators.
KILN_API std::string take_decimal_commas(CsvTable& table, const std::set<std::size_t>& numbers,
                                         std::string_view word_option = {});

/// The text as a cell, quoted if needed: read_csv() reads the same text back if it has no control
/// character.
KILN_API std::string csv_cell(std::string_view text);

}  // namespace kiln::problems
