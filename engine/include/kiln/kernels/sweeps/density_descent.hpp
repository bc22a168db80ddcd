// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/sweeps/density_ref.hpp"

namespace kiln {

/// Moves every chain of infinite beta down to a local minimum at the end of an anneal. Chains of
/// finite beta are left alone.
///
/// L-BFGS on base + lambda term with the curvature of the last `pairs` steps of each chain, from
/// scratch in every launch; steps are halved until they descend enough (Armijo, 1e-4). Walls: a
/// coordinate at a wall towards which the energy falls stays there, trial points are clipped. A
/// chain ends at a gradient of 0 or when no step descends any more, which is rounding; one without
/// a finite energy is left alone. The energy never increases. Class S6: backends follow each other
/// while a path is short, and end in the same minimum to rounding.
/// @par Source  Liu, Nocedal, Math. Program. 45 (1989) 503; Bertsekas, SIAM J. Control Optim. 20
/// (1982) 221 (walls).
struct KILN_API DensityDescent {
  static constexpr const char* name = "density_descent";
  static constexpr const char* summary =
      "minimises the energy of every chain at infinite beta by steps of L-BFGS";
  static constexpr const char* accuracy = "S6";
  static constexpr int pairs = 5;  ///< of steps and changes of the gradient

  DensityRef density;
  ChainState chains;
  std::int32_t steps = 100;  ///< at most
  double energy_tol = 0;     ///< ends if a step gains less energy than this
  ChainLayout layout = ChainLayout::warp;
  View1<double> scratch;  ///< [slots * scratch_size()], for teams with vectors in memory

  /// Doubles of scratch memory per chain: two points with gradients, a direction, the pairs, and
  /// the density's workspace.
  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return (5 + 2 * pairs) * dimension + workspace;
  }
  KILN_HD std::int64_t chain_count() const { return chains.replicas; }
  KILN_HD bool active() const { return chains.control->active(chains.step_offset); }
  /// Whether any chain descends. Reads device memory, so on the CPU only.
  bool has_work() const {
    bool any = false;
    for (std::int64_t r = 0; r < chains.beta.size; ++r) {
      any |= !(chains.beta[r] < exact::infinity());
    }
    return any;
  }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const;
};

namespace hmc {

/// A descending chain. Vectors of [dimension], shared by the team.
template <class Density, class Team>
class Descent {
  static constexpr int pairs = DensityDescent::pairs;
  static constexpr int max_halvings = 30;

 public:
  KILN_HD Descent(const DensityDescent& kernel, const Density& density, const Team& team,
                  std::int64_t slot, double* memory)
      : kernel_(kernel),
        chains_(kernel.chains),
        density_(density),
        team_(team),
        slot_(slot),
        d_(dimension_of(density)),
        memory_(memory),
        x_(memory),
        g_(vector(1)),
        next_x_(vector(2)),
        next_g_(vector(3)),
        direction_(vector(4)) {
    const std::int64_t rung = chains_.rung_of[slot];
    weights_ = {1.0, chains_.lambda ? chains_.lambda[rung] : 1.0};
  }

  KILN_HD void run() {
    each([&](int i) { x_[i] = chains_.position(i, slot_); });
    team_.sync();
    energy_ = evaluate(x_, g_);
    if (!finite(value(energy_))) return;
    bool moved = false;
    for (std::int32_t s = 0; s < kernel_.steps; ++s) {
      const double before = value(energy_);
      if (!step()) break;
      moved = true;
      if (before - value(energy_) < kernel_.energy_tol) break;
    }
    if (moved) store();
  }

 private:
  template <class Body>
  KILN_HD void each(const Body& body) const {
    for (int i = team_.rank(); i < d_; i += team_.size()) body(i);
  }
  KILN_HD double* vector(int index) const {
    return memory_ + static_cast<std::int64_t>(index) * d_;
  }
  KILN_HD double* step_of_pair(int k) const { return vector(5 + 2 * k); }
  KILN_HD double* change_of_pair(int k) const { return vector(6 + 2 * k); }
  KILN_HD static bool finite(double v) { return v - v == 0; }
  KILN_HD double value(const EnergyParts& e) const { return e.base + weights_.term * e.term; }

  KILN_HD EnergyParts evaluate(double* x, double* g) const {
    double* work = vector(5 + 2 * pairs);
    const EnergyParts e =
        density_.template evaluate<Want::both>(team_, DensityPoint{x, weights_, g, work});
    team_.sync();
    return e;
  }

  /// The slope along coordinate i, 0 if a wall holds it.
  KILN_HD double free_slope(int i) const {
    const double g = g_[i];
    const bool held = chains_.bounded && ((x_[i] <= chains_.lower_of(i) && g > 0) ||
                                          (x_[i] >= chains_.upper_of(i) && g < 0));
    return held ? 0 : g;
  }

