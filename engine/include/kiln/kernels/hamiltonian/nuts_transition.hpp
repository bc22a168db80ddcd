// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hmc_trajectory.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/sweeps/density_ref.hpp"

namespace kiln {

/// Makes one transition of the no-U-turn sampler for every chain. Chains do not wait for each
/// other.
///
/// The trajectory doubles forwards or backwards at random until it turns, diverges or has
/// 2^max_depth leapfrogs; a state is drawn from it with weights exp(-H), with a bias towards the
/// newer half. A segment with ends a and b and sum of momenta rho turns when z_a . (rho - (z_a +
/// z_b) / 2) <= 0 or the same for z_b: rho less half of its ends is the trapezoidal rule for the
/// path between them, so the seams of joined segments need no separate test. The momenta of
/// log2(leaves) leaves are stored for the tests of sub-trees. Class S6.
/// @par Source  Hoffman, Gelman, JMLR 15 (2014) 1593; Betancourt, arXiv:1701.02434 (multinomial
/// weights, generalised criterion); Phan, Pradhan, Jankowiak, arXiv:1912.11554 (iterative form).
struct KILN_API NutsTransition {
  static constexpr const char* name = "nuts_transition";
  static constexpr const char* summary =
      "makes one no-U-turn (NUTS) transition for every chain; no chain waits for other chains";
  static constexpr const char* accuracy = "S6";
  static constexpr int depth_limit = 12;  ///< largest max_depth

  DensityRef density;
  ChainState chains;
  MetricView metric;
  /// [pools], indexed by rung number modulo its size, as the metric is
  View1<const HmcTuning> tuning;
  TransitionStatistics statistics;
  ChainLayout layout = ChainLayout::warp;  ///< not thread
  View1<double> scratch;                   ///< [slots * scratch_size()]

  /// Doubles of scratch memory per chain: both ends of the trajectory (x, z, g), the state drawn
  /// from it and from its new half (x, g), two sums of momenta, velocity, the stored momenta and
  /// sums, and the density's workspace.
  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return (13 + 2 * depth_limit) * dimension + workspace;
  }
  double bytes() const { return chains.bytes(); }
  KILN_HD std::int64_t chain_count() const { return chains.replicas; }
  KILN_HD bool active() const { return chains.control->active(chains.step_offset); }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const;
};

namespace hmc {

/// A state drawn from a segment of a trajectory, and the weight of the segment.
struct Drawn {
  double* x = nullptr;
  double* g = nullptr;
  EnergyParts energy;
  double hamiltonian = 0;
  double log_weight = 0;  ///< log of the sum of exp(h_start - H) over the segment
};

KILN_HD inline double log_add(double a, double b) {
  if (a < b) {
    const double c = a;
    a = b;
    b = c;
  }
  if (b == -exact::infinity()) return a;
  return exact::add(a, exact::log(exact::add(1.0, exact::exp(exact::sub(b, a)))));
}

/// Whether a word draws an event of probability min(1, exp(log_probability)).
KILN_HD inline bool draws(double log_probability, std::uint32_t word) {
  return exact::accept(1.0, -log_probability, word);
}

template <class Density, class Team>
struct NutsTree {
  const Mover<Density, Team>& mover;
  double eps;
  double h_start;
  Phase ends[2];  // 0: backwards, 1: forwards; each is moved on in place
  Drawn drawn, fresh;
  double *rho, *rho_fresh;    // sums of momenta
  double *kept_z, *kept_rho;  // [depth_limit][dimension]
  double sum_acceptance = 0;
  std::uint32_t leaves = 0;
  bool diverged = false;
  bool not_finite = false;

  /// Whether a segment with these end momenta and this sum turns: sum = rho - rho_before + z_a.
  KILN_HD bool turns(const double* z_a, const double* z_b, const double* sum,
                     const double* sum_before) const {
    double products[2] = {0, 0};
    mover.each([&](int i) {
      const double whole = sum_before == nullptr ? sum[i] : sum[i] - sum_before[i] + z_a[i];
      const double way = whole - 0.5 * (z_a[i] + z_b[i]);
      products[0] += z_a[i] * way;
      products[1] += z_b[i] * way;
    });
    mover.team.sum(products);
    return products[0] <= 0 || products[1] <= 0;
  }

  /// Makes one leapfrog at an end and adds the new leaf. False if the trajectory must stop.
  KILN_HD bool add_leaf(int side, std::uint32_t leaf, std::uint32_t word) {
    const Phase& end = ends[side];
    const EnergyParts e = mover.leapfrog(end, side == 1 ? eps : -eps);
    const double h = mover.weights(e) + mover.kinetic(end);
    const double error = h - h_start;
    ++leaves;
    not_finite = exact::sub(error, error) != 0.0;
    diverged = not_finite || error > divergence_bound;
    if (diverged) return false;
    sum_acceptance += error <= 0 ? 1.0 : exact::exp(-error);
    mover.each([&](int i) { rho_fresh[i] = leaf == 0 ? end.z[i] : rho_fresh[i] + end.z[i]; });
    fresh.log_weight = leaf == 0 ? -error : log_add(fresh.log_weight, -error);
    if (leaf == 0 || draws(-error - fresh.log_weight, word)) {
      mover.each([&](int i) {
        fresh.x[i] = end.x[i];
        fresh.g[i] = end.g[i];
      });
      fresh.energy = e;
      fresh.hamiltonian = h;
    }
    return !closes_a_turning_stretch(end, leaf);
  }

