// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Populations side by side in the columns of a matrix. Points of different groups are never
/// compared. At most 2^31 - 1 columns in all.
struct KILN_API PointGroups {
  std::int64_t groups = 1;
  std::int64_t size = 0;             ///< points of each group; with offsets, of the largest one
  View1<const std::int64_t> offset;  ///< [groups + 1], first column of each group and the end of
                                     ///< the last; empty: group g begins at g * size

  KILN_HD std::int64_t begin(std::int64_t group) const {
    return offset ? offset[group] : group * size;
  }
  KILN_HD std::int64_t end(std::int64_t group) const {
    return offset ? offset[group + 1] : (group + 1) * size;
  }
  KILN_HD std::int64_t count(std::int64_t group) const { return end(group) - begin(group); }
};

/// Points in the space of objectives, all of which are minimised; maximise by changing the sign.
///
/// A point dominates another if it is nowhere greater and somewhere less. A constraint precedes all
/// objectives: a feasible point dominates every infeasible one, of two infeasible points the one of
/// smaller violation dominates, and objectives are compared among feasible points only. A point
/// with a NaN, in an objective or as its violation, is dominated by every point without one and
/// dominates none. Infinities compare as numbers; -0.0 equals 0.0.
struct KILN_API ObjectivePoints {
  View2<const double> value;      ///< [objectives][points]
  View1<const double> violation;  ///< [points], total violation of the constraints, feasible if at
                                  ///< most 0; empty: all are feasible
  PointGroups groups;

  KILN_HD std::int64_t objectives() const { return value.rows; }

  /// The key that is compared before the objectives: 0 for feasible points, then by violation, then
  /// `key_of_nan`. Points of equal keys other than 0 do not dominate each other.
  static constexpr std::uint64_t key_of_nan = ~0ull;
  KILN_HD static std::uint64_t first_key(double violation, bool has_nan) {
    if (has_nan || violation != violation) return key_of_nan;
    return violation > 0 ? exact::double_to_bits(violation) : 0;
  }
  KILN_HD std::uint64_t first_key(std::int64_t point) const {
    bool has_nan = false;
    for (std::int64_t k = 0; k < value.rows; ++k) has_nan |= value(k, point) != value(k, point);
    return first_key(violation ? violation[point] : 0.0, has_nan);
  }

  /// An integer that orders as the value does; equal values have equal keys.
  KILN_HD static std::uint64_t order_of(double x) {
    return exact::order_key(exact::add(x, 0.0));  // -0.0 + 0.0 is 0.0
  }
};

}  // namespace kiln
