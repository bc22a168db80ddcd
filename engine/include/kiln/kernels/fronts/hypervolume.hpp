// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/dominated_volume.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// The volume between the points of each group and a reference point that at least one point
/// dominates. Points that are not below the reference in every objective, or have a NaN, do not
/// count.
///
/// Up to four objectives it is exact to rounding: each point adds the volume that no earlier point
/// in the order of the last objective dominates, and all terms of all sums are positive. From five
/// objectives on it is sampled, with the half width of a 95 % interval; key, group and number
/// identify the samples, so the counts are the same on every backend.
///
/// Contributions, the volume lost without a point, are exact up to three objectives.
/// @par Cost  n log n for two objectives, n^2 simple steps for three, n^2 times the number of
/// levels that cut into a point's own volume for four and for contributions of three; samples x n x
/// objectives, or less, beyond.
struct KILN_API Hypervolume {
  static constexpr const char* name = "hypervolume";
  static constexpr const char* summary =
      "computes the hypervolume of each group, and with at most 3 objectives the contribution of "
      "each point";
  static constexpr const char* accuracy = "D";
  static constexpr std::int64_t max_exact = 4;          ///< objectives
  static constexpr std::int64_t max_contributions = 3;  ///< objectives
  static constexpr std::int64_t max_objectives = 64;
  static constexpr const char* refusal =
      "hypervolume takes 1 to 64 objectives and at least one sample; it computes contributions for "
      "at most three objectives";

  View2<const double> value;  ///< [objectives][points]
  PointGroups groups;
  View1<const double> reference;     ///< [objectives]
  View1<double> volume;              ///< [groups]
  View1<double> half_width;          ///< [groups], of the interval, 0 where exact; may be empty
  View1<double> contribution;        ///< [points], at most max_contributions objectives; or empty
  View1<std::byte> scratch;          ///< scratch_bytes(), aligned to 256 bytes
  std::uint64_t samples = 1u << 20;  ///< per group beyond max_exact, at least; > 0
  std::uint64_t key = 0;             ///< of the draws
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD bool exact_volume() const { return value.rows <= max_exact; }
  KILN_HD std::uint64_t samples_per_shift() const {
    return (samples + VolumeSamples::shifts - 1) / VolumeSamples::shifts;
  }
  KILN_HD bool counts(std::int64_t point) const {
    bool below = true;
    for (std::int64_t k = 0; k < value.rows; ++k) below &= value(k, point) < reference[k];
    return below;
  }
  /// Whether the launch is possible; backends refuse it otherwise: InvalidArgument.
  bool valid() const {
    return value.rows >= 1 && value.rows <= max_objectives && samples > 0 &&
           (!contribution || value.rows <= max_contributions);
  }

  /// Scratch bytes of a launch, on any backend.
  static constexpr std::int64_t scratch_bytes(const PointGroups& groups, std::int64_t columns,
                                              std::int64_t objectives) {
    if (objectives <= max_exact) return 2560 + 4 * groups.groups + 80 * columns;
    return 1024 + 8 * groups.groups * (objectives + VolumeSamples::shifts);
  }
};

}  // namespace kiln
