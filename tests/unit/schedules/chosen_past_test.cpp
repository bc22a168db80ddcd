// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "bayesian_optimization/past.hpp"

namespace kiln::chosen_past_test {
namespace {

TEST(ChosenPast, IsSomeOfTheBestAndOthersFromAllOverTheRest) {
  std::mt19937 draws(1);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {5u, 20u, 21u, 200u, 1001u}) {
    SCOPED_TRACE(n);
    std::vector<double> values(n);
    for (double& value : values) value = normal(draws);
    values[n / 2] = std::nan("");
    const std::vector<std::size_t> chosen = chosen_past(values, 20);
    ASSERT_EQ(chosen.size(), std::min<std::size_t>(n, 20));
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    EXPECT_EQ(std::ranges::adjacent_find(chosen), chosen.end()) << "each once";
    EXPECT_LT(chosen.back(), n);
    // By enumeration: how many values are better.
    for (std::size_t i = 0; i < n; ++i) {
      const auto better = std::ranges::count_if(values, [&](double x) { return x < values[i]; });
      if (better < 2 && std::isfinite(values[i])) {
        EXPECT_TRUE(std::ranges::binary_search(chosen, i)) << i;
      }
    }
    if (n < 200) continue;
    // Of eighteen others at least eight lie in each half.
    std::vector<std::size_t> others;
    for (const std::size_t i : chosen) {
      const auto better = std::ranges::count_if(values, [&](double x) { return x < values[i]; });
      if (better >= 2 || !std::isfinite(values[i])) others.push_back(i);
    }
    ASSERT_EQ(others.size(), 18u);
    EXPECT_LT(others[7], n / 2);
    EXPECT_GE(others[10], n / 2);
  }
}

TEST(ChosenPast, GrowsWithTheTimeThereIs) {
  EXPECT_EQ(past_to_model({}, true), max_past);
  EXPECT_EQ(past_to_model({.time_limit_s = 1.0}, false), max_past) << "a GPU fits all";
  EXPECT_EQ(past_to_model({.time_limit_s = 1e-3}, true), 200u);
  EXPECT_EQ(past_to_model({.time_limit_s = 120.0}, true), 1000u);
  // Of eight times the time twice as many.
  EXPECT_EQ(past_to_model({.time_limit_s = 960.0}, true), 2000u);
  EXPECT_EQ(past_to_model({.time_limit_s = 1e9}, true), max_past);
}

}  // namespace
}  // namespace kiln::chosen_past_test
