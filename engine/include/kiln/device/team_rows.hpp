// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// How a team traverses the rows of a matrix: lanes of up to 32 threads take a row each, and the
/// threads of a lane its elements, so that neighbouring threads read neighbouring elements.
template <class Team>
struct TeamRows {
  static constexpr int width = 32;

  KILN_HD static int lanes() { return Team::size() < width ? Team::size() : width; }
  KILN_HD static int lane() { return Team::rank() % lanes(); }
  KILN_HD static std::int64_t first() { return Team::rank() / lanes(); }
  KILN_HD static std::int64_t step() { return Team::size() / lanes(); }
  /// Adds a value of every thread of a lane.
  KILN_HD static double sum(double value) { return Team::lane_sum(value); }
};

/// The lower triangle of a matrix in n (n + 1) / 2 numbers, row by row.
struct PackedTriangle {
  double* data = nullptr;

  KILN_HD static constexpr std::int64_t size(std::int64_t n) { return n * (n + 1) / 2; }
  KILN_HD double* row(std::int64_t i) const { return data + i * (i + 1) / 2; }
  KILN_HD double symmetric(std::int64_t i, std::int64_t j) const {
    return i >= j ? row(i)[j] : row(j)[i];
  }
};

}  // namespace kiln
