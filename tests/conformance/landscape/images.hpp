// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/kernels/landscape/pixel_grid.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

inline constexpr double wall_value = std::numeric_limits<double>::quiet_NaN();

/// Images of one shape for the kernels of the component landscape.
struct Images {
  PixelGrid grid;
  std::int64_t count = 1;
  std::vector<double> value = {};  ///< [image][pixel]

  std::int64_t pixels() const { return grid.pixels(); }
};

/// One image of f(x, y) on [-half_width, half_width] x [-half_height, half_height]; x changes along
/// a row.
template <class Function>
Images sampled(PixelGrid grid, double half_width, double half_height, Function f) {
  Images images{grid};
  for (std::int32_t row = 0; row < grid.rows; ++row) {
    for (std::int32_t column = 0; column < grid.columns; ++column) {
      const double x = half_width * (2.0 * column / (grid.columns - 1) - 1);
      const double y = half_height * (2.0 * row / (grid.rows - 1) - 1);
      images.value.push_back(f(x, y));
    }
  }
  return images;
}

/// Whole numbers below `levels`, with a wall in every so many pixels (0: none).
inline Images random_levels(PixelGrid grid, std::int64_t count, std::int64_t levels,
                            std::int64_t pixels_per_wall, std::uint64_t seed) {
  TestRandom random(seed);
  Images images{grid, count};
  for (std::int64_t i = 0; i < count * grid.pixels(); ++i) {
    const bool is_wall = pixels_per_wall > 0 && random.between(1, pixels_per_wall) == 1;
    images.value.push_back(is_wall ? wall_value
                                   : static_cast<double>(random.between(0, levels - 1)));
  }
  return images;
}

}  // namespace kiln::test
