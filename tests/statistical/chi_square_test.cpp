// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "chi_square.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln::test::chi_square_law {
namespace {

// Tables of chi-square: the values that are passed with probability 0.05, 0.01 and 0.001.
TEST(ChiSquareTail, AgreesWithTheTables) {
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(6.634896601021213, 1), 0.01, 1e-12);
  EXPECT_NEAR(chi_square_tail(18.307038053275146, 10), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(29.58829844507442, 10), 0.001, 1e-12);
  EXPECT_NEAR(chi_square_tail(124.34211340400407, 100), 0.05, 1e-11);
}

// Two degrees of freedom: exp(-x / 2). Four: exp(-x / 2) (1 + x / 2).
TEST(ChiSquareTail, HasClosedFormsForEvenDegrees) {
  for (const double x : {0.01, 0.5, 1.0, 3.0, 10.0, 60.0, 300.0}) {
    const double e = std::exp(-x / 2);
    EXPECT_NEAR(chi_square_tail(x, 2), e, 1e-10 * e) << x;
    EXPECT_NEAR(chi_square_tail(x, 4), e * (1 + x / 2), 1e-10 * e * (1 + x / 2)) << x;
  }
}

// One degree of freedom: erfc(sqrt(x / 2)).
TEST(ChiSquareTail, IsTheTailOfANormalVariableForOneDegree) {
  for (const double x : {0.1, 1.0, 4.0, 25.0}) {
    const double exact = std::erfc(std::sqrt(x / 2));
    EXPECT_NEAR(chi_square_tail(x, 1), exact, 1e-10 * exact) << x;
  }
}

TEST(ChiSquareTail, IsOneAtZeroAndFallsFarOut) {
  EXPECT_EQ(chi_square_tail(0, 5), 1.0);
  EXPECT_LT(chi_square_tail(1000, 511), 1e-30);
  EXPECT_NEAR(chi_square_tail(510.333, 511), 0.5, 1e-3);  // the median is near k - 2/3
}

// (12-10)^2/10 + (8-10)^2/10 + (20-20)^2/20 = 0.8, two degrees of freedom.
TEST(ChiSquareTest, AddsUpTheCells) {
  const ChiSquare result = chi_square_test({12, 8, 20}, {0.25, 0.25, 0.5});

  EXPECT_NEAR(result.value, 0.8, 1e-12);
  EXPECT_EQ(result.degrees, 2);
  EXPECT_NEAR(result.p, std::exp(-0.4), 1e-12);
}

// Expected 2, 2, 2, 94: the first three make one cell of 6.
TEST(ChiSquareTest, PutsRareCellsTogether) {
  const ChiSquare result = chi_square_test({1, 5, 3, 91}, {0.02, 0.02, 0.02, 0.94});

  EXPECT_EQ(result.degrees, 1);
  EXPECT_NEAR(result.value, 9.0 / 6 + 9.0 / 94, 1e-12);
}

TEST(ChiSquareTest, RefusesWhatCannotOccur) {
  EXPECT_EQ(chi_square_test({50, 50, 1}, {0.5, 0.5, 0}).p, 0.0);
}

// Ten throws of a fair coin: 0 or 10 heads have probability 2 / 1024, 8 or more 2 * 56 / 1024.
TEST(BinomialPValue, AddsUpBothTails) {
  EXPECT_NEAR(binomial_p_value(0, 10, 0.5), 2.0 / 1024, 1e-15);
  EXPECT_NEAR(binomial_p_value(8, 10, 0.5), 112.0 / 1024, 1e-14);
  EXPECT_EQ(binomial_p_value(5, 10, 0.5), 1.0);
  EXPECT_EQ(binomial_p_value(0, 10, 0.0), 1.0);
  EXPECT_EQ(binomial_p_value(9, 10, 1.0), 0.0);
  EXPECT_NEAR(binomial_p_value(3, 3, 0.1), 0.002, 1e-15);
}

}  // namespace
}  // namespace kiln::test::chi_square_law
