// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/information/estimate_information.hpp"

#include "backends/cpu_queue.hpp"
#include "information/estimate_on_cpu.hpp"
#include "information/gaussian_series.hpp"

namespace kiln::information_bins_test {
namespace {

using Measure = InformationMeasure;
using Values = std::vector<double>;
using test::estimate_on_cpu;
using test::gaussian_pair;
using test::NormalDraws;

TEST(Bins, EntropyOfValuesHasTheMillerMadowTerm) {
  Values fair;
  for (int i = 0; i < 100; ++i) fair.push_back(i % 16);  // 7 of four values, 6 of the others
  InformationOptions options;
  options.measure = Measure::entropy;
  const double plain = -(4 * 0.07 * std::log(0.07) + 12 * 0.06 * std::log(0.06));
  EXPECT_NEAR(estimate_on_cpu({{"y", fair}}, options).links[0].estimate.value, plain + 15.0 / 200,
              1e-12);
}

// 1000 values in two halves of the range, 3 to 1: bins of equal width see it.
TEST(Bins, EntropyIsOfBinsOfEqualWidth) {
  Values y;
  for (int i = 0; i < 1000; ++i) y.push_back(i < 750 ? i * 1e-4 : 1 - (i - 750) * 1e-4);
  InformationOptions options;
  options.measure = Measure::entropy;
  options.bins = 2;
  const double plain = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  EXPECT_NEAR(estimate_on_cpu({{"y", y}}, options).links[0].estimate.value, plain + 1.0 / 2000,
              1e-12);
}

TEST(Bins, KnownDependenceLeavesNoEntropy) {
  Values x, y;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i % 6);
    y.push_back(i % 6 / 2);
  }
  InformationOptions options;
  options.measure = Measure::conditional_entropy;
  const InformationColumns which{{0}, {1}, {}};
  EXPECT_NEAR(estimate_on_cpu({{"x", x}, {"y", y}}, options, which).links[0].estimate.value, 0,
              1e-12);
  options.measure = Measure::binned_mutual_information;
  // H(Y) = ln 3; Miller-Madow terms 2, 5 and -5 of 2 n.
  EXPECT_NEAR(estimate_on_cpu({{"x", x}, {"y", y}}, options, which).links[0].estimate.value,
              std::log(3.0) + 2.0 / 240, 1e-12);
}

TEST(Bins, AConstantSourceLeavesAllOfTheEntropy) {
  NormalDraws draw(8);
  const Values y = draw.row(200);
  InformationOptions options;
  options.measure = Measure::conditional_entropy;
  const double given = estimate_on_cpu({{"x", Values(200, 1.0)}, {"y", y}}, options, {{0}, {1}, {}})
                           .links[0]
                           .estimate.value;
  options.measure = Measure::entropy;
  EXPECT_NEAR(given, estimate_on_cpu({{"y", y}}, options).links[0].estimate.value, 1e-12);
}

// Each of few rows with a value alone would make every row a bin.
TEST(Bins, FewRowsHaveBins) {
  NormalDraws draw(8);
  InformationOptions options;
  options.measure = Measure::binned_mutual_information;
  options.bins = 4;
  const Values x = draw.row(60), y = draw.row(60);
  EXPECT_LT(estimate_on_cpu({{"x", x}, {"y", y}}, options).links[0].estimate.value, 0.3);
}

// Two rare events together in 2 of 5 and 5: the hypergeometric probability is 0.019.
TEST(Bins, PValuesOfRareEventsAreCounts) {
  Values a(100, 0.0), b(100, 0.0);
  for (std::size_t i = 0; i < 5; ++i) a[i] = b[i + 3] = 1;
  InformationOptions options;
  options.measure = Measure::binned_mutual_information;
  options.surrogates = 1000;
  options.surrogate_kind = SurrogateKind::permutation;
  EXPECT_NEAR(estimate_on_cpu({{"a", a}, {"b", b}}, options).links[0].estimate.p_value, 0.019,
              0.013);
}

TEST(Bins, SurrogatesOfConditionalEntropyAreHigher) {
  const auto [x, y] = gaussian_pair(1000, 0.8, 4);
  InformationOptions options;
  options.measure = Measure::conditional_entropy;
  options.surrogates = 50;
  const InformationEstimate given =
      estimate_on_cpu({{"x", x}, {"y", y}}, options, {{0}, {1}, {}}).links[0].estimate;
  EXPECT_LT(given.value, given.surrogate_mean);
  EXPECT_DOUBLE_EQ(given.p_value, 1.0 / 51);
  EXPECT_NEAR(given.effective, given.value - given.surrogate_mean, 1e-12);
}

}  // namespace
}  // namespace kiln::information_bins_test
