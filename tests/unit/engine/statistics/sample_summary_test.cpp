// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/sample_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kiln/errors.hpp"

#include "series.hpp"

namespace kiln::sample_summary_test {
namespace {

using test::ar1_chains;
using test::good_sample;
using Values = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> advice_of(const Sample& sample) {
  return advice_on(sample, summarize(sample));
}

// The only advice that a sample gets.
std::string only_advice(const Sample& sample) {
  const std::vector<std::string> advice = advice_of(sample);
  EXPECT_EQ(advice.size(), 1u);
  return advice.empty() ? std::string{} : advice.front();
}

TEST(QuantitySummary, HasMomentsAndQuantiles) {
  const Values values{5, 1, 4, 2, 3, 6};
  const QuantitySummary q = summarize_quantity("x", {values, 1, 6});
  EXPECT_EQ(q.name, "x");
  EXPECT_DOUBLE_EQ(q.mean, 3.5);
  EXPECT_DOUBLE_EQ(q.sd, std::sqrt(3.5));
  EXPECT_DOUBLE_EQ(q.q05, 1.25);
  EXPECT_DOUBLE_EQ(q.q25, 2.25);
  EXPECT_DOUBLE_EQ(q.q50, 3.5);
  EXPECT_DOUBLE_EQ(q.q75, 4.75);
  EXPECT_DOUBLE_EQ(q.q95, 5.75);
}

TEST(QuantitySummary, TakesQuantilesOfAnOddNumberOfDrawsFromAll) {
  const Values values{1, 2, 100, 3, 4};
  const QuantitySummary q = summarize_quantity("x", {values, 1, 5});
  EXPECT_DOUBLE_EQ(q.q50, 3);
  EXPECT_DOUBLE_EQ(q.q95, 80.8);
  EXPECT_TRUE(std::isfinite(q.r_hat));
}

// AR(1) with phi = 1/2: tau = 3 for the mean; squares have phi^2, tau = 5/3, and sd an error of
// sqrt(tau / (2 N)). The errors themselves are known to some per cent.
TEST(QuantitySummary, HasErrorsOfAKnownSeries) {
  const std::int64_t draws = 20000;
  const Values values = ar1_chains(0.5, 4, draws);
  const QuantitySummary q = summarize_quantity("x", {values, 4, draws});
  EXPECT_NEAR(q.mcse_mean, std::sqrt(3.0 / 80000), 0.05 * q.mcse_mean);
  EXPECT_NEAR(q.mcse_sd, std::sqrt(5.0 / 3 / 2 / 80000), 0.05 * q.mcse_sd);
  EXPECT_NEAR(q.mean, 0, 4 * q.mcse_mean);
  EXPECT_NEAR(q.sd, 1, 4 * q.mcse_sd);
  EXPECT_NEAR(q.q95, 1.6449, 0.03);
  EXPECT_NEAR(q.ess_bulk, 80000.0 / 3, 0.1 * q.ess_bulk);
  EXPECT_GT(q.ess_tail, q.ess_bulk);  // indicators of the tails forget sooner
  EXPECT_NEAR(q.r_hat, 1, 0.001);
  EXPECT_TRUE(std::isnan(q.nested_r_hat));
  EXPECT_TRUE(std::isnan(q.ess_from_means)) << "four means scatter too much themselves";
}

TEST(QuantitySummary, OfAConstantKnowsItsValueOnly) {
  const Values values(40, 0.1);
  const QuantitySummary q = summarize_quantity("x", {values, 4, 10});
  EXPECT_EQ(q.mean, 0.1);
  EXPECT_EQ(q.q95, 0.1);
  EXPECT_EQ(q.sd, 0);
  EXPECT_EQ(q.mcse_mean, 0);
  EXPECT_TRUE(std::isnan(q.r_hat));
  EXPECT_TRUE(std::isnan(q.ess_bulk));
  EXPECT_TRUE(std::isnan(q.ess_tail));
}

TEST(QuantitySummary, SaysNothingWhereValuesAreNotFinite) {
  Values values = ar1_chains(0, 2, 50);
  values[7] = nan;
  values[8] = std::numeric_limits<double>::infinity();
  const QuantitySummary q = summarize_quantity("x", {values, 2, 50});
  EXPECT_EQ(q.not_finite, 2);
  EXPECT_TRUE(std::isnan(q.mean));
  EXPECT_TRUE(std::isnan(q.q50));
  EXPECT_TRUE(std::isnan(q.r_hat));
}

TEST(QuantitySummary, OfShortChains) {
  const Values values{1, 3, 2, 5};
  const QuantitySummary four = summarize_quantity("x", {values, 1, 4});
  EXPECT_TRUE(std::isfinite(four.r_hat));
  EXPECT_GT(four.ess_bulk, 0);
  const QuantitySummary two = summarize_quantity("x", {values, 2, 2});
  EXPECT_DOUBLE_EQ(two.mean, 2.75);
  EXPECT_DOUBLE_EQ(two.q50, 2.5);
  EXPECT_TRUE(std::isnan(two.r_hat));
  EXPECT_TRUE(std::isnan(two.ess_bulk));
}

// Values 0 and 1, of which 2 % are 1: up to the quantiles of 5 % and of 95 %, both 0, lie the same
// draws.
TEST(QuantitySummary, OfARareEventHasTheTailThatItHas) {
  Values values(4000, 0.0);
  for (std::size_t i = 0; i < values.size(); i += 50) values[i] = 1;
  const QuantitySummary q = summarize_quantity("x", {values, 4, 1000});
  EXPECT_EQ(q.q95, 0);
  EXPECT_TRUE(std::isfinite(q.ess_tail));
}

TEST(QuantitySummary, UsesSuperChainsAndManyChains) {
  const Values values = ar1_chains(0, 64, 8);
  const QuantitySummary q = summarize_quantity("x", {values, 64, 8}, 8);
  EXPECT_NEAR(q.nested_r_hat, std::sqrt(1 + 1.0 / 64), 0.02);  // 64 effective draws in each
  EXPECT_NEAR(q.ess_from_means / 512, 1, 4 * std::sqrt(2.0 / 63));
}

TEST(SampleSummary, CoversQuantitiesAndLogDensity) {
  const Sample sample = good_sample({"mu", "theta[1]"}, 4, 500);
  const SampleSummary summary = summarize(sample);
  ASSERT_EQ(summary.quantities.size(), 2u);
  EXPECT_EQ(summary.quantities[1].name, "theta[1]");
  EXPECT_EQ(summary.log_density.name, "lp__");
  double sum = 0;
  for (std::int64_t c = 0; c < 4; ++c) {
    for (std::int64_t t = 0; t < 500; ++t) sum += sample.value(c, t, 1);
  }
  EXPECT_DOUBLE_EQ(summary.quantities[1].mean, sum / 2000);
  EXPECT_DOUBLE_EQ(summary.acceptance, 0.75);
  EXPECT_DOUBLE_EQ(summary.leapfrogs, 7);
  EXPECT_NEAR(summary.e_bfmi, 2, 0.2);
  EXPECT_LE(summary.e_bfmi_min, summary.e_bfmi);
  EXPECT_EQ(summary.e_bfmi_low, 0);
  EXPECT_EQ(summary.depth_hits, 0);
}

TEST(SampleSummary, NamesTheWorst) {
  Sample sample = good_sample({"a", "b", "c"}, 4, 500);
  for (std::size_t i = 0; i < 500; ++i) sample.values[3 * i + 1] += 5;  // b, in the first chain
  const SampleSummary summary = summarize(sample);
  EXPECT_EQ(summary.worst_r_hat()->name, "b");
  EXPECT_EQ(summary.min_bulk()->name, "b");
  EXPECT_GT(summary.worst_r_hat()->r_hat, 1.3);
}

TEST(SampleSummary, TakesEnergiesByChain) {
  Sample sample = good_sample({"a"}, 4, 1000);
  const Values slow = ar1_chains(0.95, 1, 1000);
  std::copy(slow.begin(), slow.end(), sample.hamiltonian.begin() + 1000);
  const SampleSummary summary = summarize(sample);
  EXPECT_NEAR(summary.e_bfmi_min, 0.1, 0.05);
  EXPECT_EQ(summary.e_bfmi_low, 1);
  EXPECT_GT(summary.e_bfmi, 1);
}

// Ten transitions apart even slow energies look independent.
TEST(SampleSummary, TakesEnergiesFromTransitionToTransition) {
  Sample sample = good_sample({"a"}, 4, 1000);
  sample.thin = 10;
  EXPECT_TRUE(std::isnan(summarize(sample).e_bfmi)) << "kept draws say nothing of it";
  sample.hamiltonian_steps = {2, 20, 30, 40};
  sample.hamiltonian_squares = {20, 20, 20, 20};
  const SampleSummary summary = summarize(sample);
  EXPECT_DOUBLE_EQ(summary.e_bfmi, 92.0 / 80);
  EXPECT_DOUBLE_EQ(summary.e_bfmi_min, 0.1);
  EXPECT_EQ(summary.e_bfmi_low, 1);
}

// Of 1024 chains coordinates have variance / variance of the means effective draws each.
TEST(SampleSummary, CoversAllChainsByTheirMoments) {
  Sample sample = good_sample({"a"}, 4, 10);
  sample.all_chains = 1024;
  sample.coordinate_variance = {4, 9, 0};
  sample.chain_mean_variance = {0.5, 3, 0};
  const SampleSummary summary = summarize(sample);
  EXPECT_DOUBLE_EQ(summary.ess_all_chains, 1024 * 3);
  EXPECT_EQ(summary.worst_coordinate, 1);
  sample.all_chains = 4;
  EXPECT_TRUE(std::isnan(summarize(sample).ess_all_chains));
}

TEST(SampleSummary, RefusesArraysOfAnotherSize) {
  Sample sample = good_sample({"a", "b"}, 2, 10);
  sample.values.pop_back();
  try {
    summarize(sample);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "sample.shape");
    EXPECT_EQ(error.message(), "the sample has 39 values of quantities");
    EXPECT_EQ(error.expected(), "40 values for the chains, draws and names of the sample");
  }
}

TEST(SampleSummary, OfNoDrawsIsEmpty) {
  Sample sample = good_sample({"a"}, 4, 0);
  const SampleSummary summary = summarize(sample);
  EXPECT_TRUE(std::isnan(summary.quantities.front().mean));
  EXPECT_TRUE(std::isnan(summary.acceptance));
  EXPECT_EQ(summary.worst_r_hat(), nullptr);
  EXPECT_EQ(only_advice(sample),
            "The run kept no draws: it ended during its warm-up. Give the run more time, or a "
            "shorter warm-up.");
}

TEST(SampleAdvice, IsNotGivenToAGoodSample) {
  EXPECT_EQ(advice_of(good_sample({"a", "b"}, 4, 1000)), std::vector<std::string>{});
}

TEST(SampleAdvice, OnDivergences) {
  Sample sample = good_sample({"a"}, 4, 1000);
  sample.divergences = 60;
  const std::vector<std::string> advice = advice_of(sample);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0],
            "60 of 4000 transitions after warm-up diverged (1.5 %). The steps are too long in "
            "regions where the density curves sharply, and the draws miss these regions. Raise the "
            "target acceptance; if divergences remain, reparameterise the model.");
  sample.divergences = 1;
  EXPECT_NE(only_advice(sample).find("diverged (less than 0.1 %)"), std::string::npos);
}

