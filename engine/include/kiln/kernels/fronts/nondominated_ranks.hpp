// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// The nondominated rank of every point: 0 for nondominated points, 1 for those that only points of
/// front 0 dominate, and so on. It is the length of the longest chain of dominators above a point.
///
/// Dominance is that of ObjectivePoints. So infeasible points follow all fronts of feasible ones,
/// one front for each violation, at little cost; equal points share a front. Points with a NaN are
/// on no front: they get no_front, greater than any rank, and are counted.
/// @par Cost  n log n for one or two objectives, n^2 / 2 comparisons for more, whatever the number
/// of fronts. Groups of at most `block_points` points take a block each on a GPU and need no
/// scratch.
/// @par Source  Longest chains by patience: Fredman, Discrete Math. 11 (1975) 29; for the method at
/// three objectives and more see docs/adr/0016-ranks-as-longest-chains.md.
struct KILN_API NondominatedRanks {
  static constexpr const char* name = "nondominated_ranks";
  static constexpr const char* summary =
      "computes the nondominated rank of every point of many populations";
  static constexpr std::int32_t no_front = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int64_t block_points = 1024;

  ObjectivePoints points;
  View1<std::int32_t> rank;      ///< [points]
  View1<std::int32_t> fronts;    ///< [groups], number of fronts; may be empty
  View1<std::int32_t> unranked;  ///< [groups], points with a NaN; may be empty
  View1<std::byte> scratch;      ///< scratch_bytes(points), aligned to 256 bytes; uninitialised
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  /// Scratch bytes of a launch, on any backend.
  /// @param groups  the populations
  /// @param columns of all groups.
  /// @param objectives  of a point
  static constexpr std::int64_t scratch_bytes(const PointGroups& groups, std::int64_t columns,
                                              std::int64_t objectives) {
    if (groups.size <= block_points) return 0;
    const std::int64_t of_point = 36 + 8 * (objectives - 1) + (objectives == 2 ? 128 : 0);
    return 2048 + 16 * groups.groups + of_point * columns;
  }
};

}  // namespace kiln
