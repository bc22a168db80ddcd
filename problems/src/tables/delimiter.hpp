// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln::problems::detail {

/// Finds the delimiter of a table: semicolons, tabs, commas or white space (' '). It is the one
/// that gives the largest share of numbers in rows with as many fields as the first row; the
/// earlier one of this list if several do. Without any, the fields are those of one column, and the
/// result is a comma.
///
/// @param text  the beginning of the table
/// @param whole  whether the text ends where the table ends; else its last row may be cut
char find_delimiter(std::string_view text, bool whole);

/// "semicolons", "tabs", "commas", "white space", or the character in quotes.
std::string name_of_delimiter(char delimiter);

}  // namespace kiln::problems::detail
