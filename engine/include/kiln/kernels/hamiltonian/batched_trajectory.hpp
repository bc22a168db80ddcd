// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"

/// A Hamiltonian transition of all chains in several launches, for densities whose gradient is a
/// product with a matrix or another kernel over the whole batch:
///
///     MomentumRefresh; gradient and energies at the position
///     Leapfrog 0; gradient at the proposal; Leapfrog 1; ...; Leapfrog n
///     HamiltonianAccept, with the energies at the proposal
///
/// Arrays are [dimension][slots]. Eight workers share the dimensions of a slot: worker w has w, w +
/// 8, ..., and sums over dimensions are added in the order of the workers, so that a GPU and a CPU
/// have the same bits.
namespace kiln {

/// The state of a trajectory of every chain between those launches.
struct BatchedTrajectory {
  View2<double> momentum;    ///< [dimension][slots], whitened: see Metric
  View2<double> proposal;    ///< [dimension][slots]
  View2<double> gradient;    ///< [dimension][slots], of the weighted potential at the proposal
  View1<double> base, term;  ///< [slots], energies at the proposal
  View1<double> step;        ///< [slots], step size of this transition
  View1<double> kinetic;     ///< [slots], initial kinetic energy
};

/// Common arguments of its kernels.
struct BatchedArguments {
  static constexpr int workers = 8;  ///< that share the dimensions of a slot

  ChainState chains;
  BatchedTrajectory trajectory;
  View1<const double> scale;      ///< [pools * dimension], a diagonal metric
  View1<const HmcTuning> tuning;  ///< [pools]
  TransitionStatistics statistics;
  std::int32_t limit = 0;  ///< number of leapfrog launches

  KILN_HD bool active() const { return chains.control->active(chains.step_offset); }
  KILN_HD std::int64_t slots() const { return chains.replicas; }
  KILN_HD std::int64_t dimension() const { return chains.position.rows; }
  KILN_HD std::int64_t pool_of(std::int64_t slot) const {
    return chains.rung_of[slot] % tuning.size;
  }
  KILN_HD const HmcTuning& tuning_of(std::int64_t slot) const { return tuning[pool_of(slot)]; }
  KILN_HD std::int32_t leapfrogs_of(std::int64_t slot) const {
    const std::int32_t wanted = tuning_of(slot).leapfrogs;
    return wanted < limit ? wanted : limit;
  }
  KILN_HD double scale_of(std::int64_t slot, std::int64_t i) const {
    return scale[pool_of(slot) * dimension() + i];
  }
  KILN_HD std::uint32_t scalar_word(std::int64_t slot, std::uint32_t index) const {
    return draw_word(draws(slot, TransitionDraw::scalar), index);
  }
  KILN_HD DrawName draws(std::int64_t slot, TransitionDraw what) const {
    DrawName of =
        chains.draw_ids.at(slot, chains.control->step + chains.step_offset, RngDomain::momentum);
    of.block = static_cast<std::uint8_t>(what);
    return of;
  }
  /// The worker's part of |momentum|^2.
  KILN_HD double squares(std::int64_t slot, int worker) const {
    double sum = 0;
    for (std::int64_t i = worker; i < dimension(); i += workers) {
      const double z = trajectory.momentum(i, slot);
      sum = exact::add(sum, exact::mul(z, z));
    }
    return sum;
  }
};

/// PartWeights::operator() with the same bits everywhere.
KILN_HD inline double exact_potential(const PartWeights& w, double base, double term) {
  return exact::add(w.base == 0 ? 0.0 : exact::mul(w.base, base),
                    w.term == 0 ? 0.0 : exact::mul(w.term, term));
}

}  // namespace kiln
