// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kolmogorov_smirnov.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"

namespace kiln::test::kolmogorov_smirnov_test {
namespace {

TEST(KolmogorovSmirnov, GivesTabulatedCriticalValues) {
  EXPECT_NEAR(kolmogorov_tail(1.22385), 0.10, 1e-5);
  EXPECT_NEAR(kolmogorov_tail(1.35810), 0.05, 1e-5);
  EXPECT_NEAR(kolmogorov_tail(1.62762), 0.01, 1e-5);
  EXPECT_NEAR(kolmogorov_tail(1.94947), 0.001, 1e-6);
  EXPECT_EQ(kolmogorov_tail(0), 1);
  EXPECT_LT(kolmogorov_tail(6), 1e-30);
}

TEST(KolmogorovSmirnov, MeasuresTheLargestDistance) {
  const auto uniform = [](double x) { return x; };
  EXPECT_DOUBLE_EQ(ks_test({0.5}, uniform).distance, 0.5);
  EXPECT_DOUBLE_EQ(ks_test({0.9, 0.1, 0.5}, uniform).distance, 1.0 / 3 - 0.1);
  EXPECT_EQ(ks_test({0.5, std::nan("")}, uniform).p, 0);
  EXPECT_EQ(ks_test({}, uniform).p, 0);
}

// p of draws from the law is uniform: mean 1/2 +- 4 sqrt(1/12/1000), a false alarm in 16,000.
TEST(KolmogorovSmirnov, GivesUniformProbabilities) {
  TestRandom random(1);
  double sum = 0, wrong = 0;
  for (int test = 0; test < 1000; ++test) {
    std::vector<double> draws(200);
    for (double& u : draws) u = random.unit();
    sum += ks_test(draws, [](double x) { return x; }).p / 1000;
    wrong += ks_test(draws, [](double x) { return x * x; }).p / 1000;
  }
  EXPECT_NEAR(sum, 0.5, 4 * std::sqrt(1.0 / 12 / 1000));
  EXPECT_LT(wrong, 1e-3);
}

TEST(KolmogorovSmirnov, KnowsTheNormalLaw) {
  EXPECT_DOUBLE_EQ(normal_distribution(0), 0.5);
  EXPECT_NEAR(normal_distribution(1.9599639845400545), 0.975, 1e-15);
  EXPECT_NEAR(normal_distribution(-3), 0.0013498980316300946, 1e-17);
}

}  // namespace
}  // namespace kiln::test::kolmogorov_smirnov_test
