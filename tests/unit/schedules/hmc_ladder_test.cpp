// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Ladders of Hamiltonian chains: what they weigh, when they count, where they reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kiln/problems/continuous.hpp"
#include "kiln/schedules/hmc.hpp"

#include "densities/sampling_fixtures.hpp"

namespace kiln::hmc_ladder_test {
namespace {

using test::posterior_of;

// Chains move with steps and metrics that adapt until the warm-up ends: no swap counts before.
TEST(Hmc, ALadderIsMeasuredAfterTheWarmUpOnly) {
  for (const std::int64_t warmup : {1, 2, 5, 37, 100, 131}) {
    HmcOptions o;
    o.sampler = "static";
    o.leapfrogs = 2;
    o.rungs = 3;
    o.warmup = warmup;
    o.draws = 20;
    const Result result =
        test::sample(posterior_of("eight schools", EightSchools{}, true), o, 3 * 4);
    EXPECT_EQ(result.diagnostics.at("swap_phases"), 20) << warmup;
  }
}

// At x_1 < 0 the likelihood is zero: there the prior has half of its mass. With the likelihood
// exp(-4.5 |x|^2) elsewhere, Z = 10^(-d/2) / 2.
struct HalfLikelihood {
  static constexpr int fixed_dimension = 0;
  int n = 1;
  double outside = std::numeric_limits<double>::infinity();
  int dimension() const { return n; }
  int workspace() const { return 0; }
  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    double base = 0;
    for (int i = 0; i < n; ++i) {
      base += 0.5 * at.x[i] * at.x[i];
      if constexpr (wants_gradient(want)) {
        at.gradient[i] = (at.weights.base + 9 * at.weights.term) * at.x[i];
      }
    }
    return {base, at.x[0] < 0 ? outside : 9 * base};
  }
};

TEST(Hmc, ALadderWeighsALikelihoodOfZero) {
  for (const double outside :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const char* sampler : {"static", "nuts"}) {
      HmcOptions o;
      o.sampler = sampler;
      if (o.sampler == "static") o.leapfrogs = 3;
      o.metric = "diagonal";
      o.rungs = 6;
      o.warmup = 300;
      o.draws = 600;
      HalfLikelihood density;
      density.outside = outside;
      const Result result = test::sample(posterior_of("half", density, true), o, 6 * 32);
      EXPECT_NEAR(result.diagnostics.at("log_z_difference"), -std::log(2 * std::sqrt(10.0)), 0.06)
          << sampler << ' ' << outside;
      EXPECT_NEAR(result.sample->coordinate_mean[0], std::sqrt(0.2 / 3.14159265358979), 0.02);
    }
  }
}

// x_1 has sd 3 and the others e^(x_1 / 2): steps that fit the bulk do not reach the neck. All
// chains miss it alike, which no R-hat sees.
TEST(Hmc, TellsThatPartsOfAFunnelAreMissing) {
  HmcOptions o;
  o.warmup = 300;
  o.draws = 100;
  const Result result = test::sample(problems::density_by_name("funnel-10"), o, 256);
  std::string all;
  for (const std::string& one : result.advice) all += one + '\n';
  EXPECT_NE(all.find("The draws miss parts of the density"), std::string::npos) << all;
  EXPECT_EQ(all.find("are reliable"), std::string::npos) << all;
}

TEST(Hmc, ALadderReachesTheNeckOfAFunnel) {
  HmcOptions o;
  o.rungs = 8;
  o.warmup = 600;
  for (const std::uint64_t seed : {1, 2}) {
    const Result result = test::sample(problems::density_by_name("funnel-10"), o, 8 * 16, seed);
    const QuantitySummary& q = result.sample_summary->quantities.front();
    EXPECT_LT(std::abs(q.mean), 4 * q.mcse_mean) << q.mean;
    EXPECT_LT(std::abs(q.sd - 3), 4 * q.mcse_sd) << q.sd;
    EXPECT_LT(q.mcse_mean, 0.5) << "a test that sees nothing";
  }
}

}  // namespace
}  // namespace kiln::hmc_ladder_test
