// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/kernels/rows/elements.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

inline constexpr double row_nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double row_infinity = std::numeric_limits<double>::infinity();

/// Lengths around those of accumulators, chunks, clusters of blocks and groups of chunks.
inline const std::vector<std::int64_t> row_lengths{
    0,    1,    2,    127,  128,   129,   257,    1000,   1023,   1024,   1025,
    2049, 5000, 8192, 8193, 16385, 65537, 131072, 200001, 262144, 262145, 400003};

/// Rows of numbers, with a gap between them.
struct Rows {
  std::int64_t rows = 1, columns = 0, gap = 0;
  std::vector<double> values = {};  ///< [rows][columns + gap]

  std::int64_t stride() const { return columns + gap; }
  double operator()(std::int64_t row, std::int64_t column) const {
    return values[idx(row * stride() + column)];
  }
};

template <class Draw>
Rows make_rows(std::int64_t rows, std::int64_t columns, std::int64_t gap, Draw draw) {
  Rows made{rows, columns, gap, {}};
  for (std::int64_t i = 0; i < rows * made.stride(); ++i) made.values.push_back(draw());
  return made;
}

/// Numbers around 0 with a standard deviation of 1, nearly normal.
inline Rows normal_rows(std::int64_t rows, std::int64_t columns, std::int64_t gap,
                        std::uint64_t seed) {
  TestRandom random(seed);
  return make_rows(rows, columns, gap, [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.unit();
    return sum;
  });
}

}  // namespace kiln::test
