// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"

namespace kiln {

/// Ends a transition of every chain: see batched_trajectory.hpp.
///
/// It accepts the proposal with probability min(1, exp(H - H')) by the word that HmcTransition
/// draws; a Hamiltonian that is not finite rejects. It updates position, gradient and energies of
/// the chain, and the statistics.
struct KILN_API HamiltonianAccept : BatchedArguments {
  static constexpr const char* name = "hamiltonian_accept";
  static constexpr const char* summary =
      "ends a batched transition of every chain: accepts or rejects, and records statistics";

  struct Decision {
    double before = 0, after = 0;  ///< Hamiltonians
    bool finite = false, accept = false;
    KILN_HD double error() const { return exact::sub(after, before); }
  };

  KILN_HD double part(std::int64_t slot, int worker) const { return squares(slot, worker); }

  KILN_HD Decision decide(std::int64_t slot, double total) const {
    const PartWeights weights = chains.weights(chains.rung_of[slot]);
    Decision d;
    d.before = exact::add(exact_potential(weights, chains.base[slot], chains.term[slot]),
                          trajectory.kinetic[slot]);
    d.after = exact::add(exact_potential(weights, trajectory.base[slot], trajectory.term[slot]),
                         exact::mul(0.5, total));
    d.finite = exact::sub(d.error(), d.error()) == 0.0;
    d.accept = d.finite && exact::accept(1.0, d.error(), scalar_word(slot, 1));
    return d;
  }

  KILN_HD void finish(std::int64_t slot, int worker, const Decision& d) const {
    const bool report = statistics.proposal.data != nullptr && tuning_of(slot).report_ends != 0;
    for (std::int64_t i = worker; i < dimension(); i += workers) {
      if (report) {
        statistics.start(i, slot) = chains.position(i, slot);
        statistics.proposal(i, slot) = trajectory.proposal(i, slot);
        statistics.velocity(i, slot) = exact::mul(scale_of(slot, i), trajectory.momentum(i, slot));
      }
      if (!d.accept) continue;
      chains.position(i, slot) = trajectory.proposal(i, slot);
      chains.gradient(i, slot) = trajectory.gradient(i, slot);
    }
    if (worker == 0) finish_scalars(slot, d);
  }

 private:
  KILN_HD void finish_scalars(std::int64_t slot, const Decision& d) const {
    const TransitionStatistics& s = statistics;
    if (d.accept) {
      chains.base[slot] = trajectory.base[slot];
      chains.term[slot] = trajectory.term[slot];
    }
    chains.energy[slot] = exact::add(chains.base[slot], chains.term[slot]);
    const double error = d.error();
    if (s.acceptance) {
      s.acceptance[slot] = d.finite ? (error <= 0 ? 1.0 : exact::exp(-error)) : 0.0;
    }
    if (s.hamiltonian) s.hamiltonian[slot] = d.accept ? d.after : d.before;
    if (s.leapfrogs) s.leapfrogs[slot] = leapfrogs_of(slot);
    if (s.gradients) s.gradients[slot] += static_cast<std::uint64_t>(leapfrogs_of(slot));
    if (s.depth) s.depth[slot] = 0;
    if (s.divergent) s.divergent[slot] = d.finite && error <= divergence_bound ? 0 : 1;
    if (s.accepted && d.accept) ++s.accepted[slot];
    if (s.not_finite && !d.finite) ++s.not_finite[slot];
  }
};

}  // namespace kiln
