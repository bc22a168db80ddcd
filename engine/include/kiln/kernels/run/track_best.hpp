// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Keeps, for every replica, the best state at the end of a tick.
///
/// If energy < best_energy the state is copied to the best state; ties keep the earlier one, NaN
/// and infinities are never best. control->best_key falls to the best of all replicas. Padding
/// slots never count. Of the replicas that have the energy control->wanted, control->finder becomes
/// the first. Class E.
struct KILN_API TrackBest {
  static constexpr const char* name = "track_best";
  static constexpr const char* summary =
      "updates the best state of each replica at the end of a tick";
  static constexpr int max_blocks = 8;

  StateBlock state[max_blocks];
  StateBlock best[max_blocks];
  std::int32_t n_blocks = 0;
  std::int64_t replicas = 0;
  View1<const double> energy;  ///< [slots]
  View1<double> best_energy;   ///< [slots]
  View1<std::uint64_t>
      best_step;  ///< [slots], step at the beginning of the tick that found the best
  View1<std::uint32_t> improved;                  ///< [slots / 32], scratch: which slots improved
  View1<const std::int32_t> replica_of, rung_of;  ///< [slots]; empty: no finder is looked for
  RunControl* control = nullptr;                  ///< nothing is done once stopped

  /// No replica improves at least.
  double bytes() const { return bytes_of(energy) + bytes_of(best_energy); }
};

}  // namespace kiln
