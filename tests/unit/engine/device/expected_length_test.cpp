// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/expected_length.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::expected_length_test {
namespace {

using Long = long double;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Phi and phi where doubles have long been 0.
Long cdf(Long z) { return 0.5L * std::erfc(-z / std::sqrt(2.0L)); }
Long pdf(Long z) { return std::exp(-0.5L * z * z) / std::sqrt(2 * std::acos(-1.0L)); }

/// Simpson's rule for the integral of f from a to b.
template <class F>
Long integral(F f, Long a, Long b) {
  constexpr int steps = 20000;
  const Long h = (b - a) / steps;
  Long sum = f(a) + f(b);
  for (int i = 1; i < steps; ++i) sum += (i % 2 != 0 ? 4 : 2) * f(a + static_cast<Long>(i) * h);
  return sum * h / 3;
}

struct Interval {
  double lower, upper;
};
constexpr Interval intervals[] = {{-5, -4.9},      {-40, -39.5},    {-21, -20},    {-11, -3},
                                  {-40, -39.9988}, {-40, -39.9987}, {-1, 2},       {0.5, 0.50001},
                                  {-3, -2.999999}, {3, 8},          {-3, 50},      {50, 51},
                                  {0, 0.2},        {-0.001, 0.3},   {-8, -7.9945}, {20, 20.0001}};

TEST(ExpectedLength, AgreesWithIntegralsHoweverSmall) {
  for (const double s : {1.0, 0.3}) {
    for (const Interval& z : intervals) {
      const double mean = 0.7;
      const ExpectedLength of(mean, s, mean + s * z.lower, mean + s * z.upper);
      const Long length = integral(cdf, z.lower, z.upper);
      // The ends were rounded on the way, which matters in the far tail.
      const double off = 1e-12 + 1e-14 * z.lower * z.lower / (z.upper - z.lower);
      EXPECT_NEAR(of.log_value, static_cast<double>(std::log(length)) + std::log(s), off)
          << z.lower << " " << z.upper;
      const Long by_mean = -integral(pdf, z.lower, z.upper) / length / static_cast<Long>(s);
      const Long by_deviation = (pdf(z.upper) - pdf(z.lower)) / length / static_cast<Long>(s);
      const double loose = 100 * off + 1e-11;
      EXPECT_NEAR(of.by_mean, static_cast<double>(by_mean),
                  loose * (1e-3 + std::abs(static_cast<double>(by_mean))))
          << z.lower << " " << z.upper;
      EXPECT_NEAR(of.by_deviation, static_cast<double>(by_deviation),
                  loose * (1e-3 + std::abs(static_cast<double>(by_deviation))))
          << z.lower << " " << z.upper;
    }
  }
}

TEST(ExpectedLength, IsTheExpectedImprovementWithoutALowerEnd) {
  for (const double z : {-1e6, -30.0, -2.0, 0.0, 5.0}) {
    const StandardImprovement h(z);
    const ExpectedLength open(-z, 1, minus_infinity, 0), far(-z, 1, -2e9, 0);
    EXPECT_EQ(open.log_value, h.log_value);
    EXPECT_EQ(open.by_mean, -h.cdf_ratio);
    EXPECT_EQ(open.by_deviation, h.pdf_ratio);
    EXPECT_EQ(far.log_value, h.log_value) << z;
  }
}

TEST(ExpectedLength, OfACertainValueIsWhatIsAboveIt) {
  EXPECT_NEAR(ExpectedLength(0.25, 1e-10, -3, 1).log_value, std::log(0.75), 1e-9);
  EXPECT_NEAR(ExpectedLength(-5, 1e-10, -3, 1).log_value, std::log(4), 1e-12);
  const ExpectedLength beyond(2, 1e-10, -3, 1);
  EXPECT_LT(beyond.log_value, -1e19);
  EXPECT_TRUE(std::isfinite(beyond.log_value));
  EXPECT_LT(beyond.by_mean, 0);
  EXPECT_GT(beyond.by_deviation, 0);
}

TEST(ExpectedLength, OfNotANumberIsNone) {
  EXPECT_TRUE(std::isnan(ExpectedLength(std::nan(""), 1, -3, 1).log_value));
}

}  // namespace
}  // namespace kiln::expected_length_test
