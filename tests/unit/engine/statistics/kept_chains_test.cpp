// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kept chains that are no multiple of the super-chains.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/statistics/draw_conditions.hpp"
#include "kiln/statistics/draw_judge.hpp"
#include "kiln/statistics/sample_summary.hpp"

#include "series.hpp"

namespace kiln::kept_chains_test {
namespace {

constexpr std::int64_t draws = 100;

/// Of 256 chains in 16 super-chains.
Sample sample_of(std::int64_t kept) {
  Sample sample = test::good_sample({"x"}, kept, draws);
  sample.values = test::ar1_chains(0, 100, draws, 1);
  sample.values.resize(static_cast<std::size_t>(kept * draws));
  sample.log_density = test::ar1_chains(0, 100, draws, 1001);
  sample.log_density.resize(static_cast<std::size_t>(kept * draws));
  sample.all_chains = 256;
  sample.super_chains = 16;
  return sample;
}

JudgedCondition judged(const DrawConditions& conditions, const Sample& sample) {
  return judge(conditions, sample, summarize(sample)).all.front();
}

bool met_at_a_look(const DrawConditions& conditions, const Sample& sample) {
  const auto column = [&](std::size_t quantity) {
    return quantity == 0 ? sample.values : sample.log_density;
  };
  DrawJudge judge;
  return judge
      .look(conditions,
            {sample.chains, sample.draws, sample.all_chains, sample.super_chains, 0, 1, column})
      .met;
}

// Chains 96 .. 99 are beyond the whole super-chains: what they do, R-hat alone sees. Both ways to
// judge agree.
TEST(KeptChains, AsManyOfEachSuperChainAreJudged) {
  const Sample whole = sample_of(96);
  Sample sample = sample_of(100);
  for (std::size_t i = 9600; i < 10000; ++i) sample.values[i] += 100;
  EXPECT_GT(summarize(sample).worst_r_hat()->r_hat, 1.1);
  const double value = judged(DrawConditions::parse("rhat<=1.05"), whole).value;
  EXPECT_EQ(value, summarize(whole).worst_nested_r_hat()->nested_r_hat);
  for (const double bound : {1.0001, 1.05}) {
    const auto conditions = DrawConditions::parse("rhat<=" + std::to_string(bound));
    const JudgedCondition one = judged(conditions, sample);
    EXPECT_TRUE(one.nested);
    EXPECT_EQ(one.value, value);
    EXPECT_EQ(one.met, bound > 1.01) << value;
    EXPECT_EQ(met_at_a_look(conditions, sample), one.met);
  }
}

TEST(KeptChains, FewerThanSuperChainsAreJudgedByRHat) {
  const DrawConditions conditions = DrawConditions::parse("rhat<=1.05");
  Sample sample = sample_of(15);
  const JudgedCondition one = judged(conditions, sample);
  EXPECT_FALSE(one.nested);
  EXPECT_EQ(one.value, summarize(sample).worst_r_hat()->r_hat);
  EXPECT_TRUE(one.met);
  EXPECT_TRUE(met_at_a_look(conditions, sample));
  for (std::size_t i = 0; i < 100; ++i) sample.values[i] += 100;
  EXPECT_FALSE(judged(conditions, sample).met);
  EXPECT_FALSE(met_at_a_look(conditions, sample));
}

}  // namespace
}  // namespace kiln::kept_chains_test
