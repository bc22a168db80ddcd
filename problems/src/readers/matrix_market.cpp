// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_matrix.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::string_view banner_form =
    "%%MatrixMarket matrix coordinate|array real|integer|pattern "
    "general|symmetric|skew-symmetric";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

class MarketReader {
 public:
  MarketReader(std::istream& in, const std::string& file_name) : text_(in, file_name) {}

  HostMatrix read() {
    take_banner();
    if (!next_line()) text_.fail_file("the file has no line of sizes", sizes_form());
    take_sizes();
    if (coordinate_) {
      read_entries();
    } else {
      read_columns();
    }
    text_.finish();
    return std::move(matrix_);
  }

 private:
  static constexpr std::int64_t max_size = std::int64_t{1} << 31;

  void take_banner() {
    if (!text_.next_line()) text_.fail_file("the file is empty", banner_form);
    std::vector<std::string> words;
    for (const Token& word : text_.words()) words.push_back(lower(word.text));
    const auto is = [&](std::size_t i, std::string_view word) { return words[i] == word; };
    const bool known = words.size() == 5 && is(0, "%%matrixmarket") && is(1, "matrix") &&
                       (is(2, "coordinate") || is(2, "array")) &&
                       (is(3, "real") || is(3, "integer") || is(3, "double") ||
                        (is(3, "pattern") && is(2, "coordinate"))) &&
                       (is(4, "general") || is(4, "symmetric") || is(4, "skew-symmetric"));
    if (!known) text_.fail(0, "the first line is not that of a supported matrix", banner_form);
    coordinate_ = is(2, "coordinate");
    pattern_ = is(3, "pattern");
    skew_ = is(4, "skew-symmetric");
    mirrored_ = skew_ || is(4, "symmetric");
  }

  bool next_line() {
    while (text_.next_line()) {
      if (!text_.words().front().text.starts_with('%')) return true;
    }
    return false;
  }

  std::string_view sizes_form() const {
    return coordinate_ ? "rows columns entries" : "rows columns";
  }

  void take_sizes() {
    const std::vector<Token>& words = text_.words();
    if (words.size() != (coordinate_ ? 3 : 2)) {
      text_.fail(0, "the line of sizes has " + std::to_string(words.size()) + " words",
                 sizes_form());
    }
    const Field field{"size", sizes_form()};
    const auto rows = text_.integer(words[0], field, 0, max_size);
    const auto columns = text_.integer(words[1], field, 0, max_size);
    if (coordinate_) entries_ = text_.integer(words[2], field, 0, std::int64_t{1} << 40);
    text_.finish();
    matrix_.rows = *rows, matrix_.columns = *columns;
    if (mirrored_ && matrix_.rows != matrix_.columns) {
      text_.fail(0, "a symmetric matrix has different numbers of rows and columns", sizes_form());
    }
    constexpr std::int64_t max_elements = std::int64_t{1} << 30;
    const bool large = matrix_.rows > 0 && matrix_.columns > max_elements / matrix_.rows;
    if (large) text_.fail(0, "the whole matrix has more than 2^30 elements", sizes_form());
  }

  // Row or column of an entry, from 0.
  std::int64_t place(const Token& word, std::int64_t size) {
    const Field field{"index", pattern_ ? "row column" : "row column value"};
    return text_.integer(word, field, 1, size).value_or(1) - 1;
  }

  void put(std::int64_t row, std::int64_t column, double value) {
    matrix_.values[static_cast<std::size_t>(row * matrix_.columns + column)] += value;
  }

  // An entry, and its mirror image.
  void put_both(std::int64_t row, std::int64_t column, double value) {
    put(row, column, value);
    if (mirrored_ && row != column) put(column, row, skew_ ? -value : value);
  }

  void read_entries() {
    struct Entry {
      std::int64_t row, column;
      double value;
    };
    std::vector<Entry> found;
    const std::size_t words = pattern_ ? 2 : 3;
    while (next_line()) {
      const std::vector<Token>& line = text_.words();
      if (line.size() != words) {
        text_.fail(0, "the entry has " + std::to_string(line.size()) + " words",
                   pattern_ ? "row column" : "row column value");
      }
      const std::int64_t row = place(line[0], matrix_.rows);
      const std::int64_t column = place(line[1], matrix_.columns);
      const double value = pattern_ ? 1 : matrix_element(text_, line[2], row, column);
      if (mirrored_ && row < column) {
        text_.complain(0, "the entry is above the diagonal of a symmetric matrix",
                       "entries on or below the diagonal");
      }
      found.push_back({row, column, value});
    }
    if (std::ssize(found) != *entries_) {
      text_.fail_file("the number of entries is " + std::to_string(found.size()) + " instead of " +
                          std::to_string(*entries_),
                      "as many entries as the line of sizes says");
    }
    const std::int64_t elements = matrix_.rows * matrix_.columns;
    if (elements > std::max(std::int64_t{1} << 24, 1024 * *entries_)) {
      text_.fail_file("the whole matrix has " + std::to_string(elements) + " elements, and " +
                          std::to_string(*entries_) + " of them are entries",
                      "a matrix that is less sparse");
    }
    text_.finish();
    matrix_.values.resize(static_cast<std::size_t>(elements));
    for (const Entry& e : found) put_both(e.row, e.column, e.value);
  }

  void read_columns() {
    std::vector<double> found;
    const std::int64_t n = matrix_.rows;
    const std::int64_t skipped = skew_ ? 1 : 0;  // the diagonal of a skew matrix is not there
    const std::int64_t all = mirrored_ ? n * (n + 1) / 2 - skipped * n : n * matrix_.columns;
    std::int64_t row = skipped, column = 0;
    while (next_line()) {
      for (const Token& word : text_.words()) {
        found.push_back(matrix_element(text_, word, row, column));
        if (++row < n) continue;
        ++column;
        row = mirrored_ ? column + skipped : 0;
      }
    }
    if (std::ssize(found) != all) {
      text_.fail_file("the number of values is " + std::to_string(found.size()) + " instead of " +
                          std::to_string(all),
                      "the values of the columns, one after the other");
    }
    text_.finish();
    matrix_.values.resize(static_cast<std::size_t>(n * matrix_.columns));
    auto next = found.begin();
    for (std::int64_t c = 0; c < matrix_.columns; ++c) {
      for (std::int64_t r = mirrored_ ? c + skipped : 0; r < n; ++r) put_both(r, c, *next++);
    }
  }

  TextReader text_;
  HostMatrix matrix_;
  bool coordinate_ = false, pattern_ = false, mirrored_ = false, skew_ = false;
  std::optional<std::int64_t> entries_;
};

}  // namespace

HostMatrix read_matrix_market(std::istream& in, const std::string& file_name) {
  return MarketReader(in, file_name).read();
}

}  // namespace kiln::problems::detail
