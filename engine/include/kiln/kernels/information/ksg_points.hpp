// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// Points of many problems with the same numbers of coordinates. A coordinate belongs to one of
/// three blocks: first those of z, the condition, then those of y, then those of x. The points of a
/// problem stand in the order of their first coordinate, which limits a search: a point whose first
/// coordinate is too far is too far. Distances are the largest difference of a coordinate.
struct KsgPoints {
  static constexpr int max_dims = 16;

  View2<const double> axes;          ///< [axis][n]: one coordinate of all points
  View2<const std::int32_t> rows;    ///< [problem][dims()]: axis of each coordinate, in order
  std::int32_t z = 0, y = 1, x = 1;  ///< coordinates of each block; x and y at least one
  /// Points whose times differ by `theiler` or less are no neighbours. 0: all others are.
  std::int32_t theiler = 0;
  View2<const std::int32_t> orders;    ///< [orders][n], place in time of each point; for `theiler`
  View1<const std::int32_t> order_of;  ///< [problem], row of `orders`; for `theiler`
  View1<const std::int32_t> times;     ///< [n], strictly ascending, by place; for `theiler`

  KILN_HD std::int32_t dims() const { return z + y + x; }
  KILN_HD std::int64_t n() const { return axes.columns; }
  KILN_HD std::int64_t problems() const { return rows.rows; }
  KILN_HD const double* axis(std::int64_t problem, std::int32_t dim) const {
    return &axes(rows(problem, dim), 0);
  }
  /// Time of a point.
  KILN_HD std::int32_t time(std::int64_t problem, std::int64_t point) const {
    return times[orders(order_of[problem], point)];
  }
  KILN_HD static std::int32_t apart(std::int32_t a, std::int32_t b) {
    return a < b ? b - a : a - b;
  }
};

}  // namespace kiln
