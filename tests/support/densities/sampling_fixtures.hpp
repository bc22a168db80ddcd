// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/densities/eight_schools.hpp"
#include "kiln/schedules/hmc.hpp"

// Densities with known moments, and runs that sample them on the CPU.
namespace kiln::test {

/// Independent normals of spreads 0.1 ... 10, the first and the last tied together.
struct StretchedNormal {
  static constexpr int fixed_dimension = 0;
  static constexpr double tie = 50;  ///< precision of 10 x_1 - x_n / 10
  int n = 10;

  int dimension() const { return n; }
  int workspace() const { return 0; }
  double spread(int i) const { return std::pow(10.0, -1 + 2.0 * i / (n - 1)); }

  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    double energy = 0;
    for (int i = 0; i < n; ++i) {
      const double z = at.x[i] / spread(i);
      energy += 0.5 * z * z;
      if constexpr (wants_gradient(want)) at.gradient[i] = at.weights.term * z / spread(i);
    }
    const double apart = 10 * at.x[0] - 0.1 * at.x[n - 1];
    if constexpr (wants_gradient(want)) {
      at.gradient[0] += at.weights.term * 10 * tie * apart;
      at.gradient[n - 1] -= at.weights.term * 0.1 * tie * apart;
    }
    return {0, energy + 0.5 * tie * apart * apart};
  }
  /// Both ends have z = x / spread with precision matrix [[1 + tie, -tie], [-tie, 1 + tie]].
  double variance(int i) const {
    const double end = (1 + tie) / (1 + 2 * tie);
    return spread(i) * spread(i) * (i == 0 || i == n - 1 ? end : 1.0);
  }
};

/// 0.8 N(0, I) + 0.2 N(8, I), reached from the prior N(4, 25 I) by weighting the rest. Both modes
/// are as far from its centre, so that their weights change little on the way.
struct TwoModes {
  static constexpr int fixed_dimension = 0;
  static constexpr double prior_mean = 4, prior_variance = 25;
  int n = 50;

  int dimension() const { return n; }
  int workspace() const { return 0; }

  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    double near = 0, far = 0, prior = 0;
    for (int i = 0; i < n; ++i) {
      near += 0.5 * at.x[i] * at.x[i];
      far += 0.5 * (at.x[i] - 8) * (at.x[i] - 8);
      prior += 0.5 * (at.x[i] - prior_mean) * (at.x[i] - prior_mean) / prior_variance;
    }
    const double a = std::log(0.8) - near, b = std::log(0.2) - far;
    const double top = std::max(a, b);
    const double log_density = top + std::log(std::exp(a - top) + std::exp(b - top));
    const double share = std::exp(b - log_density);  // of the far mode
    if constexpr (wants_gradient(want)) {
      for (int i = 0; i < n; ++i) {
        const double of_prior = (at.x[i] - prior_mean) / prior_variance;
        at.gradient[i] =
            at.weights.base * of_prior + at.weights.term * (at.x[i] - 8 * share - of_prior);
      }
    }
    return {prior, -log_density - prior};
  }
  /// Of the density beyond that of the prior, both without their constants.
  double log_z() const { return -0.5 * n * std::log(prior_variance); }
};

template <class Density>
Problem posterior_of(const std::string& name, const Density& density, bool parts) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Problem problem = make_problem(make_density_objective(
      name, std::make_shared<HostDensity<Density>>(density, parts), -infinity, infinity));
  problem.posterior.emplace();
  return problem;
}

inline Result sample(const Problem& problem, const HmcOptions& options, std::int64_t chains,
                     std::uint64_t seed = 1, int threads = 0) {
  Hmc schedule(options);
  RunOptions run;
  run.device = "cpu";
  run.replicas = chains;
  run.seed = seed;
  run.threads = threads;
  return Engine(run).run(problem, schedule);
}

/// Mean over all kept draws of f(value of one quantity), and its standard error from the means of
/// the chains.
struct Estimate {
  double mean = 0;
  double error = 0;
};
template <class Function>
Estimate estimate(const Sample& sample, std::size_t quantity, const Function& f) {
  std::vector<double> means;
  for (std::int64_t c = 0; c < sample.chains; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < sample.draws; ++i) sum += f(sample.value(c, i, quantity));
    means.push_back(sum / static_cast<double>(sample.draws));
  }
  Estimate e;
  const double n = static_cast<double>(means.size());
  for (const double m : means) e.mean += m / n;
  double square = 0;
  for (const double m : means) square += (m - e.mean) * (m - e.mean);
  e.error = std::sqrt(square / (n - 1) / n);
  return e;
}

}  // namespace kiln::test
