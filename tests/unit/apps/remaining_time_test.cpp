// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/remaining_time.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace kiln::cli::remaining_time_test {
namespace {

constexpr std::int64_t all = 60, initial = 10;

/// What is shown after each batch of a search whose first `n` take the time `at(n)` in all.
std::vector<double> shown(const std::function<double(double)>& at) {
  RemainingTime left;
  std::vector<double> all_shown;
  for (std::int64_t n = 1; n <= all; ++n) {
    left.add(n, at(static_cast<double>(n)), n > initial);
    all_shown.push_back(left.of(all - n));
  }
  return all_shown;
}

// Ten points at once, then models that take 20 ms and 2 ms more with every point: the sum is known.
TEST(RemainingTime, ForeseesThatModelsGrow) {
  const auto at = [](double n) {
    const double models = std::max(0.0, n - static_cast<double>(initial));
    return 0.001 * n + 0.02 * models + 0.001 * models * models;
  };
  const std::vector<double> seconds = shown(at);
  int estimates = 0;
  double before = 1e9;
  for (std::int64_t n = 1; n <= all; ++n) {
    const double one = seconds[static_cast<std::size_t>(n - 1)];
    if (one < 0) continue;
    ++estimates;
    EXPECT_LE(one, before) << n;
    // The mean so far is behind by a factor of two at the first of them.
    EXPECT_NEAR(one, at(all) - at(static_cast<double>(n)), 0.02 * at(all)) << n;
    before = one;
  }
  EXPECT_GT(estimates, 30);
  EXPECT_EQ(seconds.back(), 0);
}

TEST(RemainingTime, SaysNothingBeforeThereIsAModel) {
  const std::vector<double> seconds = shown([](double n) { return 0.05 * n; });
  for (std::int64_t n = 1; n <= initial + 4; ++n) {
    EXPECT_LT(seconds[static_cast<std::size_t>(n - 1)], 0) << n;
  }
  EXPECT_NEAR(seconds[39], 0.05 * 20, 1e-9);
}

// Calls of minutes: from the first one on, and as steady as they are.
TEST(RemainingTime, TakesTheMeanOfDearCalls) {
  const std::vector<double> seconds = shown([](double n) { return 90 * n; });
  for (std::int64_t n = 1; n <= all; ++n) {
    EXPECT_NEAR(seconds[static_cast<std::size_t>(n - 1)], 90.0 * static_cast<double>(all - n), 1e-9)
        << n;
  }
}

}  // namespace
}  // namespace kiln::cli::remaining_time_test