  /// Makes one step down. False if there is none.
  KILN_HD bool step() {
    double square = 0;
    each([&](int i) { square += free_slope(i) * free_slope(i); });
    square = team_.sum(square);
    if (!(square > 0) || !finite(square)) return false;
    if (kept_ > 0 && along_curvature() && search(1.0)) return true;
    // No or misleading curvature: take a short step along the gradient.
    kept_ = 0;
    each([&](int i) { direction_[i] = -free_slope(i); });
    team_.sync();
    return search(square > 1 ? 1 / exact::sqrt(square) : 1.0);
  }

  /// Computes the direction by the two-loop recursion. False if it does not descend.
  KILN_HD bool along_curvature() {
    double share[pairs];
    each([&](int i) { direction_[i] = -free_slope(i); });
    for (int n = 0; n < kept_; ++n) {
      const int k = (newest_ + pairs - n) % pairs;
      share[n] = curvature_[k] * dot(step_of_pair(k), direction_);
      add(direction_, -share[n], change_of_pair(k));
    }
    const double* change = change_of_pair(newest_);
    const double scale = 1 / (curvature_[newest_] * dot(change, change));
    each([&](int i) { direction_[i] *= scale; });
    for (int n = kept_ - 1; n >= 0; --n) {
      const int k = (newest_ + pairs - n) % pairs;
      const double other = curvature_[k] * dot(change_of_pair(k), direction_);
      add(direction_, share[n] - other, step_of_pair(k));
    }
    double slope = 0;
    each([&](int i) {
      if (free_slope(i) == 0) direction_[i] = 0;
      slope += direction_[i] * free_slope(i);
    });
    slope = team_.sum(slope);
    return slope < 0 && finite(slope);
  }

  /// Halves the step along the direction until it descends enough, and takes it.
  KILN_HD bool search(double length) {
    const double before = value(energy_);
    for (int n = 0; n < max_halvings; ++n, length *= 0.5) {
      double expected = 0;
      each([&](int i) {
        double x = x_[i] + length * direction_[i];
        if (chains_.bounded) {
          const double lower = chains_.lower_of(i), upper = chains_.upper_of(i);
          x = x < lower ? lower : (x > upper ? upper : x);
        }
        next_x_[i] = x;
        expected += (x - x_[i]) * free_slope(i);
      });
      expected = team_.sum(expected);
      team_.sync();
      if (!(expected < 0)) return false;
      const EnergyParts e = evaluate(next_x_, next_g_);
      const double after = value(e);
      if (finite(after) && after <= before + 1e-4 * expected && after < before) {
        take(e);
        return true;
      }
    }
    return false;
  }

  KILN_HD void take(const EnergyParts& energy) {
    const int k = (newest_ + 1) % pairs;
    double *s = step_of_pair(k), *y = change_of_pair(k);
    double sums[2] = {0, 0};
    each([&](int i) {
      s[i] = next_x_[i] - x_[i];
      y[i] = next_g_[i] - g_[i];
      sums[0] += s[i] * y[i];
      sums[1] += y[i] * y[i];
      x_[i] = next_x_[i];
      g_[i] = next_g_[i];
    });
    team_.sum(sums);
    team_.sync();
    energy_ = energy;
    // Negative curvature carries no information on a minimum
    if (!(sums[0] > 1e-14 * sums[1])) return;
    newest_ = k;
    curvature_[k] = 1 / sums[0];
    if (kept_ < pairs) ++kept_;
  }

  KILN_HD double dot(const double* a, const double* b) const {
    double sum = 0;
    each([&](int i) { sum += a[i] * b[i]; });
    return team_.sum(sum);
  }
  KILN_HD void add(double* to, double factor, const double* what) const {
    each([&](int i) { to[i] += factor * what[i]; });
  }

  KILN_HD void store() const {
    each([&](int i) {
      chains_.position(i, slot_) = x_[i];
      chains_.gradient(i, slot_) = g_[i];
    });
    if (team_.rank() != 0) return;
    chains_.gradient_base_weight[slot_] = weights_.base;
    chains_.gradient_term_weight[slot_] = weights_.term;
    chains_.base[slot_] = energy_.base;
    chains_.term[slot_] = energy_.term;
    chains_.energy[slot_] = energy_.total();
  }

  const DensityDescent& kernel_;
  const ChainState& chains_;
  const Density& density_;
  const Team& team_;
  std::int64_t slot_;
  int d_;
  double* memory_;
  double *x_, *g_, *next_x_, *next_g_, *direction_;
  PartWeights weights_;
  EnergyParts energy_ = {};
  int kept_ = 0, newest_ = 0;
  double curvature_[pairs] = {};  // 1 / (step . change) of each pair
};

/// The descent of one chain. `memory` has DensityDescent::scratch_size() doubles of this team.
template <class Density, class Team>
KILN_HD void density_descent(const DensityDescent& kernel, const Density& density, const Team& team,
                             std::int64_t slot, double* memory) {
  if (kernel.chains.beta[kernel.chains.rung_of[slot]] < exact::infinity()) return;
  Descent<Density, Team>(kernel, density, team, slot, memory).run();
}

}  // namespace hmc

template <class Density, class Team>
KILN_HD void DensityDescent::run(const Density& target, const Team& team, std::int64_t slot,
                                 double* memory) const {
  hmc::density_descent(*this, target, team, slot, memory);
}

}  // namespace kiln
