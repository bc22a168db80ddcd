// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/crps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln::test::crps_test {
namespace {

// The definition, by the midpoint rule on both sides of the outcome.
double integrate(const std::function<double(double)>& cdf, double actual, double from, double to) {
  const auto part = [&](double a, double b, double above) {
    constexpr int steps = 200000;
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double difference = cdf(a + (b - a) * (i + 0.5) / steps) - above;
      sum += difference * difference * (b - a) / steps;
    }
    return sum;
  };
  return part(from, actual, 0) + part(actual, to, 1);
}

TEST(Crps, OfANormalIsItsIntegral) {
  for (const double actual : {-4.0, 1.0, 1.7, 6.0}) {
    const auto cdf = [](double x) { return std::erfc(-(x - 1) / 2 / std::sqrt(2.0)) / 2; };
    EXPECT_NEAR(crps_normal(1, 2, actual), integrate(cdf, actual, -25, 27), 1e-8) << actual;
  }
  EXPECT_EQ(crps_normal(1, 0, 3.5), 2.5);
}

TEST(Crps, OfAnEnsembleIsItsIntegral) {
  const std::vector<double> members{-2, -1.5, 0, 0, 0.25, 3};
  const auto cdf = [&](double x) {
    return static_cast<double>(std::ranges::upper_bound(members, x) - members.begin()) / 6;
  };
  for (const double actual : {-5.0, -1.5, 0.0, 0.1, 2.0, 4.0}) {
    EXPECT_NEAR(crps_ensemble(members, actual), integrate(cdf, actual, -6, 6), 1e-4) << actual;
  }
  EXPECT_EQ(crps_ensemble(std::vector{2.0}, 5.0), 3.0);
}

// Divided by n (n - 1), as some programs do, the score of two members would be 0.
TEST(Crps, CountsPairsOfAMemberWithItself) {
  EXPECT_DOUBLE_EQ(crps_ensemble(std::vector{0.0, 1.0}, 0.5), 0.25);
}

TEST(Crps, KeepsItsDigitsFarFromZero) {
  const double far = 0x1p40;
  EXPECT_EQ(crps_ensemble(std::vector{far, far + 1}, far + 0.5), 0.25);
}

TEST(Crps, RefusesAnEmptyEnsemble) { EXPECT_THROW(crps_ensemble({}, 1), InvalidArgument); }

}  // namespace
}  // namespace kiln::test::crps_test
