// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"

namespace kiln {

/// Collects the feasible members of first fronts, one column for each member of all groups, in
/// units of a box, for Hypervolume. Members that are on no first front or infeasible become
/// +infinity and do not count. Class E.
struct KILN_API FrontPoints {
  static constexpr const char* name = "front_points";
  static constexpr const char* summary =
      "collects the feasible points of all first fronts, scaled by the ideal and nadir points";

  View2<const double> value;            ///< [objectives][columns]
  View1<const double> violation;        ///< [columns]
  View1<const std::int32_t> rank;       ///< [columns]
  PointColumns columns;                 ///< of the members
  View1<const double> ideal, nadir;     ///< [objectives], the box
  View2<double> front;                  ///< [objectives][members of all groups]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t member) const {
    if (control != nullptr && !control->active(step_offset)) return;
    const std::int64_t column = columns[member];
    const bool counts = rank[column] == 0 && violation[column] <= 0;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      const double moved = exact::sub(value(k, column), ideal[k]);
      front(k, member) =
          counts ? exact::div(moved, exact::sub(nadir[k], ideal[k])) : exact::infinity();
    }
  }
};

}  // namespace kiln
