// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"

namespace kiln {

/// Begins a transition of every chain: see batched_trajectory.hpp.
///
/// It draws z ~ N(0, I) by the names of HmcTransition, sets the proposal to the position, jitters
/// the step size, and stores the weights for the gradient at the position.
struct KILN_API MomentumRefresh : BatchedArguments {
  static constexpr const char* name = "momentum_refresh";
  static constexpr const char* summary =
      "starts a batched transition of every chain: draws the momentum and the step size";

  KILN_HD double part(std::int64_t slot, int worker) const {
    const DrawName named = draws(slot, TransitionDraw::momentum);
    for (std::int64_t i = worker; i < dimension(); i += workers) {
      trajectory.momentum(i, slot) = standard_normal(named, static_cast<std::uint32_t>(i));
      trajectory.proposal(i, slot) = chains.position(i, slot);
    }
    return squares(slot, worker);
  }
  KILN_HD double decide(std::int64_t, double total) const { return exact::mul(0.5, total); }
  KILN_HD void finish(std::int64_t slot, int worker, double kinetic) const {
    if (worker != 0) return;
    const PartWeights weights = chains.weights(chains.rung_of[slot]);
    trajectory.step[slot] =
        step_of(tuning_of(slot), open_unit(scalar_word(slot, 0)), statistics, slot);
    trajectory.kinetic[slot] = kinetic;
    chains.gradient_base_weight[slot] = weights.base;
    chains.gradient_term_weight[slot] = weights.term;
  }
};

}  // namespace kiln