TEST(SampleAdvice, OnChainsThatDisagree) {
  Sample sample = good_sample({"a", "b"}, 4, 1000);
  for (std::size_t i = 0; i < 1000; ++i) sample.values[2 * i] += 0.4;  // a, in the first chain
  const std::string advice = only_advice(sample);
  EXPECT_EQ(advice.find("R-hat is above 1.01 for 1 of 3 quantities, and largest for a (1.0"), 0u)
      << advice;
}

TEST(SampleAdvice, OnShortChainsSaysThatRHatNeedsLongerOnes) {
  Sample sample = good_sample({"a"}, 256, 60);
  sample.values = ar1_chains(0.8, 256, 60);
  EXPECT_NE(only_advice(sample).find(
                "R-hat needs about 100 to fall below the limit. Draw more from each chain."),
            std::string::npos);
  sample.super_chains = 2;
  EXPECT_NE(only_advice(sample).find("and means over all chains are reliable."), std::string::npos);
}

// All chains miss the same, so they agree: a nested R-hat of 1.008 beside a mean that was off by
// 0.45 standard deviations.
TEST(SampleAdvice, OnPartsThatAllChainsMiss) {
  const std::string usable = "and means over all chains are reliable",
                    missing = "The draws miss parts of the density";
  const auto said = [](const Sample& of, const std::string& what) {
    std::string all;
    for (const std::string& one : advice_of(of)) all += one + '\n';
    return all.find(what) != std::string::npos;
  };
  Sample sample = good_sample({"a"}, 256, 60);
  sample.values = ar1_chains(0.8, 256, 60);
  sample.super_chains = 2;
  sample.divergences = 15;  // of 15,360: less than 0.1 %
  EXPECT_TRUE(said(sample, usable));
  EXPECT_FALSE(said(sample, missing));
  sample.divergences = 16;
  EXPECT_FALSE(said(sample, usable));
  EXPECT_TRUE(said(sample, missing));
  EXPECT_TRUE(said(sample, "but it cannot show regions that all chains miss"));

  sample.divergences = 0;
  sample.hamiltonian = ar1_chains(0.95, 256, 60);  // E-BFMI 2 (1 - 0.95) and more in short chains
  const double e_bfmi = summarize(sample).e_bfmi;
  ASSERT_LT(e_bfmi, 0.2);
  EXPECT_FALSE(said(sample, usable)) << e_bfmi;
  EXPECT_TRUE(said(sample, missing + ": none of the transitions diverged")) << e_bfmi;
  sample.hamiltonian = ar1_chains(0.85, 256, 60);
  ASSERT_GT(summarize(sample).e_bfmi, 0.25);
  EXPECT_TRUE(said(sample, usable));
  EXPECT_FALSE(said(sample, missing));
}

