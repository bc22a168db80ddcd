// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Computes Pareto dominance for all pairs of points of each group.
///
/// Rows belong to points, columns to the points of the same group in their order, so that a batch
/// of groups needs [points][largest group] values. Each of the four results is optional. A 0 in the
/// matrix means that neither dominates the other, not that either is on a front.
/// @par Cost  n^2 comparisons of `objectives` values in a group of n; only the requested results
/// are stored. nondominated_ranks needs none of them.
struct KILN_API ParetoDominance {
  static constexpr const char* name = "pareto_dominance";
  static constexpr const char* summary =
      "computes Pareto dominance for all pairs of points, as a matrix, as bits and as counts";

  ObjectivePoints points;
  View2<std::int8_t> matrix;  ///< [points][groups.size]: 1 the row dominates the column, -1 the
                              ///< column the row, else 0, also beyond the end of a small group
  View2<std::uint32_t> bits;  ///< [points][words_of(groups.size)]: bit j % 32 of word j / 32 is set
                              ///< if the row dominates column j
  View1<std::int32_t> dominates;        ///< [points], number of points that each dominates
  View1<std::int32_t> dominated_by;     ///< [points], number of points that dominate each
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD static std::int64_t words_of(std::int64_t columns) { return (columns + 31) / 32; }
};

}  // namespace kiln
