// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Assigns a value to a variable of every replica by its index: a common trial value, or the value
/// drawn for each.
///
/// Value i of a spin is -1 or +1, else lower + i. On trial (`drawn` empty) all replicas get
/// `index`; value 0 is tried first and fills `before`. With `drawn`, each slot takes its drawn
/// value and the energy of that candidate, and counts it as accepted if it differs from `before`;
/// without a draw (-1) the previous value is restored and the energy stays. It makes heat-bath
/// moves for objectives that are evaluated as a whole. Class E.
struct KILN_API AssignVariable {
  static constexpr const char* name = "assign_variable";
  static constexpr const char* summary =
      "assigns a value to one variable of every replica: a trial value, or a drawn value";

  StateBlock block;                 ///< spins, bits, categories or integers; not packed32
  std::int64_t variable = 0;        ///< of the block
  std::int32_t index = 0;           ///< trial value
  View1<double> before;             ///< [slots]
  View1<const std::int32_t> drawn;  ///< [slots]; empty: on trial
  View2<const double> candidates;   ///< [index][slot], their energies
  View1<double> energy;             ///< [slots], of the state
  View1<std::uint64_t> accepted;    ///< [slots], counts
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  View1<const std::int32_t> rung_of = {};  ///< [slots], used with `only`
  View1<const std::uint32_t> active_rungs =
      {};  ///< [rungs], slots of rungs with 0 keep their value; empty: none

  KILN_HD bool rests(std::int64_t slot) const {
    return active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0;
  }
  KILN_HD double value_of(std::int32_t i) const {
    if (block.kind == BlockKind::spin) return i == 0 ? -1.0 : 1.0;
    return block.lower + static_cast<double>(i);
  }

  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    if (!drawn) {
      if (index == 0) before[slot] = block.get(variable, slot);
      block.set(variable, slot, value_of(index));
      return;
    }
    const std::int32_t chosen = rests(slot) ? -1 : drawn[slot];
    if (chosen < 0) {
      block.set(variable, slot, before[slot]);
      return;
    }
    const double value = value_of(chosen);
    block.set(variable, slot, value);
    energy[slot] = candidates(chosen, slot);
    if (value != before[slot]) ++accepted[slot];
  }
};

}  // namespace kiln
