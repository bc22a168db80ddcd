// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problems/readers.hpp"

#include "host_matrix.hpp"
#include "matrix.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::MatrixEntry;
using detail::TextReader;
using detail::Token;

constexpr std::string_view row_form =
    "a row of numbers, separated by blanks, commas or semicolons; each row has as many numbers as "
    "there are rows";

/// Whether more than one of commas, semicolons and mere blanks separates the words of a line: one
/// may be a decimal comma.
bool has_mixed_separators(const std::vector<Token>& words) {
  constexpr std::string_view signs = ",;";
  bool comma = false, semicolon = false, blank = false, apart = true;
  for (const Token& word : words) {
    comma |= word.text.find(',') != std::string_view::npos;
    semicolon |= word.text.find(';') != std::string_view::npos;
    blank |= !apart && signs.find(word.text.front()) == std::string_view::npos;
    apart = signs.find(word.text.back()) != std::string_view::npos;
  }
  return comma + semicolon + blank > 1;
}

}  // namespace

namespace detail {

void split_matrix_row(TextReader& text, std::vector<Token>& cells, std::string_view form) {
  if (has_mixed_separators(text.words())) {
    text.fail(
        0, "the row has more than one kind of separator",
        "only blanks, only commas or only semicolons, and numbers with a decimal point: 0.25");
  }
  cells.clear();
  bool open = true;  // whether a separator would leave a cell empty
  for (const Token& word : text.words()) {
    for (std::size_t at = 0; at < word.text.size();) {
      const std::size_t end = std::min(word.text.find_first_of(",;", at), word.text.size());
      const auto column = word.column + static_cast<std::int64_t>(at);
      if (end > at) {
        cells.push_back({word.text.substr(at, end - at), column});
        open = false;
      }
      at = end;
      if (at == word.text.size()) break;
      if (open) text.complain(column, "the row has an empty cell", form);
      open = true;
      ++at;
    }
  }
}

}  // namespace detail

std::variant<Ising, Qubo> read_dense(std::istream& in, const std::string& file_name,
                                     ReadReport* report, const ReaderOptions& options) {
  TextReader text(in, file_name);
  std::vector<MatrixEntry> entries;
  std::vector<Token> cells;
  std::int64_t n = 0, rows = 0;
  while (text.next_line()) {
    if (text.words().front().text.starts_with('#')) continue;
    detail::split_matrix_row(text, cells, row_form);
    if (rows == 0) n = std::ssize(cells);
    if (std::ssize(cells) != n) {
      text.fail(0,
                "the row should have " + std::to_string(n) + " values and has " +
                    std::to_string(cells.size()),
                row_form);
    }
    if (rows == n) {
      text.fail(0, "the matrix has " + std::to_string(n) + " columns, but more rows",
                "a square matrix; for measurements, use table:FILE --objective COLUMN");
    }
    for (std::int64_t column = 0; column < n; ++column) {
      const auto value = text.real(cells[static_cast<std::size_t>(column)], {"value", row_form});
      if (!value || *value == 0) continue;
      entries.push_back(
          {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(column), *value});
    }
    ++rows;
  }
  text.finish();
  if (n == 0) text.fail_file("the matrix is empty", detail::matrix_form);
  if (rows < n) {
    text.fail_file("the matrix has " + std::to_string(n) + " columns, but the file ends after " +
                       std::to_string(rows) + (rows == 1 ? " row" : " rows"),
                   "a square matrix; for measurements, use table:FILE --objective COLUMN");
  }
  auto model = detail::model_of_matrix(n, std::move(entries), options,
                                       [&](const std::string& message, std::string_view expected) {
                                         text.fail_file(message, expected);
                                       });
  if (report != nullptr) *report = detail::report_of_matrix(options);
  return model;
}

}  // namespace kiln::problems