TEST(SampleAdvice, OnSuperChainsThatRememberTheirStarts) {
  Sample sample = good_sample({"a"}, 32, 60);
  sample.super_chains = 4;
  EXPECT_TRUE(summarize(sample).worst_nested_r_hat()->nested_r_hat <= r_hat_limit);
  for (std::size_t c = 0; c < 32; c += 4) {
    for (std::size_t t = 0; t < 60; ++t) sample.values[60 * c + t] += 1;
  }
  const std::vector<std::string> advice = advice_of(sample);
  const auto found = std::find_if(advice.begin(), advice.end(), [](const std::string& sentence) {
    return sentence.find(
               "Nested R-hat is above 1.01 for 1 of 2 quantities, and largest for a (1.") == 0;
  });
  ASSERT_NE(found, advice.end()) << testing::PrintToString(advice);
  EXPECT_NE(found->find("super-chains of 8 chains still depend on their starting points"),
            std::string::npos)
      << *found;
}

TEST(SampleAdvice, OnFewerKeptChainsThanSuperChains) {
  Sample sample = good_sample({"a"}, 15, 1000);
  sample.all_chains = 256;
  sample.super_chains = 16;
  EXPECT_EQ(only_advice(sample),
            "Only 15 of the 256 chains are kept, and one of each of the 16 super-chains is needed "
            "for nested R-hat: R-hat alone compares the chains. Keep 16 chains or more.");
  sample.super_chains = 15;
  EXPECT_TRUE(advice_of(sample).empty());
}

