// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"

namespace kiln {

/// Draws new states, uniform over the block: for all slots, or for those of some rungs.
///
/// Variable v of the batch uses the word with index v (RngDomain::initial_state at the current
/// step); unbounded reals start uniformly in [-2, 2], or within 4 of their only bound; permutations
/// by Fisher-Yates. With DrawNaming::planes spins and bits of packed words have the bits of
/// draw_first_planes(), a 32nd of the draws. Class E.
struct KILN_API RandomState {
  static constexpr const char* name = "random_state";
  static constexpr const char* summary =
      "draws uniform random states for all slots, or for the slots of some rungs";

  StateBlock block;
  std::int64_t first_variable = 0;    ///< number of the block's first variable within the space
  View1<const std::int32_t> rung_of;  ///< [slots]
  View1<const std::uint32_t>
      active_rungs;  ///< [rungs], slots of rungs with 0 are skipped; empty: all
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  DrawNaming naming = DrawNaming::words;
  std::uint32_t step_offset = 0;  ///< number of the sweep of the tick before which it draws

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD bool selects(std::int64_t slot) const {
    return !active_rungs || active_rungs[rung_of[slot]] != 0;
  }

  KILN_HD DrawName name_of(std::int64_t slot) const {
    return draw_ids.at(slot, control->step + step_offset, RngDomain::initial_state);
  }

  /// The value of a variable that is not part of a permutation.
  KILN_HD double value(std::int64_t variable, std::uint32_t word) const {
    switch (block.kind) {
      case BlockKind::spin:
        return (word >> 31) != 0 ? -1.0 : 1.0;
      case BlockKind::binary:
        return (word >> 31) != 0 ? 1.0 : 0.0;
      case BlockKind::category:
      case BlockKind::integer: {
        const auto span = static_cast<std::uint32_t>(block.upper - block.lower) + 1u;
        // span 0 means all 2^32 integers
        const std::uint32_t step = span == 0 ? word : below(word, span);
        return block.lower + static_cast<double>(step);
      }
      case BlockKind::real: {
        const double lower = block.lower_of(variable), upper = block.upper_of(variable);
        const bool from = lower > -1e300, to = upper < 1e300;
        const double low = from ? lower : to ? exact::sub(upper, 4.0) : -2.0;
        const double high = to ? upper : from ? exact::add(lower, 4.0) : 2.0;
        return exact::add(low, exact::mul(exact::sub(high, low), open_unit(word)));
      }
      case BlockKind::permutation:
        break;
    }
    return 0;
  }

  KILN_HD void shuffle(std::int64_t slot) const {
    const DrawName draws = name_of(slot);
    for (std::int64_t i = 0; i < block.variables; ++i) block.set(i, slot, static_cast<double>(i));
    for (std::int64_t i = block.variables - 1; i > 0; --i) {
      const auto index = static_cast<std::uint32_t>(first_variable + i);
      const std::int64_t j = below(draw_word(draws, index), static_cast<std::uint32_t>(i) + 1u);
      const double a = block.get(i, slot), b = block.get(j, slot);
      block.set(i, slot, b);
      block.set(j, slot, a);
    }
  }
};

}  // namespace kiln