  /// Tests the sub-trees that end with this leaf. An even leaf opens some: its momentum is stored
  /// under the number of ones in leaf / 2. An odd one closes as many as it has trailing ones.
  KILN_HD bool closes_a_turning_stretch(const Phase& end, std::uint32_t leaf) {
    const int d = mover.dimension();
    int place = 0;
    for (std::uint32_t n = leaf >> 1; n != 0; n &= n - 1) ++place;
    if (leaf % 2 == 0) {
      double *z = kept_z + place * d, *sum = kept_rho + place * d;
      mover.each([&](int i) {
        z[i] = end.z[i];
        sum[i] = rho_fresh[i];
      });
      return false;
    }
    for (std::uint32_t n = leaf; n % 2 == 1; n >>= 1, --place) {
      if (turns(kept_z + place * d, end.z, rho_fresh, kept_rho + place * d)) return true;
    }
    return false;
  }

  /// Joins the finished new half to the trajectory. False if the whole turns.
  KILN_HD bool join(std::uint32_t word) {
    if (draws(fresh.log_weight - drawn.log_weight, word)) {
      const Drawn older = drawn;
      drawn = fresh;
      drawn.log_weight = older.log_weight;
      const double weight = fresh.log_weight;
      fresh = older;
      fresh.log_weight = weight;
    }
    drawn.log_weight = log_add(drawn.log_weight, fresh.log_weight);
    mover.each([&](int i) { rho[i] += rho_fresh[i]; });
    return !turns(ends[0].z, ends[1].z, rho, nullptr);
  }
};

/// The transition of one chain. `memory` has NutsTransition::scratch_size() doubles of this team.
template <class Density, class Team>
KILN_HD void nuts_transition(const NutsTransition& kernel, const Density& density, const Team& team,
                             std::int64_t slot, double* memory) {
  const ChainState& chains = kernel.chains;
  const std::int64_t rung = chains.rung_of[slot];
  const HmcTuning tuning = kernel.tuning[rung % kernel.tuning.size];
  const int d = dimension_of(density);
  const auto vector = [&](int index) { return memory + static_cast<std::int64_t>(index) * d; };
  const Mover<Density, Team> mover{density,    team,
                                   chains,     kernel.metric.of_pool(rung % kernel.tuning.size),
                                   slot,       chains.weights(rung),
                                   vector(12), vector(13 + 2 * NutsTransition::depth_limit)};
  const DrawName scalars = draws_of(chains, slot, TransitionDraw::scalar);
  const DrawName leaf_words = draws_of(chains, slot, TransitionDraw::leaf);

  NutsTree<Density, Team> tree{mover, 0, 0, {}, {}, {}, nullptr, nullptr, nullptr, nullptr};
  tree.ends[0] = {vector(0), vector(1), vector(2)};
  tree.ends[1] = {vector(3), vector(4), vector(5)};
  tree.drawn.x = vector(6), tree.drawn.g = vector(7);
  tree.fresh.x = vector(8), tree.fresh.g = vector(9);
  tree.rho = vector(10), tree.rho_fresh = vector(11);
  tree.kept_z = vector(13), tree.kept_rho = vector(13 + NutsTransition::depth_limit);

  tree.drawn.energy = mover.load(tree.ends[0]);
  mover.refresh(tree.ends[0]);
  tree.h_start = mover.weights(tree.drawn.energy) + mover.kinetic(tree.ends[0]);
  tree.drawn.hamiltonian = tree.h_start;
  const double u = open_unit(draw_word(scalars, 0));
  tree.eps = step_of(tuning, u, kernel.statistics, slot);
  mover.each([&](int i) {
    tree.ends[1].x[i] = tree.drawn.x[i] = tree.ends[0].x[i];
    tree.ends[1].g[i] = tree.drawn.g[i] = tree.ends[0].g[i];
    tree.ends[1].z[i] = tree.rho[i] = tree.ends[0].z[i];
  });
  team.sync();

  bool moved = false;
  std::int32_t depth = 0;
  std::uint32_t n_words = 0;
  for (; depth < tuning.max_depth; ++depth) {
    const auto index = static_cast<std::uint32_t>(2 + 2 * depth);
    const int side = (draw_word(scalars, index) >> 31) != 0 ? 1 : 0;
    bool complete = true;
    for (std::uint32_t leaf = 0; complete && leaf < (1u << depth); ++leaf) {
      complete = tree.add_leaf(side, leaf, draw_word(leaf_words, n_words++));
    }
    if (!complete) break;
    const double* before = tree.drawn.x;
    const bool goes_on = tree.join(draw_word(scalars, index + 1));
    moved = moved || tree.drawn.x != before;
    if (!goes_on) {
      ++depth;
      break;
    }
  }

  team.sync();
  if (moved) mover.store(tree.drawn.x, tree.drawn.g, tree.drawn.energy);
  if (team.rank() != 0) return;
  const TransitionStatistics& s = kernel.statistics;
  if (s.acceptance) {
    s.acceptance[slot] =
        tree.leaves > 0 ? tree.sum_acceptance / static_cast<double>(tree.leaves) : 0.0;
  }
  if (s.hamiltonian) s.hamiltonian[slot] = tree.drawn.hamiltonian;
  if (s.leapfrogs) s.leapfrogs[slot] = static_cast<std::int32_t>(tree.leaves);
  if (s.gradients) s.gradients[slot] += static_cast<std::uint64_t>(tree.leaves);
  if (s.depth) s.depth[slot] = depth;
  if (s.divergent) s.divergent[slot] = tree.diverged ? 1 : 0;
  if (s.accepted && moved) ++s.accepted[slot];
  if (s.not_finite && tree.not_finite) ++s.not_finite[slot];
}

}  // namespace hmc

template <class Density, class Team>
KILN_HD void NutsTransition::run(const Density& target, const Team& team, std::int64_t slot,
                                 double* memory) const {
  hmc::nuts_transition(*this, target, team, slot, memory);
}

}  // namespace kiln
