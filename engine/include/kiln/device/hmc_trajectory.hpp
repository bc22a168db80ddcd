// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"

/// The steps that fixed-length transitions and NUTS share: a team works on one chain.
namespace kiln::hmc {

/// A point of phase space. Vectors of [dimension], shared by the team.
struct Phase {
  double* x = nullptr;
  double* z = nullptr;  ///< whitened momentum, see Metric
  double* g = nullptr;  ///< gradient of the weighted potential
};

KILN_HD inline DrawName draws_of(const ChainState& chains, std::int64_t slot, TransitionDraw what) {
  DrawName name =
      chains.draw_ids.at(slot, chains.control->step + chains.step_offset, RngDomain::momentum);
  name.block = static_cast<std::uint8_t>(what);
  return name;
}

/// The data of the chain that a team moves.
template <class Density, class Team>
struct Mover {
  const Density& density;
  const Team& team;
  const ChainState& chains;
  Metric metric;
  std::int64_t slot;
  PartWeights weights;
  double* velocity;  ///< [dimension], scratch for products with the metric
  double* work;      ///< [density.workspace()]

  KILN_HD constexpr int dimension() const { return dimension_of(density); }

  template <class Body>
  KILN_HD void each(const Body& body) const {
    const int d = dimension();
    KILN_UNROLL
    for (int i = team.rank(); i < d; i += team.size()) body(i);
  }

  template <Want want>
  KILN_HD EnergyParts evaluate(const Phase& at) const {
    return density.template evaluate<want>(team, DensityPoint{at.x, weights, at.g, work});
  }

  /// Loads position, gradient and energy of the chain; visible to the team.
  KILN_HD EnergyParts load(const Phase& to) const {
    each([&](int i) { to.x[i] = chains.position(i, slot); });
    if (chains.has_gradient(slot, weights)) {
      each([&](int i) { to.g[i] = chains.gradient(i, slot); });
      team.sync();
      return {chains.base[slot], chains.term[slot]};
    }
    team.sync();
    const EnergyParts e = evaluate<Want::both>(to);
    store(to.x, to.g, e);  // a rejected transition leaves the chain with its gradient
    return e;
  }

  KILN_HD void store(const double* x, const double* g, const EnergyParts& e) const {
    each([&](int i) {
      chains.position(i, slot) = x[i];
      chains.gradient(i, slot) = g[i];
    });
    if (team.rank() == 0) {
      chains.gradient_base_weight[slot] = weights.base;
      chains.gradient_term_weight[slot] = weights.term;
      chains.base[slot] = e.base;
      chains.term[slot] = e.term;
      chains.energy[slot] = e.total();
    }
  }

  KILN_HD void refresh(const Phase& phase) const {
    const DrawName name = draws_of(chains, slot, TransitionDraw::momentum);
    each([&](int i) { phase.z[i] = standard_normal(name, static_cast<std::uint32_t>(i)); });
    team.sync();
  }

  KILN_HD double dot(const double* a, const double* b) const {
    double sum = 0;
    each([&](int i) { sum += a[i] * b[i]; });
    return team.sum(sum);
  }
  KILN_HD double kinetic(const Phase& phase) const { return 0.5 * dot(phase.z, phase.z); }

  KILN_HD void kick(const Phase& phase, double eps) const {
    metric.apply_transposed(team, dimension(), phase.g, velocity);
    each([&](int i) { phase.z[i] -= eps * velocity[i]; });
    team.sync();
  }
  KILN_HD void drift(const Phase& phase, double eps) const {
    metric.apply(team, dimension(), phase.z, velocity);
    each([&](int i) {
      double x = phase.x[i] + eps * velocity[i];
      if (chains.bounded)
        x = reflect_at_walls(x, chains.lower_of(i), chains.upper_of(i), phase.z[i]);
      phase.x[i] = x;
    });
    team.sync();
  }

  /// One leapfrog, backwards if eps is negative; returns the energy at its end.
  KILN_HD EnergyParts leapfrog(const Phase& phase, double eps) const {
    kick(phase, 0.5 * eps);
    drift(phase, eps);
    const EnergyParts e = evaluate<Want::both>(phase);
    kick(phase, 0.5 * eps);
    return e;
  }

  /// `n` leapfrogs with neighbouring half kicks merged; returns the energy at their end, which is
  /// `before` for n = 0.
  KILN_HD EnergyParts leapfrogs(const Phase& phase, double eps, std::int32_t n,
                                const EnergyParts& before) const {
    if (n <= 0) return before;
    kick(phase, 0.5 * eps);
    for (std::int32_t l = 1; l < n; ++l) {
      drift(phase, eps);
      evaluate<Want::gradient>(phase);
      kick(phase, eps);
    }
    drift(phase, eps);
    const EnergyParts e = evaluate<Want::both>(phase);
    kick(phase, 0.5 * eps);
    return e;
  }
};

}  // namespace kiln::hmc
