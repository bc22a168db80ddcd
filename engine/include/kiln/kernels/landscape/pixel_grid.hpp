// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// The pixels of an image, numbered row by row, and which of them are neighbours.
struct PixelGrid {
  static constexpr std::int32_t none = -1;
  /// Directions are numbers from 0 on: pixels of 3 x 3, row by row.
  static constexpr std::int32_t directions = 9;

  std::int32_t rows = 0, columns = 0;
  bool diagonal = false;  ///< neighbours touch at an edge or at a corner: 8, not 4

  KILN_HD std::int32_t pixels() const { return rows * columns; }
  /// The neighbour of a pixel in a direction; none: there is no such neighbour.
  KILN_HD std::int32_t neighbor(std::int32_t pixel, std::int32_t direction) const {
    const bool at_edge = direction % 2 != 0;
    if (!at_edge && (!diagonal || direction == directions / 2)) return none;
    const std::int32_t row = pixel / columns + direction / 3 - 1;
    const std::int32_t column = pixel % columns + direction % 3 - 1;
    if (row < 0 || row >= rows || column < 0 || column >= columns) return none;
    return row * columns + column;
  }
};

}  // namespace kiln
