// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "text_reader.hpp"

// Formats in the style of DIMACS: comments begin with c, and one line `p KIND NUMBER...` says how
// much follows.
namespace kiln::problems::detail {

/// Goes to the next line that is no comment; false at the end.
bool next_significant_line(TextReader& text);

/// Goes to the header, a line of `n_words` words of one of these kinds.
/// @param form  of the header, for messages
/// @throws ParseError for a file without lines, and for any other line
void read_problem_line(TextReader& text, std::initializer_list<std::string_view> kinds,
                       std::size_t n_words, std::string_view form);

/// Whether the line has that many words; complains where it has not.
bool has_words(TextReader& text, std::size_t wanted, std::string_view form);

/// Complains where the file ended before as many as its header promised.
void check_total(TextReader& text, std::int64_t promised, std::int64_t found,
                 std::string_view plural, std::string_view form);

}  // namespace kiln::problems::detail
