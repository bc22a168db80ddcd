// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/bifurcation/bifurcation_rule.hpp"
#include "kiln/kernels/bifurcation/kernels.hpp"

namespace kiln {

/// Writes the signs of positions as packed spins: the bit of a slot is 1 for a negative position.
///
/// States are read where they are worth their energies: after the ticks of the second half of a
/// round, after each fifth tick of the first half, and after the first tick of the run, so that a
/// run that ends early has more than its random start. Class E.
struct KILN_API BifurcationReadout {
  static constexpr const char* name = "bifurcation_readout";
  static constexpr const char* summary = "writes the signs of positions as packed spins";

  View1<const std::int32_t> variable;   ///< [sites], -1: no variable
  View2<const float> position;          ///< [sites][slots]
  View2<std::uint32_t> state;           ///< packed32 [variable][slots / 32], overwritten
  const RunControl* control = nullptr;  ///< nothing is written once the run has stopped
  std::uint32_t step_offset = 0;
  BifurcationRounds rounds;
  std::uint32_t steps = 0;       ///< of a tick; 0: states are read after all
  View1<std::uint32_t> is_read;  ///< [groups], 1 if states are read after this tick; may be empty

  double bytes() const { return bytes_of(position) + bytes_of(state); }
  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD bool reads() const {
    if (steps == 0 || control->step == 0) return true;
    const BifurcationRounds::Place place = rounds.at(control->step + step_offset + steps - 1);
    const std::int64_t done = place.step + 1;
    return 2 * done > place.length || done / steps % 5 == 0;
  }
};

}  // namespace kiln
