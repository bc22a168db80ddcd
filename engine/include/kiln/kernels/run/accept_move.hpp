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
    if (!finite(trial)) ++not_finite[slot];
    const bool take = accepts(slot, energy[slot], trial, [&] { return word(slot, attempt); });
    if (take) {
      energy[slot] = trial;
      ++accepted[slot];
    }
    return take;
  }

  KILN_HD static bool finite(double value) { return exact::sub(value, value) == 0.0; }

  /// Whether the Metropolis rule takes a trial energy in place of the current one; counts nothing.
  /// word() gives the random word of the attempt, and is called only if the rule needs it.
  template <class Word>
  KILN_HD bool accepts(std::int64_t slot, double current, double trial, const Word& word) const {
    if (!finite(trial) || rests(slot)) return false;
    if (!finite(current)) return true;  // any finite energy is better than a start without one
    const double b = exact::mul(beta[rung_of[slot]], inverse_scale);
    return exact::accept(b, exact::sub(trial, current), word());
  }

  /// The random word by which an attempt of a slot is decided.
  KILN_HD std::uint32_t word(std::int64_t slot, std::uint32_t of_attempt) const {
    return draw_word(draw_ids.at(slot, control->step + step_offset, RngDomain::accept), of_attempt);
  }
};

}  // namespace kiln
