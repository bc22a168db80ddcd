// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "information/significance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kiln/information/estimate_information.hpp"

#include "information/gaussian_series.hpp"

namespace kiln::significance_test {
namespace {

using Values = std::vector<double>;

TEST(StudentTail, IsThatOfCauchyWithOneDegree) {
  for (const double t : {-3.0, -0.5, 0.0, 0.7, 2.0, 50.0}) {
    EXPECT_NEAR(student_tail(t, 1), 0.5 - std::atan(t) / std::numbers::pi, 1e-14) << t;
  }
}

TEST(StudentTail, IsThatOfTwoDegrees) {
  for (const double t : {-2.0, 0.3, 4.0, 30.0}) {
    EXPECT_NEAR(student_tail(t, 2), 0.5 - t / (2 * std::sqrt(2 + t * t)), 1e-14) << t;
  }
}

// Of tables: the upper 2.5 % point of 10 degrees, and of 199 degrees.
TEST(StudentTail, HasTabulatedQuantiles) {
  EXPECT_NEAR(student_tail(2.2281388519649385, 10), 0.025, 1e-12);
  EXPECT_NEAR(student_tail(1.6525467459, 199), 0.05, 1e-9);
}

TEST(CompareWithSurrogates, CountsThoseThatReachTheValue) {
  Values surrogates;
  for (int i = 0; i < 100; ++i) surrogates.push_back(i);
  InformationEstimate estimate;
  estimate.value = 80;  // 80, ..., 99 reach it
  compare_with_surrogates(surrogates, {}, estimate);
  EXPECT_DOUBLE_EQ(estimate.p_value, 21.0 / 101);
  EXPECT_DOUBLE_EQ(estimate.surrogate_mean, 49.5);
  EXPECT_DOUBLE_EQ(estimate.effective, 30.5);
  EXPECT_DOUBLE_EQ(estimate.surrogate_deviation, std::sqrt(100.0 * 101 / 12));
}

TEST(CompareWithSurrogates, UsesTheTailIfFewReachTheValue) {
  const Values surrogates = test::NormalDraws(7).row(200);
  InformationEstimate estimate;
  estimate.value = 4;
  compare_with_surrogates(surrogates, {}, estimate);
  const double t =
      (4 - estimate.surrogate_mean) / estimate.surrogate_deviation / std::sqrt(1 + 1.0 / 200);
  EXPECT_DOUBLE_EQ(estimate.p_value, student_tail(t, 199));
  EXPECT_LT(estimate.p_value, 1e-3);
}

TEST(CompareWithSurrogates, CountsAloneIfThereAreFewSurrogates) {
  InformationEstimate estimate;
  estimate.value = 100;
  compare_with_surrogates({1, 2, 3, 4}, {}, estimate);
  EXPECT_DOUBLE_EQ(estimate.p_value, 0.2);
}

TEST(CompareWithSurrogates, LeavesAnEstimateWithoutThem) {
  InformationEstimate estimate;
  estimate.value = 1;
  compare_with_surrogates({}, {}, estimate);
  EXPECT_TRUE(std::isnan(estimate.p_value));
}

// Q(1, x) = e^-x; Q(1/2, x) = erfc(sqrt(x)); Q(2, x) = (1 + x) e^-x.
TEST(GammaTail, IsThatOfClosedForms) {
  for (const double x : {0.1, 0.9, 1.5, 3.0, 12.0}) {
    EXPECT_NEAR(gamma_tail(1, x), std::exp(-x), 1e-14) << x;
    EXPECT_NEAR(gamma_tail(0.5, x), std::erfc(std::sqrt(x)), 1e-14) << x;
    EXPECT_NEAR(gamma_tail(2, x), (1 + x) * std::exp(-x), 1e-14) << x;
  }
  // Nearly normal for a large shape: z = 3 gives 0.00135.
  EXPECT_NEAR(gamma_tail(1e6, 1e6 + 3e3), 0.00135, 2e-5);
}

// The skewness of exponential draws is 2, of normal ones 0.
TEST(PooledSkewness, IsThatOfTheDraws) {
  test::NormalDraws draw(5);
  std::vector<Values> normal, exponential;
  for (int i = 0; i < 200; ++i) {
    normal.push_back(draw.row(100));
    Values squares;  // sums of two squares: exponential
    for (int j = 0; j < 100; ++j) squares.push_back(std::pow(draw(), 2) + std::pow(draw(), 2));
    exponential.push_back(squares);
  }
  EXPECT_NEAR(pooled_skewness(normal), 0.02, 0.03);
  EXPECT_NEAR(pooled_skewness(exponential), 1.8, 0.2);  // biased down in samples of 100
}

// Of skewed draws Student's t alone would find three times as many p-values below 0.001.
TEST(CompareWithSurrogates, KnowsSkewedTails) {
  test::NormalDraws draw(17);
  const int trials = 20'000;
  const auto skewed = [&] {  // chi-squared with 40 degrees: skewness 0.45
    double sum = 0;
    for (int i = 0; i < 40; ++i) sum += std::pow(draw(), 2);
    return sum;
  };
  std::vector<double> pool;
  for (int i = 0; i < 20'000; ++i) pool.push_back(skewed());
  int with = 0, without = 0;
  for (int i = 0; i < trials; ++i) {
    Values surrogates;
    for (int j = 0; j < 100; ++j)
      surrogates.push_back(pool[static_cast<std::size_t>((i * 100 + j * 7919) % 20'000)]);
    InformationEstimate estimate;
    estimate.value = pool[static_cast<std::size_t>((i * 31 + 11) % 20'000)];
    compare_with_surrogates(surrogates, {.skewness = std::sqrt(8.0 / 40)}, estimate);
    with += estimate.p_value <= 0.001 ? 1 : 0;
    compare_with_surrogates(surrogates, {}, estimate);
    without += estimate.p_value <= 0.001 ? 1 : 0;
  }
  EXPECT_LT(with, 0.0022 * trials);
  EXPECT_GT(without, 0.0028 * trials);
}

TEST(CompareWithSurrogates, CountsWhereThereIsNoSmoothTail) {
  Values surrogates(100, 0.0);
  surrogates[3] = 1;
  InformationEstimate estimate;
  estimate.value = 1;
  compare_with_surrogates(surrogates, {.is_smooth = false}, estimate);
  EXPECT_DOUBLE_EQ(estimate.p_value, 2.0 / 101);
}

// p-values of values that are draws like the surrogates are uniform, in the tail too.
TEST(CompareWithSurrogates, HasUniformPValuesUnderTheNull) {
  test::NormalDraws draw(11);
  const int trials = 20'000;
  int below_half = 0, below_fiftieth = 0, below_thousandth = 0;
  for (int i = 0; i < trials; ++i) {
    InformationEstimate estimate;
    estimate.value = draw();
    compare_with_surrogates(draw.row(100), {}, estimate);
    below_half += estimate.p_value <= 0.5 ? 1 : 0;
    below_fiftieth += estimate.p_value <= 0.02 ? 1 : 0;
    below_thousandth += estimate.p_value <= 0.001 ? 1 : 0;
  }
  // Four standard deviations; counts alone would give 0 of the last.
  EXPECT_NEAR(below_half, 0.5 * trials, 4 * std::sqrt(0.25 * trials));
  EXPECT_NEAR(below_fiftieth, 0.02 * trials, 4 * std::sqrt(0.02 * trials));
  EXPECT_NEAR(below_thousandth, 0.001 * trials, 4 * std::sqrt(0.001 * trials));
}

// The worked example of Benjamini and Hochberg (1995), section 3.1: at 5 % the four smallest.
TEST(FalseDiscoveryRates, AreThoseOfThePaper) {
  const Values p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const Values q = false_discovery_rates(p);
  EXPECT_EQ(std::ranges::count_if(q, [](double rate) { return rate <= 0.05; }), 4);
  EXPECT_DOUBLE_EQ(q[0], 0.0001 * 15);
  EXPECT_DOUBLE_EQ(q[3], 0.0095 * 15 / 4);
  EXPECT_DOUBLE_EQ(q[14], 1);
}

TEST(FalseDiscoveryRates, NeverFallWithThePValueAndLeaveOutWhatWasNotTested) {
  const double none = InformationEstimate::none;
  const Values q = false_discovery_rates({0.04, none, 0.03, 0.5});
  EXPECT_DOUBLE_EQ(q[0], 0.06);
  EXPECT_TRUE(std::isnan(q[1]));
  EXPECT_DOUBLE_EQ(q[2], 0.06);  // not 0.09
  EXPECT_DOUBLE_EQ(q[3], 0.5);
}

}  // namespace
}  // namespace kiln::significance_test
