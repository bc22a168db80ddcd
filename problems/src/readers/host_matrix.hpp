// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/models/product.hpp"

#include "text_reader.hpp"

// Parts of the readers of matrices of any shape.
namespace kiln::problems::detail {

HostMatrix read_npy_matrix(std::istream& in, const std::string& file_name);
HostMatrix read_matrix_market(std::istream& in, const std::string& file_name);

/// Divides the words of a line at commas and semicolons.
/// @param text      its line is divided
/// @param cells     are overwritten
/// @param row_form  for messages: the form of a row
/// @throws ParseError if the line has more than one kind of separator.
void split_matrix_row(TextReader& text, std::vector<Token>& cells, std::string_view row_form);

/// Reads a number; complains of another word with row and column of the matrix, both from 0.
double matrix_element(TextReader& text, const Token& word, std::int64_t row, std::int64_t column);

}  // namespace kiln::problems::detail
