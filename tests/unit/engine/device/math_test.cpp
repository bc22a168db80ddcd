// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/math.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kiln::math_test {
namespace {

TEST(CosTurns, IsTheCosineOfTurns) {
  for (int i = -40000; i <= 40000; ++i) {
    const double t = i * 0.000123456789;
    const double wanted =
        static_cast<double>(std::cos(2 * 3.14159265358979323846264L * static_cast<long double>(t)));
    ASSERT_NEAR(math::cos_turns(t), wanted, 1e-15) << t;
  }
}

TEST(CosTurns, IsExactAtQuarters) {
  for (const double turns : {0.0, 1.0, -7.0, 0x1p40}) {
    EXPECT_EQ(math::cos_turns(turns), 1) << turns;
    EXPECT_EQ(math::cos_turns(turns + 0.25), 0) << turns;
    EXPECT_EQ(math::cos_turns(turns + 0.5), -1) << turns;
    EXPECT_EQ(math::cos_turns(turns - 0.25), 0) << turns;
  }
}

TEST(CosTurns, HasNoValueWhereDoublesHaveNoHalves) {
  EXPECT_FALSE(std::isnan(math::cos_turns(0x1p51 - 0.5)));
  for (const double t : {0x1p51, -0x1p60, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(math::cos_turns(t))) << t;
  }
}

}  // namespace
}  // namespace kiln::math_test
