// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/digamma.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kiln/device/math.hpp"

namespace kiln::digamma_test {
namespace {

TEST(DigammaOfIntegers, HasPublishedValues) {
  const std::vector<double> psi = digamma_of_integers(100);
  ASSERT_EQ(psi.size(), 100u);
  EXPECT_DOUBLE_EQ(psi[0], -0.5772156649015329);
  EXPECT_DOUBLE_EQ(psi[3], 1.2561176684318005);
  EXPECT_DOUBLE_EQ(psi[5], 1.7061176684318005);
  EXPECT_DOUBLE_EQ(psi[9], 2.251752589066721);
  EXPECT_DOUBLE_EQ(psi[99], 4.600161852738087);
}

TEST(DigammaOfIntegers, IsThatOfReals) {
  const std::vector<double> psi = digamma_of_integers(2000);
  for (std::size_t i = 0; i < psi.size(); ++i) {
    const double real = math::digamma(static_cast<double>(i + 1));
    EXPECT_NEAR(psi[i], real, 2e-14 * std::max(1.0, std::abs(real))) << i + 1;
  }
}

// The series ln x - 1/2x - 1/12x^2 + 1/120x^4 is exact to 1e-20 there. Plain sums of a million
// terms are wrong in the fourteenth digit.
TEST(DigammaOfIntegers, DoesNotLoseDigitsInLongSums) {
  const std::int64_t n = 2'000'000;
  const std::vector<double> psi = digamma_of_integers(n);
  for (const std::int64_t i : {1'000'000l, 1'234'567l, 2'000'000l}) {
    const long double x = static_cast<long double>(i);
    const long double series = std::log(x) - 0.5L / x - 1 / (12 * x * x);
    EXPECT_DOUBLE_EQ(psi[static_cast<std::size_t>(i - 1)], static_cast<double>(series)) << i;
  }
}

TEST(DigammaOfIntegers, MayBeEmpty) { EXPECT_TRUE(digamma_of_integers(0).empty()); }

}  // namespace
}  // namespace kiln::digamma_test
