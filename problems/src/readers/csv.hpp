// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::problems::detail {

/// A cell of a line, without its quotes and the blanks around it.
struct CsvCell {
  std::string text;
  std::int64_t column = 0;  ///< where it begins, in bytes from 1
};

/// The cells of a line. What stands in double quotes may have separators in it, and two quotes are
/// one there; nothing: a quote has no end, or something follows it.
/// @par Source  RFC 4180, within one line.
std::optional<std::vector<CsvCell>> csv_cells(std::string_view line, char separator);

/// What separates the cells of a table, by its first line and the next one ("": there is none).
/// Semicolons or tabs do where both lines have as many, outside of quotes, and all commas of the
/// next one stand between digits. Else the most frequent of the three in the first line does, where
/// commas that all stand between digits are decimal ones; `otherwise` where there is none.
char csv_separator(std::string_view line, std::string_view next, char otherwise);

/// The same number with a decimal point, of a text such as `0,25`; "" for any other text.
std::string with_decimal_point(std::string_view text);

/// Whether a cell says that there is no value: empty, NA, NaN, null, ?.
bool stands_for_nothing(std::string_view cell);

/// Without the blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace kiln::problems::detail
