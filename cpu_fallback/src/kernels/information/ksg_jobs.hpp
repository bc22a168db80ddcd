// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/information/ksg_points.hpp"

#include "kernels/information/ksg_search.hpp"

namespace kiln::cpu {

/// Points that one thread looks at before it takes others.
inline constexpr std::int64_t points_per_part = 512;
inline std::int64_t parts_of(std::int64_t n) { return (n + points_per_part - 1) / points_per_part; }

/// Coordinates begin .. end - 1 of a row of axis numbers.
inline KsgAxes axes_of(const KsgPoints& points, const View2<const std::int32_t>& rows,
                       std::int64_t problem, std::int32_t begin, std::int32_t end) {
  KsgAxes axes;
  axes.dims = end - begin;
  axes.n = points.n();
  for (std::int32_t d = begin; d < end; ++d)
    axes.axis[d - begin] = &points.axes(rows(problem, d), 0);
  return axes;
}

}  // namespace kiln::cpu
