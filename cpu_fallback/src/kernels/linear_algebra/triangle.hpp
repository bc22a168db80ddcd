// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// A small lower triangular system with many right-hand sides, as plain pointers, solved in place.
/// Strides may be negative: a transposed system is one in the reverse order.
struct TriangleJob {
  const double* factor = nullptr;                  // its first element on the diagonal
  double* x = nullptr;                             // the first unknown of the first column
  std::int64_t row_stride = 0, column_stride = 0;  // between elements of the factor
  std::int64_t x_stride = 0;                       // between unknowns; columns are side by side
  std::int64_t n = 0, columns = 0;
};

/// All variants give the same bits, and a column has the same bits alone and among others.
void triangle_baseline(const TriangleJob& job);
void triangle_avx2(const TriangleJob& job);
void triangle_avx512(const TriangleJob& job);
using Triangle = void (*)(const TriangleJob&);

}  // namespace kiln::cpu
