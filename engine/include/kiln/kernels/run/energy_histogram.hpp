// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Adds the energy of every replica to the histogram of its rung. Bin b of a histogram has the
/// energies from low + b w up to, but not including, low + (b + 1) w; a cell before the bins counts
/// what is below, one behind them what is above, +infinity and NaN.
///
/// What lies in bin b is decided by (energy - low) * (1 / w) in double, so an energy within
/// rounding of an edge may be counted on its other side: by every backend on the same one. Where
/// energies are integers, put edges between them.
///
/// Class E: counts are integers, which may be added in any order. A CUDA block counts in shared
/// memory where all histograms have at most `shared_cells` cells together, and else straight in
/// device memory.
struct KILN_API EnergyHistogram {
  static constexpr const char* name = "energy_histogram";
  static constexpr const char* summary = "counts the energies of replicas in bins, for each rung";
  static constexpr int shared_cells = 4096;

  View1<const double> energy;         ///< [slots]
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const double> range;          ///< [2]: low and 1 / w, in the unit of the energies
  View2<std::uint64_t> count;         ///< [rungs][1 + bins + 1], without gaps between rows
  std::int64_t replicas = 0;          ///< slots behind them are padding, and not counted
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD std::int64_t cells() const { return count.rows * count.columns; }
  /// Where in `count` the energy of a slot belongs.
  KILN_HD std::int64_t cell_of(std::int64_t slot) const {
    return rung_of[slot] * count.columns + column_of(energy[slot]);
  }

 private:
  KILN_HD std::int64_t column_of(double e) const {
    if (e < range[0]) return 0;
    const std::int64_t bins = count.columns - 2;
    const double bin = exact::mul(exact::sub(e, range[0]), range[1]);
    return bin < static_cast<double>(bins) ? 1 + static_cast<std::int64_t>(bin) : 1 + bins;
  }
};

}  // namespace kiln
