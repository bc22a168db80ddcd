// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Finds the nearest reference line of each point, and the distance to it.
///
/// Lines go through the origin of the normalised space, where a group's ideal point is 0 and its
/// nadir 1 in each objective; an objective with nadir <= ideal is shifted to 0 but not scaled. Ties
/// go to the first line. A point that is not finite there has line -1 and an infinite distance, as
/// all points have without lines; a direction of length 0 is no line.
///
/// Class E: the sums of a pair go over the objectives in their order.
/// @par Source  Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577.
struct KILN_API ReferenceAssociation {
  static constexpr const char* name = "reference_association";
  static constexpr const char* summary =
      "finds the reference line nearest to each normalised point";

  View2<const double> value;  ///< [objectives][points]
  PointGroups groups;
  View2<const double> ideal;      ///< [objectives][groups]
  View2<const double> nadir;      ///< [objectives][groups]
  View2<const double> direction;  ///< [objectives][lines], of any length; the same for all groups
  View1<std::int32_t> line;       ///< [points]
  View1<double> distance;         ///< [points], perpendicular, in the normalised space
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  /// Coordinate k of a point in the normalised space of its group.
  KILN_HD double normalized(std::int64_t group, std::int64_t k, std::int64_t point) const {
    const double range = exact::sub(nadir(k, group), ideal(k, group));
    const double moved = exact::sub(value(k, point), ideal(k, group));
    return range > 0 ? exact::div(moved, range) : moved;
  }

  /// Squared distance to a line of the point with coordinates x(k); NaN for a direction of length
  /// 0. It squares the residual instead of subtracting squares, which would lose all digits near
  /// the line.
  template <class Coordinates>
  KILN_HD double square_distance(const Coordinates& x, std::int64_t which) const {
    double along = 0, length = 0;
    for (std::int64_t k = 0; k < direction.rows; ++k) {
      const double w = direction(k, which);
      along = exact::add(along, exact::mul(x(k), w));
      length = exact::add(length, exact::mul(w, w));
    }
    const double t = exact::div(along, length);
    double sum = 0;
    for (std::int64_t k = 0; k < direction.rows; ++k) {
      const double rest = exact::sub(x(k), exact::mul(t, direction(k, which)));
      sum = exact::add(sum, exact::mul(rest, rest));
    }
    return sum;
  }
};

}  // namespace kiln
