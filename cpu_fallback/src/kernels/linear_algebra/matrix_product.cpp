// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t tile_rows = 4, tile_columns = 32;  // of C, in registers and the first cache

// What lies beyond the end is computed and not stored, so that the loops over a tile
// have a constant length.
void multiply_tile(const MatrixProduct& kernel, std::int64_t row, std::int64_t column) {
  const std::int64_t rows = std::min(tile_rows, kernel.c.rows - row);
  const std::int64_t columns = std::min(tile_columns, kernel.c.columns - column);
  double sum[tile_rows][tile_columns] = {};
  double line[tile_columns] = {};
  for (std::int64_t k = 0; k < kernel.a.columns; ++k) {
    std::copy_n(&kernel.b(k, column), columns, line);
    for (std::int64_t r = 0; r < tile_rows; ++r) {
      const double factor = kernel.a(std::min(row + r, kernel.a.rows - 1), k);
      for (std::int64_t j = 0; j < tile_columns; ++j) sum[r][j] += factor * line[j];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double scale = kernel.scale ? kernel.scale[column + j] : 1.0;
      kernel.c(row + r, column + j) = scale * sum[r][j];
    }
  }
}

}  // namespace

template <>
void launch(const MatrixProduct& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t across = (kernel.c.columns + tile_columns - 1) / tile_columns;
  const std::int64_t down = (kernel.c.rows + tile_rows - 1) / tile_rows;
  pool_of(queue).for_each(down, [&](std::int64_t r) {
    for (std::int64_t c = 0; c < across; ++c) {
      multiply_tile(kernel, r * tile_rows, c * tile_columns);
    }
  });
}

}  // namespace kiln::cpu
