// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/nondominated_ranks.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Removes points from their fronts that equal an earlier one of their group in all objectives and
/// in the violation: the first column of equal points keeps its rank, the others get no_front.
/// Points on no front are unchanged. Without it, duplicates fill a converging population. Class E.
/// @par Cost  About two visits of a hash table for each point on CUDA, n log n on the CPU.
struct KILN_API MarkDuplicates {
  static constexpr const char* name = "mark_duplicates";
  static constexpr const char* summary =
      "removes from each front the points that equal an earlier point of the group";

  ObjectivePoints points;
  View1<std::int32_t> rank;             ///< [points], changed in place
  View1<std::byte> scratch;             ///< scratch_bytes(points), aligned to 256 bytes
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  /// Whether two points have the same values; NaN equals nothing.
  KILN_HD bool equal(std::int64_t a, std::int64_t b) const {
    if (points.violation && points.violation[a] != points.violation[b]) return false;
    for (std::int64_t k = 0; k < points.value.rows; ++k) {
      if (!(points.value(k, a) == points.value(k, b))) return false;
    }
    return true;
  }
  /// Size of the hash table of a group: a power of two, at most half full.
  KILN_HD static constexpr std::int64_t table_size(std::int64_t points) {
    std::int64_t size = 64;
    while (size < 2 * points) size *= 2;
    return size;
  }
  static constexpr std::int64_t scratch_bytes(const PointGroups& groups) {
    return 4 * groups.groups * table_size(groups.size);
  }
};

}  // namespace kiln
