// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/matrix_file.hpp"

#include <istream>

#include "host_matrix.hpp"

namespace kiln::problems {
namespace {

using detail::TextReader;
using detail::Token;

constexpr std::string_view matrix_row_form =
    "a row of numbers, separated by blanks, commas or semicolons; all rows have as many numbers as "
    "the first";
constexpr detail::TextLimits wide_lines{.line_bytes = std::int64_t{64} << 20};

HostMatrix read_rows(std::istream& in, const std::string& file_name) {
  TextReader text(in, file_name, wide_lines);
  HostMatrix matrix;
  std::vector<Token> cells;
  while (text.next_line()) {
    if (text.words().front().text.starts_with('#')) continue;
    detail::split_matrix_row(text, cells, matrix_row_form);
    if (matrix.rows == 0) matrix.columns = std::ssize(cells);
    if (std::ssize(cells) != matrix.columns) {
      text.fail(0,
                "the row should have " + std::to_string(matrix.columns) + " values and has " +
                    std::to_string(cells.size()),
                matrix_row_form);
    }
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      matrix.values.push_back(detail::matrix_element(text, cells[static_cast<std::size_t>(column)],
                                                     matrix.rows, column));
    }
    ++matrix.rows;
  }
  text.finish();
  return matrix;
}

}  // namespace

double detail::matrix_element(TextReader& text, const Token& word, std::int64_t row,
                              std::int64_t column) {
  double value = 0;
  if (const char* const why = why_no_real(word.text, value)) {
    text.complain(word.column,
                  "the value '" + printable(word.text) + "' in row " + std::to_string(row + 1) +
                      ", column " + std::to_string(column + 1) + why,
                  "a finite number");
  }
  return value;
}

HostMatrix read_matrix(std::istream& in, const std::string& file_name) {
  const auto first = in.peek();
  if (first == 0x93) return detail::read_npy_matrix(in, file_name);
  if (first == '%') return detail::read_matrix_market(in, file_name);
  in.clear(in.rdstate() & ~(std::ios::eofbit | std::ios::failbit));  // an empty file
  return read_rows(in, file_name);
}

}  // namespace kiln::problems