TEST(SampleAdvice, OnChainsThatStandStill) {
  Sample sample = good_sample({"a"}, 4, 200);
  for (std::size_t i = 0; i < 800; ++i) sample.values[i] = static_cast<double>(i / 200);
  const std::vector<std::string> advice = advice_of(sample);
  ASSERT_GE(advice.size(), 1u);
  EXPECT_EQ(advice[0],
            "R-hat of a is infinite: the chains do not move. The step is too long, or the chains "
            "started in a region where the density is numerically flat.");
}

TEST(SampleAdvice, OnFewEffectiveDraws) {
  const Sample sample = good_sample({"a"}, 4, 50);
  const std::vector<std::string> advice = advice_of(sample);
  const auto found = std::find_if(advice.begin(), advice.end(), [](const std::string& sentence) {
    return sentence.find("Only ") == 0;
  });
  ASSERT_NE(found, advice.end());
  EXPECT_NE(found->find("of the 200 kept draws of "), std::string::npos) << *found;
  EXPECT_NE(found->find(". Error estimates are unreliable below 400 effective draws. "),
            std::string::npos)
      << *found;
}

TEST(SampleAdvice, OnEnergiesThatChangeSlowly) {
  Sample sample = good_sample({"a"}, 4, 1000);
  sample.hamiltonian = ar1_chains(0.95, 4, 1000);
  const std::vector<std::string> advice = advice_of(sample);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0].find("E-BFMI is 0.1"), 0u);
  EXPECT_NE(advice[0].find("E-BFMI is below 0.3 in 4 of 4 chains: the energy changes slowly"),
            std::string::npos);
  EXPECT_EQ(advice[1].find("The draws miss parts of the density"), 0u);
}

