// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule hmc gives draws of the density: moments after the warm-up against exact ones, within
// errors taken from 64 independent chains. A bound of 4.5 errors is passed by chance with p < 1e-5.
#include <gtest/gtest.h>

#include <cmath>

#include "densities/sampling_fixtures.hpp"

namespace kiln::test::hmc_law_test {
namespace {

constexpr double errors_allowed = 4.5;

void expect_moments_of_stretched_normal(const HmcOptions& options, std::int64_t chains,
                                        std::uint64_t seed) {
  const StretchedNormal density;
  const Result result = sample(posterior_of("stretched", density, false), options, chains, seed);
  const Sample& draws = *result.sample;
  EXPECT_EQ(draws.divergences, 0);
  for (int i = 0; i < density.n; ++i) {
    const auto quantity = static_cast<std::size_t>(i);
    const Estimate mean = estimate(draws, quantity, [](double x) { return x; });
    EXPECT_LT(std::abs(mean.mean), errors_allowed * mean.error) << "coordinate " << i;
    const Estimate square = estimate(draws, quantity, [](double x) { return x * x; });
    EXPECT_LT(std::abs(square.mean - density.variance(i)), errors_allowed * square.error)
        << "coordinate " << i;
    EXPECT_LT(square.error, 0.1 * density.variance(i)) << "a test that sees nothing";
  }
}

HmcOptions with(const std::string& sampler, const std::string& metric) {
  HmcOptions options;
  options.sampler = sampler;
  options.metric = metric;
  options.warmup = 300;
  options.draws = 150;
  return options;
}

TEST(HmcLaw, NutsHasTheMomentsWithEveryMetric) {
  for (const char* metric : {"unit", "diagonal", "low_rank", "dense"}) {
    SCOPED_TRACE(metric);
    expect_moments_of_stretched_normal(with("nuts", metric), 64, 1);
  }
}

TEST(HmcLaw, ChainsWithALearntLengthHaveTheMoments) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    expect_moments_of_stretched_normal(with("chees", "low_rank"), 128, seed);
  }
}

TEST(HmcLaw, FixedLengthsHaveTheMoments) {
  HmcOptions options = with("static", "dense");
  options.leapfrogs = 4;
  options.jitter = 0.3;
  expect_moments_of_stretched_normal(options, 64, 1);
}

// Published reference draws give mu 4.41 +- 3.31 and tau 3.60 +- 3.20 (posteriordb).
TEST(HmcLaw, EightSchoolsHaveTheReferenceMoments) {
  HmcOptions options = with("nuts", "automatic");
  options.draws = 500;
  options.target_acceptance = 0.9;
  const Result result = sample(posterior_of("eight schools", EightSchools{}, true), options, 64);
  const Estimate mu = estimate(*result.sample, 8, [](double x) { return x; });
  EXPECT_NEAR(mu.mean, 4.4105, 4 * std::hypot(mu.error, 0.0331));
  const Estimate tau = estimate(*result.sample, 9, [](double x) { return std::exp(x); });
  EXPECT_NEAR(tau.mean, 3.6021, 4 * std::hypot(tau.error, 0.0320));
}

// Between two modes that are 57 standard deviations apart no trajectory passes: chains stay in the
// mode that they began in, whatever its weight.
TEST(HmcLaw, PlainChainsGetTheWeightsOfTwoModesWrong) {
  HmcOptions options = with("nuts", "unit");
  const Result result = sample(posterior_of("two modes", TwoModes{}, true), options, 64);
  const Estimate far = estimate(*result.sample, 0, [](double x) { return x > 4 ? 1.0 : 0.0; });
  EXPECT_GT(std::abs(far.mean - 0.2), 0.1);
}

TEST(HmcLaw, ALadderGetsThemRight) {
  HmcOptions options = with("chees", "unit");
  options.rungs = 28;
  options.warmup = 600;
  options.draws = 1500;
  const TwoModes density;
  const Result result = sample(posterior_of("two modes", density, true), options, 28 * 32);
  const Sample& draws = *result.sample;
  EXPECT_EQ(draws.all_chains, 32);
  const Estimate far = estimate(draws, 0, [](double x) { return x > 4 ? 1.0 : 0.0; });
  EXPECT_NEAR(far.mean, 0.2, errors_allowed * far.error);
  EXPECT_LT(far.error, 0.04) << "a test that sees nothing";
  const Estimate mean = estimate(draws, 0, [](double x) { return x; });
  EXPECT_NEAR(mean.mean, 1.6, errors_allowed * mean.error);
  EXPECT_GT(result.diagnostics.at("round_trips"), 50);
  EXPECT_NEAR(result.diagnostics.at("log_z_difference"), density.log_z(), 0.1);
}

}  // namespace
}  // namespace kiln::test::hmc_law_test
