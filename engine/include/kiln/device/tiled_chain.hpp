// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/hamiltonian/glm_transition.hpp"
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"

namespace kiln::hmc {

/// One chain of a transition whose gradients are computed for several chains at once: the part of
/// fixed_transition() between two gradients, so that all chains proceed together. Chains of fewer
/// leapfrogs than others wait until the last one is done.
///
/// The whole team calls every member, for waiting chains as well. The caller runs
///     load(); take_forces() and take_energy() if the gradient is not known; start();
///     for l = 1, 2, ...: drift(l); take_forces(); kick(l);
///     take_energy(); finish()
template <class Team>
struct TiledChain {
  Mover<GeneralizedLinear, Team> mover;
  Phase phase;
  HmcTuning tuning;
  bool writes = true;  ///< false: a copy of a chain that other threads write

  EnergyParts before = {}, after = {};
  double h_before = 0, eps = 0;

  /// Loads the position, and its gradient if that is known.
  KILN_HD bool load() {
    const ChainState& chains = mover.chains;
    const std::int64_t slot = mover.slot;
    const bool known = chains.has_gradient(slot, mover.weights);
    mover.each([&](int i) {
      phase.x[i] = chains.position(i, slot);
      if (known) phase.g[i] = chains.gradient(i, slot);
    });
    if (known) before = {chains.base[slot], chains.term[slot]};
    mover.team.sync();
    return known;
  }

  /// Computes the gradient from that of the likelihood alone, likelihood(i) for each dimension; a
  /// chain with a known gradient skips it.
  template <class Likelihood>
  KILN_HD void take_forces(const Likelihood& likelihood, bool wanted = true) const {
    const double* precision = mover.density.prior_precision;
    if (wanted) {
      mover.each([&](int i) {
        phase.g[i] =
            mover.weights.base * precision[i] * phase.x[i] + mover.weights.term * likelihood(i);
      });
    }
    mover.team.sync();
  }

  /// Computes the energies at the present point from that of the likelihood.
  KILN_HD EnergyParts take_energy(double likelihood) const {
    const double* precision = mover.density.prior_precision;
    double sum = 0;
    mover.each([&](int i) { sum += 0.5 * precision[i] * phase.x[i] * phase.x[i]; });
    return {mover.team.sum(sum), likelihood};
  }

  /// Stores a newly computed gradient, so that a rejected transition leaves the chain with it.
  KILN_HD void keep(const EnergyParts& energies) {
    before = energies;
    if (writes) mover.store(phase.x, phase.g, before);
  }

  KILN_HD void start(const TransitionStatistics& statistics) {
    mover.refresh(phase);
    h_before = mover.weights(before) + mover.kinetic(phase);
    const std::uint32_t word =
        draw_word(draws_of(mover.chains, mover.slot, TransitionDraw::scalar), 0);
    eps = step_of(tuning, open_unit(word), statistics, mover.slot);
    after = before;
    push(0.5 * eps, tuning.leapfrogs > 0);
  }

  KILN_HD bool moves(std::int32_t leapfrog) const { return leapfrog <= tuning.leapfrogs; }

  KILN_HD void kick(std::int32_t leapfrog) {
    push(leapfrog == tuning.leapfrogs ? 0.5 * eps : eps, moves(leapfrog));
  }

  KILN_HD void drift(std::int32_t leapfrog) {
    const ChainState& chains = mover.chains;
    mover.metric.apply(mover.team, mover.dimension(), phase.z, mover.velocity);
    if (moves(leapfrog)) {
      mover.each([&](int i) {
        double x = phase.x[i] + eps * mover.velocity[i];
        if (chains.bounded)
          x = reflect_at_walls(x, chains.lower_of(i), chains.upper_of(i), phase.z[i]);
        phase.x[i] = x;
      });
    }
    mover.team.sync();
  }

  KILN_HD void finish(const TransitionStatistics& statistics, const EnergyParts& energies) {
    if (tuning.leapfrogs > 0) after = energies;
    const double h_after = mover.weights(after) + mover.kinetic(phase);
    finish_fixed(statistics, mover, phase, after, h_before, h_after, tuning.leapfrogs,
                 tuning.report_ends != 0, writes);
  }

 private:
  KILN_HD void push(double step, bool moving) {
    mover.metric.apply_transposed(mover.team, mover.dimension(), phase.g, mover.velocity);
    if (moving) mover.each([&](int i) { phase.z[i] -= step * mover.velocity[i]; });
    mover.team.sync();
  }
};

}  // namespace kiln::hmc