TEST(SampleAdvice, OnTreesThatWereCutOff) {
  Sample sample = good_sample({"a"}, 4, 1000);
  sample.depth[0] = sample.depth[1] = sample.depth[1500] = 10;
  EXPECT_EQ(only_advice(sample),
            "3 of 4000 kept transitions (less than 0.1 %), in 2 of 4 chains, reached the maximum "
            "tree depth 10. Kiln cut these trajectories off, and the chains move slowly. Raise the "
            "maximum depth, or warm up longer for a better metric.");
  sample.max_depth = 0;  // fixed lengths
  EXPECT_EQ(advice_of(sample), std::vector<std::string>{});
}

TEST(SampleAdvice, OnATinyStep) {
  Sample sample = good_sample({"a"}, 4, 1000);
  sample.step_size = 0.0004;
  EXPECT_EQ(only_advice(sample),
            "The step size is 0.0004 in units of the metric: in some direction the density is much "
            "narrower than in the metric. Warm up longer, use a dense metric, or "
            "reparameterise the model.");
}

TEST(SampleAdvice, OnASingleChain) {
  EXPECT_EQ(only_advice(good_sample({"a"}, 1, 1000)),
            "A single chain cannot show that it missed parts of the density: R-hat compares only "
            "its two halves. Run four or more chains.");
}

TEST(SampleAdvice, OnValuesThatAreNotFinite) {
  Sample sample = good_sample({"a", "b"}, 4, 1000);
  sample.values[5] = nan;
  EXPECT_EQ(
      only_advice(sample),
      "1 of 3 quantities have NaN or infinite values, and the other advice does not cover these "
      "quantities. Check how the problem computes the quantities.");
}

}  // namespace
}  // namespace kiln::sample_summary_test
