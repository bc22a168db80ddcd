// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/sweeps/slice_tile.hpp"

namespace kiln::threshold_table_test {
namespace {

using cpu::ThresholdTable;

ThresholdTable table_of(double beta, std::int32_t max_local, int max_steps = 1000) {
  ThresholdTable table;
  cpu::tabulate_thresholds(beta, max_local, max_steps, table);
  return table;
}

// floor(2^32 exp(-x)) in the arithmetic of the C library, which has 11 more bits than needed: the
// betas below are none at which a product is within that distance of an integer.
std::uint64_t threshold_of(double x) {
  return static_cast<std::uint64_t>(std::floor(std::ldexp(std::exp(-x), 32)));
}

TEST(ThresholdTable, HoldsTheThresholdOfEachStepAndZeroBeyond) {
  for (const double beta : {0.18, 0.2, 0.34, 0.35, 0.36, 0.5, 1.0, 3.7, 25.0}) {
    const ThresholdTable table = table_of(beta, 500);
    ASSERT_TRUE(table.size == 32 || table.size == 64) << beta;
    for (int half = 1; half <= 500; ++half) {
      EXPECT_EQ(table.threshold[std::min(half, table.size - 1)], threshold_of(2 * half * beta))
          << beta << ", dE / 2 = " << half;
    }
  }
}

TEST(ThresholdTable, IsAsSmallAsTheStepsAllow) {
  EXPECT_EQ(table_of(1.0, 500).size, 32) << "exp(-23) 2^32 < 1";
  EXPECT_EQ(table_of(0.2, 500).size, 64);
  EXPECT_EQ(table_of(0.01, 4).size, 32) << "no larger steps occur";
  EXPECT_EQ(table_of(0.01, 30).size, 32);
  EXPECT_EQ(table_of(0.01, 31).size, 64) << "the last entry must be 0";
  EXPECT_EQ(table_of(0.01, 62).size, 64);
  EXPECT_EQ(table_of(std::numeric_limits<double>::infinity(), 500).size, 32);
}

TEST(ThresholdTable, IsNotMadeWhereItCannotHoldAllSteps) {
  EXPECT_EQ(table_of(0.01, 63).size, 0);
  EXPECT_EQ(table_of(0.17, 500).size, 0);
  EXPECT_EQ(table_of(0.0, 4).size, 0) << "all 2^32 words accept";
  EXPECT_EQ(table_of(1e-17, 4).size, 0) << "exp(-2e-17) rounds to 1";
  EXPECT_EQ(table_of(1.0, 500, 11).size, 0) << "12 steps would be needed";
  EXPECT_EQ(table_of(1.0, 500, 12).size, 32);
}

}  // namespace
}  // namespace kiln::threshold_table_test
