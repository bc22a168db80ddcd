// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace kiln::cli::statistics_test {
namespace {

TEST(Spread, OfAnOddNumberIsMadeOfItsValues) {
  const Spread spread = spread_of({5, 1, 4, 2, 3});
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.lower_quartile, 2);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.upper_quartile, 4);
  EXPECT_EQ(spread.max, 5);
  EXPECT_EQ(spread.count, 5);
}

TEST(Spread, LiesBetweenTheValuesOfAnEvenNumber) {
  const Spread spread = spread_of({40, 10, 20, 30});
  EXPECT_DOUBLE_EQ(spread.lower_quartile, 17.5);
  EXPECT_DOUBLE_EQ(spread.median, 25);
  EXPECT_DOUBLE_EQ(spread.upper_quartile, 32.5);
}

TEST(Spread, OfOneValueIsThatValue) {
  const Spread spread = spread_of({7});
  EXPECT_EQ(spread.min, 7);
  EXPECT_EQ(spread.lower_quartile, 7);
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.max, 7);
  EXPECT_EQ(spread.count, 1);
}

TEST(Latency, HasTheValueThatOneInAHundredExceeds) {
  std::vector<double> values;
  for (int i = 200; i > 0; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(latency_of(values).median_s, 100.5);
  EXPECT_EQ(latency_of(values).p99_s, 198);
  EXPECT_EQ(latency_of({3.0}).p99_s, 3);
  EXPECT_THROW(latency_of({}), std::invalid_argument);
}

TEST(Spread, OneOutlierLeavesTheMedianAlone) { EXPECT_EQ(spread_of({1, 1, 1, 1, 1000}).median, 1); }

TEST(Spread, RefusesWhatHasNoOrder) {
  EXPECT_THROW(spread_of({}), std::invalid_argument);
  EXPECT_THROW(spread_of({1, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
  EXPECT_THROW(spread_of({std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

TEST(Spread, ScalesWithTheUnit) {
  const Spread spread = scaled(spread_of({1, 2, 3}), 1e6);
  EXPECT_EQ(spread.min, 1e6);
  EXPECT_EQ(spread.median, 2e6);
  EXPECT_EQ(spread.max, 3e6);
  EXPECT_EQ(spread.count, 3);
}

TEST(Spread, OfARateTurnsTheDurationsRound) {
  const Spread rate = rate_of(8, spread_of({1, 2, 4}));
  EXPECT_EQ(rate.min, 2);
  EXPECT_EQ(rate.median, 4);
  EXPECT_EQ(rate.max, 8);
  EXPECT_LT(rate.lower_quartile, rate.upper_quartile);
  EXPECT_THROW(rate_of(1, spread_of({0, 1})), std::invalid_argument);
}

// Rates that level off, that fall again, and that still rise.
TEST(Saturation, IsTheFirstRateNearTheBest) {
  EXPECT_EQ(saturated_at({1, 2, 4, 7.9, 8, 8}, 0.9), 3u);
  EXPECT_EQ(saturated_at({1, 2, 4, 7.1, 8, 8}, 0.9), 4u) << "7.1 is less than 0.9 times 8";
  EXPECT_EQ(saturated_at({5, 9, 10, 3}, 0.9), 1u) << "a share of the best, not of the last";
  EXPECT_EQ(saturated_at({10, 9, 8}, 0.9), 0u);
  EXPECT_EQ(saturated_at({1, 2, 4, 8}, 0.9), std::nullopt) << "the last may not be the best";
  EXPECT_EQ(saturated_at({5}, 0.9), std::nullopt);
  EXPECT_EQ(saturated_at({}, 0.9), std::nullopt);
}

}  // namespace
}  // namespace kiln::cli::statistics_test
