// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/exact_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/device/philox.hpp"

namespace kiln::exact_math_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// |value - truth| in units in the last place of a double of the size of `size`.
double ulps(double value, long double truth, double size) {
  const double next = std::nextafter(std::abs(size), inf);
  const long double ulp = static_cast<long double>(next) - std::abs(size);
  return static_cast<double>(std::abs(static_cast<long double>(value) - truth) / ulp);
}

// Numbers spread evenly over [low, high], the same on every machine.
std::vector<double> spread(double low, double high, std::uint32_t count) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Words4 words = philox4x32_10(Words4{{i, 0, 0, 0}}, 42);
    values.push_back(low + (high - low) * (words[0] * 0x1p-32 + words[1] * 0x1p-64));
  }
  return values;
}

struct Golden {
  double x;
  std::uint64_t bits;
};

TEST(ExactExp, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (const auto& [low, high] : {std::pair{-708.0, 709.7}, std::pair{-25.0, 0.0},
                                  std::pair{-1.0, 1.0}, std::pair{-1e-6, 1e-6}}) {
    for (const double x : spread(low, high, 50000)) {
      const long double truth = std::exp(static_cast<long double>(x));
      worst = std::max(worst, ulps(exact::exp(x), truth, static_cast<double>(truth)));
    }
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_GT(worst, 0.4) << "a wrong measure of the error would be suspiciously small";
}

TEST(ExactExp, HandlesTheEdges) {
  EXPECT_EQ(exact::exp(0.0), 1.0);
  EXPECT_EQ(exact::exp(-0.0), 1.0);
  EXPECT_EQ(exact::exp(inf), inf);
  EXPECT_EQ(exact::exp(-inf), 0.0);
  EXPECT_TRUE(std::isnan(exact::exp(nan)));
  EXPECT_EQ(exact::exp(1e-320), 1.0);
  EXPECT_EQ(exact::exp(709.8), inf);
  EXPECT_EQ(exact::exp(709.79), inf);
  EXPECT_TRUE(std::isfinite(exact::exp(709.78)));
  EXPECT_EQ(exact::exp(-745.2), 0.0);
  EXPECT_EQ(exact::exp(-745.0), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(exact::exp(-1e308), 0.0);
}

TEST(ExactExp, RoundsSubnormalResultsOnce) {
  for (const double x : spread(-745.0, -708.4, 20000)) {
    const long double truth = std::exp(static_cast<long double>(x));
    const long double error = std::abs(static_cast<long double>(exact::exp(x)) - truth);
    // The polynomial's error is a unit in the last place of the much finer normal number.
    ASSERT_LE(static_cast<double>(error / 0x1p-1074l), 2.0) << x;
  }
}

// Computed from the same formula in another language; another platform must agree bit for bit.
TEST(ExactExp, HasGoldenBits) {
  for (const Golden& golden :
       {Golden{1.0, 0x4005BF0A8B14576Aull}, Golden{-1.0, 0x3FD78B56362CEF38ull},
        Golden{0.1, 0x3FF1AEC7B35A00D4ull}, Golden{-0.1, 0x3FECF46D99D52B3Aull},
        Golden{0.5, 0x3FFA61298E1E069Cull}, Golden{-2.5, 0x3FB50385C094F425ull},
        Golden{3.14159, 0x4037240068789162ull}, Golden{-7.25, 0x3F47455FE323FAFEull},
        Golden{-22.18, 0x3DF002E8853125B5ull}, Golden{100.0, 0x48F3494A9B171BF5ull},
        Golden{-300.0, 0x24E245639C3A49F7ull}, Golden{700.0, 0x7F0D945DF4F8EC8Eull},
        Golden{-708.5, 0x000E6CF6D08897ACull}, Golden{-740.0, 0x0000000000000055ull}}) {
    EXPECT_EQ(exact::double_to_bits(exact::exp(golden.x)), golden.bits) << golden.x;
  }
}

TEST(ExactLog, IsWithinTwoUnitsInTheLastPlace) {
  std::vector<double> values = spread(0.5, 2.0, 50000);
  for (const double x : spread(0.999, 1.001, 50000)) values.push_back(x);
  for (const double e : spread(-1073.0, 1023.9, 50000)) values.push_back(std::exp2(e));
  double worst = 0;
  for (const double x : values) {
    const long double truth = std::log(static_cast<long double>(x));
    const double size = std::max(std::abs(static_cast<double>(truth)), 0x1p-52);
    worst = std::max(worst, ulps(exact::log(x), truth, size));
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_GT(worst, 0.4);
}

TEST(ExactLog, HandlesTheEdges) {
  EXPECT_EQ(exact::log(1.0), 0.0);
  EXPECT_EQ(exact::log(0.0), -inf);
  EXPECT_EQ(exact::log(-0.0), -inf);
  EXPECT_EQ(exact::log(inf), inf);
  EXPECT_TRUE(std::isnan(exact::log(-1.0)));
  EXPECT_TRUE(std::isnan(exact::log(-inf)));
  EXPECT_TRUE(std::isnan(exact::log(nan)));
  EXPECT_NEAR(exact::log(std::numeric_limits<double>::denorm_min()), -744.4400719213812, 1e-12);
  EXPECT_NEAR(exact::log(std::numeric_limits<double>::max()), 709.782712893384, 1e-12);
}

TEST(ExactLog, HasGoldenBits) {
  for (const Golden& golden :
       {Golden{2.0, 0x3FE62E42FEFA39EFull}, Golden{10.0, 0x40026BB1BBB55516ull},
        Golden{0.1, 0xC0026BB1BBB55515ull}, Golden{0.5, 0xBFE62E42FEFA39EFull},
        Golden{0.7, 0xBFD6D3C324E13F50ull}, Golden{0.7071067811865476, 0xBFD62E42FEFA39EEull},
        Golden{1.0000001, 0x3E7AD7F2847B6491ull}, Golden{1.5, 0x3FD9F323ECBF984Cull},
        Golden{3.0, 0x3FF193EA7AAD030Bull}, Golden{1e-10, 0xC037069E2AA2AA5Bull},
        Golden{1e300, 0x4085963447F87FB5ull}, Golden{5e-324, 0xC0874385446D71C3ull}}) {
    EXPECT_EQ(exact::double_to_bits(exact::log(golden.x)), golden.bits) << golden.x;
  }
}

TEST(ExactSqrt, IsCorrectlyRounded) {
  EXPECT_EQ(exact::sqrt(2.0), 0x1.6a09e667f3bcdp+0);
  EXPECT_EQ(exact::sqrt(0.0), 0.0);
  EXPECT_EQ(exact::sqrt(inf), inf);
  EXPECT_TRUE(std::isnan(exact::sqrt(-1.0)));
}

TEST(AcceptThreshold, IsTheFloorOfTheShareOfWords) {
  EXPECT_EQ(exact::accept_threshold(-1.0), 0x100000000ull);
  EXPECT_EQ(exact::accept_threshold(-inf), 0x100000000ull);
  EXPECT_EQ(exact::accept_threshold(0.0), 0x100000000ull);
  EXPECT_EQ(exact::accept_threshold(1e-300), 0x100000000ull);
  EXPECT_EQ(exact::accept_threshold(1e-12), 4294967295ull);
  EXPECT_EQ(exact::accept_threshold(0.5), 2605029347ull);  // floor(2^32 e^-0.5)
  EXPECT_EQ(exact::accept_threshold(10.0), 194991ull);
  EXPECT_EQ(exact::accept_threshold(22.18), 1ull);  // ln 2^32 = 22.1807...
  EXPECT_EQ(exact::accept_threshold(22.19), 0ull);
  EXPECT_EQ(exact::accept_threshold(23.0), 0ull);
  EXPECT_EQ(exact::accept_threshold(inf), 0ull);
  EXPECT_EQ(exact::accept_threshold(nan), 0ull);
}

TEST(Accept, TakesEveryStepThatIsNotUphill) {
  for (const double beta : {0.0, 1.0, 1e300, inf}) {
    EXPECT_TRUE(exact::accept(beta, 0.0, ~0u)) << beta;
    EXPECT_TRUE(exact::accept(beta, -0.0, ~0u)) << beta;
    EXPECT_TRUE(exact::accept(beta, -1.0, ~0u)) << beta;
    EXPECT_TRUE(exact::accept(beta, -inf, ~0u)) << beta;
  }
}

TEST(Accept, ComparesTheWordWithTheThreshold) {
  EXPECT_TRUE(exact::accept(0.25, 2.0, 2605029346u));
  EXPECT_FALSE(exact::accept(0.25, 2.0, 2605029347u));
  EXPECT_TRUE(exact::accept(0.0, 2.0, ~0u)) << "everything goes at infinite temperature";
  EXPECT_FALSE(exact::accept(inf, 1e-300, 0u)) << "nothing goes uphill at zero temperature";
}

TEST(Accept, NeverTakesAnEnergyThatIsNoNumber) {
  for (const double beta : {0.0, 1.0, inf}) {
    EXPECT_FALSE(exact::accept(beta, nan, 0u)) << beta;
    EXPECT_FALSE(exact::accept(beta, inf, 0u)) << beta;
  }
}

TEST(HeatBathThreshold, IsTheFloorOfTheShareOfWords) {
  EXPECT_EQ(exact::heat_bath_threshold(-inf), 0x100000000ull);
  EXPECT_EQ(exact::heat_bath_threshold(-1e3), 0x100000000ull);
  EXPECT_EQ(exact::heat_bath_threshold(-10.0), 4294772313ull);  // floor(2^32 / (1 + e^-10))
  EXPECT_EQ(exact::heat_bath_threshold(0.0), 0x80000000ull);
  EXPECT_EQ(exact::heat_bath_threshold(0.5), 1621524825ull);  // floor(2^32 / (1 + e^0.5))
  EXPECT_EQ(exact::heat_bath_threshold(10.0), 194982ull);
  EXPECT_EQ(exact::heat_bath_threshold(22.18), 1ull);  // ln 2^32 = 22.1807...
  EXPECT_EQ(exact::heat_bath_threshold(22.19), 0ull);
  EXPECT_EQ(exact::heat_bath_threshold(23.0), 0ull);
  EXPECT_EQ(exact::heat_bath_threshold(inf), 0ull);
  EXPECT_EQ(exact::heat_bath_threshold(nan), 0ull);
}

// Flipping there and back is as likely as staying and staying.
TEST(HeatBathThreshold, GivesComplementsForOppositeSteps) {
  for (double x = 0.01; x < 22; x *= 1.3) {
    const std::uint64_t sum = exact::heat_bath_threshold(x) + exact::heat_bath_threshold(-x);
    EXPECT_TRUE(sum == 0x100000000ull || sum == 0xFFFFFFFFull) << x << ": " << sum;
  }
}

TEST(AcceptHeatBath, ComparesTheWordWithTheThreshold) {
  EXPECT_TRUE(exact::accept_heat_bath(0.25, 2.0, 1621524824u));
  EXPECT_FALSE(exact::accept_heat_bath(0.25, 2.0, 1621524825u));
  EXPECT_TRUE(exact::accept_heat_bath(2.0, -5.0, 4294772312u));
  EXPECT_FALSE(exact::accept_heat_bath(2.0, -5.0, 4294772313u)) << "downhill is not certain";
}

TEST(AcceptHeatBath, GoesDownhillAndHalfTheTimeAlongAtZeroTemperature) {
  EXPECT_TRUE(exact::accept_heat_bath(inf, -1e-300, ~0u));
  EXPECT_FALSE(exact::accept_heat_bath(inf, 1e-300, 0u));
  for (const double beta : {0.0, 1.0, inf}) {
    for (const double level : {0.0, -0.0}) {
      EXPECT_TRUE(exact::accept_heat_bath(beta, level, 0x7FFFFFFFu)) << beta;
      EXPECT_FALSE(exact::accept_heat_bath(beta, level, 0x80000000u)) << beta;
    }
    EXPECT_FALSE(exact::accept_heat_bath(beta, nan, 0u)) << beta;
    EXPECT_FALSE(exact::accept_heat_bath(beta, inf, 0u)) << beta;
  }
  EXPECT_TRUE(exact::accept_heat_bath(0.0, 7.0, 0x7FFFFFFFu)) << "a fair coin in the heat";
  EXPECT_FALSE(exact::accept_heat_bath(0.0, -7.0, 0x80000000u));
}

TEST(OrderKey, KeepsTheOrderAndComesBack) {
  const std::vector<double> rising{-inf,
                                   -std::numeric_limits<double>::max(),
                                   -1e10,
                                   -1.0,
                                   -std::numeric_limits<double>::min(),
                                   -std::numeric_limits<double>::denorm_min(),
                                   0.0,
                                   std::numeric_limits<double>::denorm_min(),
                                   1.0,
                                   std::nextafter(1.0, 2.0),
                                   1e10,
                                   std::numeric_limits<double>::max(),
                                   inf};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    EXPECT_EQ(exact::from_order_key(exact::order_key(rising[i])), rising[i]);
    if (i == 0) continue;
    EXPECT_LT(exact::order_key(rising[i - 1]), exact::order_key(rising[i])) << i;
  }
  EXPECT_LT(exact::order_key(inf), ~0ull) << "all ones stand for: no value yet";
  EXPECT_TRUE(std::signbit(exact::from_order_key(exact::order_key(-0.0))));
}

}  // namespace
}  // namespace kiln::exact_math_test
