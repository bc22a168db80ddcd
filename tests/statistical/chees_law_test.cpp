// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The length that ChEES learns is the best one. Of a normal law with variances v_i in units of the
// metric, the criterion after a time t is sum v_i^2 sin^2(t / sqrt(v_i)). With times even in (0, T)
// its mean is sum v_i^2 (1 - sin(y_i) / y_i) / 2, y_i = 2 T / sqrt(v_i).
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/problems/continuous.hpp"

#include "densities/sampling_fixtures.hpp"

namespace kiln::test::chees_law_test {
namespace {

double criterion(double length, const std::vector<double>& variances) {
  double sum = 0;
  for (const double v : variances) {
    const double y = 2 * length / std::sqrt(v);
    sum += v * v * (1 - std::sin(y) / y) / 2;
  }
  return sum;
}

double best_length(const std::vector<double>& variances) {
  double best = 0.01;
  for (double length = best; length < 1000; length *= 1.001) {
    if (criterion(length, variances) > criterion(best, variances)) best = length;
  }
  return best;
}

/// Independent normals of variances 1 and 100.
struct TwoScales {
  static constexpr int fixed_dimension = 2;
  int dimension() const { return 2; }
  int workspace() const { return 0; }
  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    if constexpr (wants_gradient(want)) {
      at.gradient[0] = at.weights.term * at.x[0];
      at.gradient[1] = at.weights.term * at.x[1] / 100;
    }
    return {0, 0.5 * at.x[0] * at.x[0] + 0.005 * at.x[1] * at.x[1]};
  }
};

/// Unit variances, all correlated by r.
struct Alike {
  static constexpr int fixed_dimension = 10;
  static constexpr double r = 0.99;
  int dimension() const { return 10; }
  int workspace() const { return 0; }
  static constexpr double wide() { return 1 + 9 * r; }  ///< the variance along (1, ..., 1)
  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    double sum = 0, squares = 0;
    for (int i = 0; i < 10; ++i) {
      sum += at.x[i];
      squares += at.x[i] * at.x[i];
    }
    const double pull = r / wide() / (1 - r);  // precision = I / (1 - r) - pull 1 1^T
    if constexpr (wants_gradient(want)) {
      for (int i = 0; i < 10; ++i) {
        at.gradient[i] = at.weights.term * (at.x[i] / (1 - r) - pull * sum);
      }
    }
    return {0, 0.5 * (squares / (1 - r) - pull * sum * sum)};
  }
  /// In units of the diagonal metric of least Fisher divergence, s^4 = Var x / Var g.
  static std::vector<double> scaled_variances() {
    const double precision = 1 / (1 - r) - r / wide() / (1 - r);
    std::vector<double> all(10, (1 - r) * std::sqrt(precision));
    all[0] = wide() * std::sqrt(precision);
    return all;
  }
};

HmcOptions learning(const std::string& metric, std::int64_t warmup) {
  HmcOptions options;
  options.sampler = "chees";
  options.metric = metric;
  options.warmup = warmup;
  options.draws = 20;
  return options;
}

// Without the time of each trajectory in its slope the length runs to whole periods: 126.
TEST(CheesLaw, LearnsTheBestLengthOfTwoScales) {
  EXPECT_NEAR(best_length({1, 100}), 22.5, 0.1);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Result result =
        sample(posterior_of("two scales", TwoScales{}, false), learning("unit", 500), 256, seed);
    const double length = result.diagnostics.at("trajectory_length");
    EXPECT_GT(length, 18) << seed;
    EXPECT_LT(length, 28) << seed;
  }
}

// Windows that end after 10, 25, 50 and 150 transitions, the last one half of the warm-up before
// its end.
TEST(CheesLaw, KeepsTheLengthThroughChangesOfTheMetric) {
  const double best = best_length(Alike::scaled_variances());
  EXPECT_GT(best, 20);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Result result =
        sample(posterior_of("alike", Alike{}, false), learning("diagonal", 300), 256, seed);
    EXPECT_NEAR(std::log(result.diagnostics.at("trajectory_length") / best), 0, 0.25) << seed;
  }
}

// A metric that knows the correlations makes all lengths one, for which 2.2 is best. Steps are
// about 1 there and their number is whole, so that it is not told closely.
TEST(CheesLaw, GivesUpALengthThatTheMetricNoLongerNeeds) {
  const double best = best_length(std::vector<double>(10, 1.0));
  const Result result =
      sample(posterior_of("alike", Alike{}, false), learning("low_rank", 300), 256);
  EXPECT_NEAR(std::log(result.diagnostics.at("trajectory_length") / best), 0, std::log(2));
}

struct Yield {
  double draws_per_gradient = 0, r_hat = 0;
};
Yield yield_of(const Problem& problem, const std::string& sampler, std::int64_t chains,
               std::int64_t draws) {
  HmcOptions options;
  options.sampler = sampler;
  options.warmup = 500;
  options.draws = draws;
  options.keep = chains;
  const Result result = sample(problem, options, chains);
  const SampleSummary& summary = *result.sample_summary;
  return {summary.min_bulk()->ess_bulk / static_cast<double>(result.sample->gradients),
          summary.worst_r_hat()->r_hat};
}

TEST(CheesLaw, YieldsHalfOfWhatNutsDoesOnAnAutoregression) {
  const Problem problem = problems::density_by_name("correlated-100,0.99");
  const Yield chees = yield_of(problem, "chees", 32, 150), nuts = yield_of(problem, "nuts", 8, 300);
  EXPECT_GT(chees.draws_per_gradient, 0.5 * nuts.draws_per_gradient);
  EXPECT_LT(chees.r_hat, 1.1);
}

}  // namespace
}  // namespace kiln::test::chees_law_test
