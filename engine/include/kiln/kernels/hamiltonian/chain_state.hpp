// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/metric.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Replicas in a real space as kernels see them: chains.
///
/// A gradient is stored with its weights, because a chain may move to a rung of other weights; NaN
/// weights mean that there is no gradient.
struct ChainState {
  View2<double> position;  ///< [dimension][slots]
  View2<double> gradient;  ///< [dimension][slots], of weights(base, term) at the position
  View1<double> gradient_base_weight, gradient_term_weight;  ///< [slots]
  View1<double> energy;                                      ///< [slots], base + term
  View1<double> base, term;                                  ///< [slots], parts of the energy
  View1<const double> beta;                                  ///< [rungs], 1/energy
  View1<const double> lambda;                                ///< [rungs]; empty: 1 everywhere
  View1<const std::int32_t> rung_of;                         ///< [slots]
  DrawIds draw_ids;
  std::int64_t replicas = 0;
  double lower = 0, upper = 0;  ///< of every coordinate; reflecting walls where they are finite
  const double* box = nullptr;  ///< [2][dimension], bounds of each coordinate instead; may be null
  bool bounded = false;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  /// What a transition reads at least: positions, gradients, energies.
  double bytes() const {
    const double values = 2 * static_cast<double>(position.rows) + 3;
    return static_cast<double>(replicas) * values * sizeof(double);
  }
  KILN_HD double lower_of(std::int64_t i) const { return box == nullptr ? lower : box[i]; }
  KILN_HD double upper_of(std::int64_t i) const {
    return box == nullptr ? upper : box[position.rows + i];
  }
  KILN_HD PartWeights weights(std::int64_t rung) const {
    const double b = beta[rung];
    return {b, lambda ? b * lambda[rung] : b};
  }
  KILN_HD bool has_gradient(std::int64_t slot, PartWeights w) const {
    return gradient_base_weight[slot] == w.base && gradient_term_weight[slot] == w.term;
  }
};

/// How the chains of a rung move; the adapting kernel writes it, every transition reads it.
struct HmcTuning {
  double step_size = 0.1;      ///< of the leapfrog, in units of the metric
  double jitter = 0;           ///< a chain's step is step_size (1 + jitter u), u uniform in (-1, 1)
  std::int32_t leapfrogs = 1;  ///< of a transition with a fixed length
  std::int32_t max_depth = 10;   ///< of a NUTS trajectory: at most 2^max_depth leapfrogs
  std::int32_t report_ends = 0;  ///< 1: write TransitionStatistics::start, proposal and velocity
  std::int32_t reserved = 0;     ///< avoids a gap at the end: runs are compared byte by byte
};

/// Statistics of a transition of a chain; every view may be empty.
struct TransitionStatistics {
  View1<double> acceptance;         ///< [slots], acceptance probability; mean over the tree in NUTS
  View1<double> hamiltonian;        ///< [slots], of the chosen state with its momentum
  View1<std::int32_t> leapfrogs;    ///< [slots], gradients spent
  View1<std::int32_t> depth;        ///< [slots], of the tree; 0 for fixed lengths
  View1<std::int32_t> divergent;    ///< [slots], 1 if the energy error exceeded divergence_bound
  View1<std::uint64_t> gradients;   ///< [slots], adds up `leapfrogs`
  View1<std::uint64_t> accepted;    ///< [slots], counts transitions that moved the chain
  View1<std::uint64_t> not_finite;  ///< [slots], counts trajectories with a NaN or an infinity
  View2<double> start;              ///< [dimension][slots], the position before
  View2<double> proposal;           ///< [dimension][slots], the end of the trajectory
  View2<double> velocity;           ///< [dimension][slots], M^-1 p there
  /// [slots], number of halvings of the chain's step. Warmup increases it for chains that always
  /// reject, far out where the target is steeper than in its bulk; transitions read it; 0 once
  /// draws count.
  View1<std::int32_t> retreat;
};

/// The leapfrog step of a chain, from its tuning, u of its jitter in (0, 1) and its retreat.
KILN_HD inline double step_of(const HmcTuning& tuning, double u, const TransitionStatistics& s,
                              std::int64_t slot) {
  const double jittered =
      exact::mul(tuning.step_size,
                 exact::add(1.0, exact::mul(tuning.jitter, exact::sub(exact::mul(2.0, u), 1.0))));
  return s.retreat ? ::ldexp(jittered, -s.retreat[slot]) : jittered;
}

/// An energy error beyond this is a divergence (the bound that other samplers use).
inline constexpr double divergence_bound = 1000.0;

/// The chains that adapt together. Rung numbers are those of a batch; pool p is all rungs r with r
/// modulo pools = p: the rungs of the same place in every ladder, or with one pool all chains.
struct ChainPools {
  View1<const std::int32_t> slot_of;  ///< [rung numbers], of ladders; empty: pools are contiguous
  std::int64_t pools = 1;
  std::int64_t members = 0;  ///< chains of each pool

  KILN_HD std::int64_t slot(std::int64_t pool, std::int64_t member) const {
    return slot_of ? slot_of[member * pools + pool] : pool * members + member;
  }
};

/// Blocks of words of one transition of a chain, under RngDomain::momentum.
enum class TransitionDraw : std::uint8_t {
  momentum = 0,  ///< one word per dimension
  scalar = 1,    ///< step jitter, acceptance; direction and acceptance of each doubling
  leaf = 2,      ///< one word per leaf of a NUTS trajectory
};

/// The assignment of chains to threads of a GPU. The CPU ignores it.
enum class ChainLayout : std::uint8_t {
  thread,  ///< one each, with vectors of thread_vector_length
  lanes,   ///< four: for many chains of a short density that works by coordinates
  warp,
  block,
};

/// Reflects x at the walls of [lower, upper] and reverses the momentum with every reflection.
/// However many reflections that takes: a density that is flat in its box is left by many widths,
/// and a chain that stopped at a wall would stay there.
KILN_HD inline double reflect_at_walls(double x, double lower, double upper, double& momentum) {
  for (int i = 0; i < 64 && (x < lower || x > upper); ++i) {
    x = x < lower ? 2 * lower - x : 2 * upper - x;
    momentum = -momentum;
  }
  if (x >= lower && x <= upper) return x;
  // Two walls, since one reflects once.
  const double width = exact::sub(upper, lower);
  const double turns = ::floor(exact::div(exact::sub(x, lower), width));
  const double rest = exact::sub(exact::sub(x, lower), exact::mul(turns, width));
  const bool is_odd = exact::sub(turns, exact::mul(2, ::floor(exact::mul(0.5, turns)))) != 0;
  if (is_odd) momentum = -momentum;
  const double folded = is_odd ? exact::sub(upper, rest) : exact::add(lower, rest);
  // An infinite number has no rest, and the rest of one without digits behind its point may lie
  // beyond.
  const double near = folded - folded == 0 ? folded : x;
  return near < lower ? lower : (near > upper ? upper : near);
}

}  // namespace kiln
