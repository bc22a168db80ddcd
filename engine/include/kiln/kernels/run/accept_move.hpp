// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/propose_move.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Accepts or undoes the move of ProposeMove by the Metropolis rule.
///
/// Uphill steps are accepted with probability exp(-beta dE), decided as in MetropolisSweep with the
/// word named by (RngDomain::accept, sweep, attempt). A trial energy that is NaN or +inf is counted
/// and never accepted, unless the current energy is not finite either and the trial is. Class E.
struct KILN_API AcceptMove {
  static constexpr const char* name = "accept_move";
  static constexpr const char* summary =
      "accepts or undoes the proposed move of each replica by the Metropolis rule";

  StateBlock block;  ///< the block that ProposeMove changed
  MoveUndo undo;
  View1<double> energy;               ///< [slots], of the state before; replaced if accepted
  View1<const double> trial_energy;   ///< [slots], of the trial state
  View1<std::uint64_t> accepted;      ///< [slots], counts
  View1<std::uint64_t> not_finite;    ///< [slots], counts trial energies that are not finite
  View1<const double> beta;           ///< [rungs], 1/energy
  View1<const std::int32_t> rung_of;  ///< [slots]
  DrawIds draw_ids;
  double inverse_scale = 1;
  const RunControl* control = nullptr;
  std::uint32_t attempt = 0;
  std::uint32_t step_offset = 0;
  View1<const std::uint32_t> active_rungs =
      {};  ///< [rungs], moves of rungs with 0 are undone; empty: none

  KILN_HD bool rests(std::int64_t slot) const {
    return active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0;
  }
  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset) || takes(slot, trial_energy[slot])) return;
    if (block.kind == BlockKind::permutation) {
      ProposeMove::reverse(block, slot, undo.first[slot], undo.second[slot]);
    } else {
      block.set(undo.first[slot], slot, undo.value[slot]);
    }
  }

  /// Decides about a trial energy, and takes it over if the move is accepted.
  KILN_HD bool takes(std::int64_t slot, double trial) const {
    const double current = energy[slot];
    const bool finite = exact::sub(trial, trial) == 0.0;
    bool take = false;
    if (!finite) {
      ++not_finite[slot];
    } else if (rests(slot)) {
      take = false;
    } else if (exact::sub(current, current) != 0.0) {
      take = true;  // any finite energy is better than a start without one
    } else {
      const DrawName draws = draw_ids.at(slot, control->step + step_offset, RngDomain::accept);
      const double b = exact::mul(beta[rung_of[slot]], inverse_scale);
      take = exact::accept(b, exact::sub(trial, current), draw_word(draws, attempt));
    }
    if (take) {
      energy[slot] = trial;
      ++accepted[slot];
    }
    return take;
  }
};

}  // namespace kiln
