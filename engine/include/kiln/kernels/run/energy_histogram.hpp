// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Adds the energy of every replica to the histogram of its rung. Bin b has the energies in [low +
/// b w, low + (b + 1) w); a cell before the bins counts smaller energies, one after them larger
/// ones, +infinity and NaN.
///
/// The bin is computed from (energy - low) * (1 / w) in double, so an energy within rounding of an
/// edge may be counted on its other side, equally by every backend. For integer energies, put edges
/// between them.
///
/// Class E: counts are integers, which may be added in any order. A CUDA block counts in shared
/// memory if all histograms together have at most `shared_cells` cells, else in device memory.
struct KILN_API EnergyHistogram {
  static constexpr const char* name = "energy_histogram";
  static constexpr const char* summary = "counts the energies of the replicas of each rung in bins";
  static constexpr int shared_cells = 4096;

  View1<const double> energy;         ///< [slots]
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const double> range;          ///< [2]: low and 1 / w, in the unit of the energies
  View2<std::uint64_t> count;         ///< [rungs][1 + bins + 1], without gaps between rows
  std::int64_t replicas = 0;          ///< later slots are padding, and not counted
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD std::int64_t cells() const { return count.rows * count.columns; }
  /// The index in `count` for the energy of a slot.
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
