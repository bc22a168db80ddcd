// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/nondominated_ranks.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// The crowding distance of each point on its front: the sum over the objectives of the distance
/// between its two neighbours, in units of the range of the front.
///
/// In each objective the points of a front are sorted by value, ties by column. The first and the
/// last get infinity. An objective with all values equal is ignored, and one of infinite range adds
/// nothing between its ends. On a front of one or two points all get infinity. Points on no front
/// get 0.
///
/// Class E: the terms of a point are added in the order of the objectives.
/// @par Source  Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182.
struct KILN_API CrowdingDistance {
  static constexpr const char* name = "crowding_distance";
  static constexpr const char* summary =
      "computes the crowding distance of each point on its front";
  static constexpr std::int64_t block_points = 1024;

  View2<const double> value;  ///< [objectives][points]
  PointGroups groups;
  /// [points], from NondominatedRanks; fronts are those of a group
  View1<const std::int32_t> rank;
  View1<double> distance;               ///< [points]
  View1<std::byte> scratch;             ///< scratch_bytes(), aligned to 256 bytes
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  /// Scratch bytes of a launch, on any backend.
  static constexpr std::int64_t scratch_bytes(const PointGroups& groups, std::int64_t columns) {
    return groups.size <= block_points ? 0 : 512 + 32 * columns;
  }

  /// The term of an objective for a point with neighbours on a front that spans [least, greatest].
  KILN_HD static double term(double before, double after, double least, double greatest) {
    const double range = exact::sub(greatest, least);
    if (!(range > 0) || range == exact::infinity()) return 0;
    return exact::div(exact::sub(after, before), range);
  }
};

}  // namespace kiln
