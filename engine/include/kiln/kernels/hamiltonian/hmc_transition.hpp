// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hmc_trajectory.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/sweeps/density_ref.hpp"

namespace kiln {

/// Makes one transition of Hamiltonian Monte Carlo with a fixed number of leapfrogs for every
/// chain: momentum, trajectory and decision in one launch.
///
/// z ~ N(0, I); then `leapfrogs` times  z -= eps/2 S^T g;  x += eps S z;  z -= eps/2 S^T g,  with g
/// the gradient of beta (base + lambda term), neighbouring half kicks merged; the end is accepted
/// with probability min(1, exp(H - H')). A Hamiltonian that is not finite rejects; an error beyond
/// 1000 is a divergence. Walls reflect; with walls the metric must be diagonal. Energies are in
/// double. Chains of infinite beta rest: DensityDescent moves those. A transition costs `leapfrogs`
/// gradients; the first gradient is kept from the transition before. Class S6: backends agree while
/// a trajectory is short; draws are the same.
/// @par Source  Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195 (1987) 216; Neal, "MCMC using
/// Hamiltonian dynamics" (2011).
struct KILN_API HmcTransition {
  static constexpr const char* name = "hmc_transition";
  static constexpr const char* summary = "makes one HMC transition of fixed length for every chain";
  static constexpr const char* accuracy = "S6";

  DensityRef density;
  ChainState chains;
  MetricView metric;
  /// [pools], indexed by rung number modulo its size, as the metric is
  View1<const HmcTuning> tuning;
  TransitionStatistics statistics;
  ChainLayout layout = ChainLayout::thread;
  View1<double> scratch;  ///< [slots * scratch_size()], for teams with vectors in memory

  /// Doubles of scratch memory per chain: x, z, g, velocity, and the density's workspace.
  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return 4 * dimension + workspace;
  }
  double bytes() const { return chains.bytes(); }
  KILN_HD std::int64_t chain_count() const { return chains.replicas; }
  KILN_HD bool active() const { return chains.control->active(chains.step_offset); }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const;
  template <class Density>
  requires(Density::fixed_dimension > 0)  // else four threads are as fast, or faster
      KILN_HD void run_in_registers(const Density& target, std::int64_t slot, double* work) const;
};

namespace hmc {

/// The decision at the end of a trajectory of fixed length, and its statistics. `writes` is false
/// for threads that only take part in the team's barriers.
template <class Density, class Team>
KILN_HD void finish_fixed(const TransitionStatistics& s, const Mover<Density, Team>& mover,
                          const Phase& phase, const EnergyParts& after, double h_before,
                          double h_after, std::int32_t leapfrogs, bool report_ends,
                          bool writes = true) {
  const ChainState& chains = mover.chains;
  const std::int64_t slot = mover.slot;
  const double error = h_after - h_before;
  const bool finite = exact::sub(error, error) == 0.0;
  const std::uint32_t word = draw_word(draws_of(chains, slot, TransitionDraw::scalar), 1);
  const bool accept = finite && exact::accept(1.0, error, word);
  if (s.proposal.data != nullptr) {
    if (report_ends || shares_barriers<Team>) {
      mover.metric.apply(mover.team, mover.dimension(), phase.z, mover.velocity);
    }
    if (report_ends && writes) {
      mover.each([&](int i) {
        s.start(i, slot) = chains.position(i, slot);
        s.proposal(i, slot) = phase.x[i];
        s.velocity(i, slot) = mover.velocity[i];
      });
    }
  }
  if (!(mover.weights.base < exact::infinity())) return;  // a resting chain
  if (accept && writes) mover.store(phase.x, phase.g, after);
  if (mover.team.rank() != 0 || !writes) return;
  if (s.acceptance) s.acceptance[slot] = finite ? (error <= 0 ? 1.0 : exact::exp(-error)) : 0.0;
  if (s.hamiltonian) s.hamiltonian[slot] = accept ? h_after : h_before;
  if (s.leapfrogs) s.leapfrogs[slot] = leapfrogs;
  if (s.gradients) s.gradients[slot] += static_cast<std::uint64_t>(leapfrogs);
  if (s.depth) s.depth[slot] = 0;
  if (s.divergent) s.divergent[slot] = finite && error <= divergence_bound ? 0 : 1;
  if (s.accepted && accept) ++s.accepted[slot];
  if (s.not_finite && !finite) ++s.not_finite[slot];
}

/// The transition of one chain. `scratch` has HmcTransition::scratch_size() doubles of this team.
template <class Density, class Team>
KILN_HD void fixed_transition(const HmcTransition& kernel, const Density& density, const Team& team,
                              std::int64_t slot, double* x, double* z, double* g, double* velocity,
                              double* work) {
  const ChainState& chains = kernel.chains;
  const std::int64_t rung = chains.rung_of[slot];
  if (!(chains.beta[rung] < exact::infinity())) return;
  const HmcTuning tuning = kernel.tuning[rung % kernel.tuning.size];
  const Mover<Density, Team> mover{density,  team,
                                   chains,   kernel.metric.of_pool(rung % kernel.tuning.size),
                                   slot,     chains.weights(rung),
                                   velocity, work};
  const Phase phase{x, z, g};
  const EnergyParts before = mover.load(phase);
  mover.refresh(phase);
  const double h_before = mover.weights(before) + mover.kinetic(phase);
  const std::uint32_t word = draw_word(draws_of(chains, slot, TransitionDraw::scalar), 0);
  const double eps = step_of(tuning, open_unit(word), kernel.statistics, slot);
  const EnergyParts after = mover.leapfrogs(phase, eps, tuning.leapfrogs, before);
  const double h_after = mover.weights(after) + mover.kinetic(phase);
  finish_fixed(kernel.statistics, mover, phase, after, h_before, h_after, tuning.leapfrogs,
               tuning.report_ends != 0);
}

}  // namespace hmc

template <class Density, class Team>
KILN_HD void HmcTransition::run(const Density& target, const Team& team, std::int64_t slot,
                                double* memory) const {
  const int d = dimension_of(target);
  hmc::fixed_transition(*this, target, team, slot, memory, memory + d, memory + 2 * d,
                        memory + 3 * d, memory + 4 * d);
}

template <class Density>
requires(Density::fixed_dimension > 0) KILN_HD
    void HmcTransition::run_in_registers(const Density& target, std::int64_t slot,
                                         double* work) const {
  double x[Density::fixed_dimension], z[Density::fixed_dimension], g[Density::fixed_dimension],
      velocity[Density::fixed_dimension];
  hmc::fixed_transition(*this, target, SingleTeam{}, slot, x, z, g, velocity, work);
}

}  // namespace kiln
