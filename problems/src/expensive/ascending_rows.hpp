// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln::problems::detail {

/// The numbers of rows of levels in ascending order of the rows, equal ones in that of their
/// numbers. A counting sort by each column, the last one first: time rows x columns.
/// @param levels   of each column: its values are 0 .. levels - 1
/// @param level_of (row, column) -> level
/// @par Source  D. E. Knuth, The Art of Computer Programming 3, 5.2 (algorithm D) and 5.2.5.
template <class LevelOf>
std::vector<std::size_t> ascending_rows(std::size_t rows, const std::vector<std::size_t>& levels,
                                        const LevelOf& level_of) {
  std::vector<std::size_t> order(rows), sorted(rows), begin;
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t column = levels.size(); column-- > 0;) {
    begin.assign(levels[column] + 1, 0);
    for (std::size_t row = 0; row < rows; ++row) {
      ++begin[static_cast<std::size_t>(level_of(row, column)) + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const std::size_t row : order) {
      sorted[begin[static_cast<std::size_t>(level_of(row, column))]++] = row;
    }
    std::swap(order, sorted);
  }
  return order;
}

}  // namespace kiln::problems::detail
