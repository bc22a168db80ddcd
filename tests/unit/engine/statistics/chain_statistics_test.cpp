// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/chain_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/errors.hpp"

#include "series.hpp"
#include "statistics/autocovariance.hpp"
#include "statistics/pooled_ranks.hpp"

namespace kiln::chain_statistics_test {
namespace {

using test::ar1_chains;
using Values = std::vector<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();

// Straight from the definition.
double autocovariance_of(const Values& x, std::int64_t chains, std::int64_t lag) {
  const std::int64_t n = static_cast<std::int64_t>(x.size()) / chains;
  double sum = 0;
  for (std::int64_t c = 0; c < chains; ++c) {
    const auto begin = x.begin() + c * n;
    const double mean = std::accumulate(begin, begin + n, 0.0) / static_cast<double>(n);
    for (std::int64_t t = lag; t < n; ++t) sum += (begin[t] - mean) * (begin[t - lag] - mean);
  }
  return sum / static_cast<double>(x.size());
}

double normal_probability(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(SplitChains, HalvesEachAndLeavesTheMiddleOut) {
  const Values even{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(split_chains({even, 2, 4}), even);
  const Values odd{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(split_chains({odd, 2, 5}), (Values{1, 2, 4, 5, 6, 7, 9, 10}));
}

TEST(NormalScores, AreQuantilesOfRanks) {
  const Values values{10, 30, 20};
  const Values scores = normal_scores(values);
  EXPECT_NEAR(normal_probability(scores[0]), 0.625 / 3.25, 1e-15);
  EXPECT_NEAR(normal_probability(scores[1]), 2.625 / 3.25, 1e-15);
  EXPECT_EQ(scores[2], 0);
}

TEST(NormalScores, GiveEqualValuesTheirMeanRank) {
  const Values values{5, 7, 5, 7, 9};  // ranks 1.5, 3.5, 1.5, 3.5, 5
  const Values scores = normal_scores(values);
  EXPECT_NEAR(normal_probability(scores[0]), 1.125 / 5.25, 1e-15);
  EXPECT_NEAR(normal_probability(scores[1]), 3.125 / 5.25, 1e-15);
  EXPECT_NEAR(normal_probability(scores[4]), 4.625 / 5.25, 1e-15);
  EXPECT_EQ(scores[0], scores[2]);
  EXPECT_EQ(scores[1], scores[3]);
}

TEST(PooledRanks, MergeDistancesAsIfSortedAnew) {
  for (const std::size_t count : {1u, 2u, 7u, 400u}) {
    Values values = ar1_chains(0.3, 1, static_cast<std::int64_t>(count));
    for (double& value : values) value = std::round(8 * value) / 8;  // with ties, exactly
    const PooledRanks ranks(values);
    Values distances;
    for (const double value : values) distances.push_back(std::abs(value - ranks.quantile(0.5)));
    EXPECT_EQ(ranks.scores_of_distances(), normal_scores(distances)) << count;
  }
}

// So many that they are sorted by digits: signs, magnitudes from the least to the greatest, ties
// and both zeros.
TEST(PooledRanks, OfManyValuesAreThoseOfTheirOrder) {
  Values values = ar1_chains(0.3, 1, 20000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 5 == 0) values[i] = std::round(values[i]);  // 0 and -0 among them
    if (i % 7 == 1) values[i] *= std::pow(10.0, static_cast<double>(i % 600) - 300);
  }
  values[17] = std::numeric_limits<double>::max();
  values[18] = std::numeric_limits<double>::lowest();
  values[19] = std::numeric_limits<double>::denorm_min();
  Values sorted = values;
  std::ranges::sort(sorted);
  const PooledRanks ranks(values);
  for (const double p : {0.0, 0.05, 0.5, 0.95}) {
    const double place = p * static_cast<double>(sorted.size() - 1);
    const auto at = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(at);
    EXPECT_EQ(ranks.quantile(p), sorted[at] + share * (sorted[at + 1] - sorted[at])) << p;
  }
  const Values scores = ranks.scores();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto equal = std::ranges::equal_range(sorted, values[i]);
    const auto below = static_cast<double>(equal.begin() - sorted.begin());
    const double rank = below + 0.5 * static_cast<double>(std::ranges::distance(equal) + 1);
    ASSERT_NEAR(normal_probability(scores[i]), (rank - 0.375) / (20000 + 0.25), 1e-12) << values[i];
  }
}

TEST(PooledRanks, InterpolateQuantiles) {
  const PooledRanks ranks(Values{5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(ranks.quantile(0.05), 1.2);
  EXPECT_DOUBLE_EQ(ranks.quantile(0.5), 3);
  EXPECT_DOUBLE_EQ(ranks.quantile(0.95), 4.8);
  EXPECT_EQ(PooledRanks(Values{7}).quantile(0.95), 7);
}

TEST(PotentialScaleReduction, IsThatOfTheFormula) {
  const Values values{0, 2, 1, 3};  // W = 2, B/n = 1/2, n = 2
  EXPECT_DOUBLE_EQ(potential_scale_reduction({values, 2, 2}), std::sqrt(0.5 + 0.25));
}

TEST(PotentialScaleReduction, TellsStandingChainsFromEqualOnes) {
  const Values apart{1, 1, 2, 2}, equal{1, 1, 1, 1};
  EXPECT_EQ(potential_scale_reduction({apart, 2, 2}), infinite);
  EXPECT_TRUE(std::isnan(potential_scale_reduction({equal, 2, 2})));
  EXPECT_TRUE(std::isnan(potential_scale_reduction({apart, 1, 4})));
  EXPECT_TRUE(std::isnan(potential_scale_reduction({apart, 4, 1})));
}

// Independent draws: R-hat - 1 is of the order of the number of chains over that of draws.
TEST(SplitRHat, IsOneForChainsThatAgree) {
  const Values values = ar1_chains(0, 4, 2000);
  EXPECT_NEAR(split_r_hat({values, 4, 2000}), 1, 0.003);
}

// Two chains two standard deviations apart: ranks keep about the ratio of the normal case, where
// W = 1 and the variance of the means of four halves is 4/3.
TEST(SplitRHat, SeesChainsThatStandApart) {
  Values values = ar1_chains(0, 2, 2000);
  for (std::size_t i = 0; i < 2000; ++i) values[i] += 2;
  EXPECT_NEAR(split_r_hat({values, 2, 2000}), std::sqrt(1 + 4.0 / 3), 0.03);
}

// Without one R-hat^2 - 1 is about (chi^2 - 1) / 1000, one degree of freedom; four sigma are
// allowed.
TEST(SplitRHat, SeesADriftOfASingleChain) {
  Values values = ar1_chains(0, 1, 2000);
  EXPECT_LT(split_r_hat({values, 1, 2000}), std::sqrt(1 + 15.0 / 1000));
  for (std::size_t i = 0; i < 1000; ++i) values[i] += 2;
  EXPECT_GT(split_r_hat({values, 1, 2000}), 1.5);
}

TEST(SplitRHat, SeesScalesThatDifferAroundOneMean) {
  Values values = ar1_chains(0, 4, 2000);
  for (std::size_t i = 0; i < 2000; ++i) values[i] *= 4;
  EXPECT_NEAR(potential_scale_reduction({normal_scores(values), 4, 2000}), 1, 0.003);
  EXPECT_GT(split_r_hat({values, 4, 2000}), 1.1);
}

TEST(SplitRHat, NeedsFourDraws) {
  const Values values{1, 4, 2, 3, 7, 5};
  EXPECT_TRUE(std::isnan(split_r_hat({values, 2, 3})));
  EXPECT_TRUE(std::isfinite(split_r_hat({Values{1, 3, 2, 5}, 1, 4})));
}

// Chains 0 and 2 began together, and 1 and 3. Means of super-chains 1 and 4, B = 4.5; in each the
// means of chains scatter by 2 and the chains within by 2, W = 4.
TEST(NestedRHat, IsThatOfTheFormula) {
  const Values values{-1, 1, 2, 4, 1, 3, 4, 6};
  EXPECT_DOUBLE_EQ(nested_r_hat({values, 4, 2}, 2), std::sqrt(1 + 4.5 / 4));
}

TEST(NestedRHat, WorksWithASingleDrawOfEachChain) {
  const Values values{0, 3, 2, 5};  // means 1 and 4, variances 2 and 2
  EXPECT_DOUBLE_EQ(nested_r_hat({values, 4, 1}, 2), std::sqrt(1 + 4.5 / 2));
}

TEST(NestedRHat, RefusesGroupsOfUnequalSize) {
  const Values values{0, 2, 3, 5};
  try {
    nested_r_hat({values, 4, 1}, 3);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "sample.super_chains");
    EXPECT_EQ(error.message(), "4 chains cannot be divided into 3 super-chains of equal size");
  }
  EXPECT_THROW(nested_r_hat({values, 4, 1}, 1), InvalidArgument);
}

TEST(Autocovariance, AgreesWithItsDefinitionOnBothWays) {
  for (const std::int64_t chains : {1, 2, 5}) {
    const std::int64_t draws = 301;
    const Values values = ar1_chains(0.98, chains, draws);
    Autocovariance covariance({values, chains, draws});
    for (const std::int64_t lag : {0, 1, 2, 63, 64, 65, 200, 300}) {
      EXPECT_NEAR(covariance(lag), autocovariance_of(values, chains, lag), 1e-13)
          << chains << " chains, lag " << lag;
    }
  }
}

// x - mean is four times -1/2 and four times 1/2: autocovariances 1/4, 5/32, 1/16, -1/32 at lags
// 0 .. 3, W = 2/7, correlations 1 - 4 (2/7 - c): 27/56, 3/28, -15/56. The pair of lags 2 and 3 is
// negative; tau = 2 (1 + 27/56) - 1 + 3/28 = 29/14.
TEST(EffectiveDraws, AreThoseOfTheFormula) {
  const Values values{0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_NEAR(effective_draws({values, 1, 8}), 8 * 14.0 / 29, 1e-13);
}

// Every correlation is 1: two pairs of 2, tau = 7.
TEST(EffectiveDraws, CountStandingChainsAsOneDrawEach) {
  const Values values{0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_NEAR(effective_draws({values, 2, 4}), 8.0 / 7, 1e-13);
}

TEST(EffectiveDraws, AreNeverMoreThanNLogN) {
  Values values;
  for (int i = 0; i < 100; ++i) values.push_back(i % 2);
  EXPECT_DOUBLE_EQ(effective_draws({values, 1, 100}), 200);
}

TEST(EffectiveDraws, AreNotKnownOfConstantsAndSingleDraws) {
  const Values constant(12, 0.1);
  EXPECT_TRUE(std::isnan(effective_draws({constant, 3, 4})));
  EXPECT_TRUE(std::isnan(effective_draws({Values{1, 2}, 2, 1})));
}

// tau = (1 + phi) / (1 - phi). The estimate adds up about 2 M correlations, with M three times the
// memory (1 + |phi|) / (1 - |phi|); its relative standard deviation is then sqrt(2 (2 M + 1) / N),
// N = 200,000, and four of them are allowed.
TEST(EffectiveDraws, OfKnownSeriesAreWithinTheirError) {
  const std::int64_t chains = 4, draws = 50000;
  for (const double phi : {0.0, 0.5, 0.9, 0.99, -0.3, -0.7}) {
    const Values values = ar1_chains(phi, chains, draws);
    const double tau = (1 + phi) / (1 - phi), all = static_cast<double>(values.size());
    const double error = std::sqrt(2 * (6 * std::max(tau, 1 / tau) + 1) / all);
    const double ess = effective_draws({values, chains, draws});
    EXPECT_NEAR(ess * tau / all, 1, 4 * error) << "phi " << phi;
  }
}

TEST(EffectiveDraws, OfAntitheticChainsExceedTheirNumber) {
  const Values values = ar1_chains(-0.5, 4, 5000);
  EXPECT_NEAR(effective_draws({values, 4, 5000}), 3 * 20000, 0.1 * 3 * 20000);
}

TEST(EffectiveDraws, CountChainsThatDisagreeAsCorrelated) {
  Values values = ar1_chains(0, 4, 1000);
  for (std::size_t i = 0; i < 1000; ++i) values[i] += 3;
  EXPECT_LT(effective_draws({values, 4, 1000}), 20);
}

// s^2 = 20/3, means 1 and 5 scatter by 8.
TEST(EffectiveDrawsFromMeans, AreThoseOfTheFormula) {
  const Values values{0, 2, 4, 6};
  EXPECT_DOUBLE_EQ(effective_draws_from_means({values, 2, 2}), 2 * (20.0 / 3) / 8);
  EXPECT_TRUE(std::isnan(effective_draws_from_means({values, 1, 4})));
  EXPECT_TRUE(std::isnan(effective_draws_from_means({Values{3, 3}, 2, 1})));
}

// 1024 chains of 200 draws: a chain has n / tau (1 + O(tau / n)) effective draws, and the scatter
// of the means a relative error of sqrt(2 / 1023), of which four are allowed.
TEST(EffectiveDrawsFromMeans, OfKnownSeriesAreWithinTheirError) {
  const double phi = 0.6, n = 200;
  const Values values = ar1_chains(phi, 1024, 200);
  // The exact variance of a mean: (1 + 2 sum (1 - k/n) phi^k) / n.
  double variance = 1;
  for (int k = 1; k < 200; ++k) variance += 2 * (1 - k / n) * std::pow(phi, k);
  const double expected = 1024 * n / variance;
  EXPECT_NEAR(effective_draws_from_means({values, 1024, 200}) / expected, 1,
              4 * std::sqrt(2.0 / 1023));
}

// Steps 1, 2, -1 and distances from 2.5 of 1.5, 0.5, 1.5, 0.5.
TEST(EnergyInformationFraction, IsThatOfTheFormula) {
  EXPECT_DOUBLE_EQ(energy_information_fraction(Values{1, 2, 4, 3}), 6.0 / 5);
  EXPECT_TRUE(std::isnan(energy_information_fraction(Values{1})));
  EXPECT_TRUE(std::isnan(energy_information_fraction(Values{2, 2, 2})));
}

// 2 (1 - phi) for a series of correlation phi.
TEST(EnergyInformationFraction, IsTwoForIndependentEnergies) {
  EXPECT_NEAR(energy_information_fraction(ar1_chains(0, 1, 20000)), 2, 0.05);
  EXPECT_NEAR(energy_information_fraction(ar1_chains(0.9, 1, 20000)), 0.2, 0.02);
}

}  // namespace
}  // namespace kiln::chain_statistics_test
