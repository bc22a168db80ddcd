// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/backends.hpp"
#include "kolmogorov_smirnov.hpp"

namespace kiln::test::normal_test {
namespace {

/// A quantile of the normal law, computed with 40 digits at exactly this double.
struct Quantile {
  double u, x;
};
// Both sides of the joints of the three approximations: |u - 1/2| = 0.425, and u = exp(-25).
constexpr Quantile known[] = {
    {0x1.56e1fc2f8f359p-997, -37.047096299361199237},
    {1e-20, -9.2623400897984075796},
    {0x1p-33, -6.3379577545537892525},
    {1e-9, -5.9978070150076868614},
    {1e-5, -4.2648907939228246102},
    {0.001, -3.0902323061678135354},
    {0.025, -1.9599639845400542118},
    {0.0749, -1.4402382675279636631},
    {0.075, -1.4395314709384559349},
    {0.0751, -1.4388253927525399824},
    {0.1, -1.2815515655446004353},
    {0.25, -0.6744897501960817432},
    {0.3, -0.52440051270804081597},
    {0.49, -0.025068908258711058033},
    {0.4999999, -2.5066282747031065135e-7},
    {0.500001, 2.5066282747057051991e-6},
    {0.6, 0.25334710313579974132},
    {0.75, 0.6744897501960817432},
    {0.9, 1.2815515655446005935},
    {0.925, 1.4395314709384562291},
    {0.9250001, 1.4395321773759004884},
    {0.975, 1.9599639845400538556},
    {0.999, 3.0902323061678132778},
    {0.999999999, 5.9978070196016374264},
    {1 - 0x1p-33, 6.3379577545537892525},
};

TEST(NormalQuantile, HasKnownValues) {
  for (const auto& [u, x] : known) EXPECT_NEAR(normal_quantile(u) / x, 1, 1e-15) << u;
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

/// One Newton step in extended precision from a value that is right to 1e-14: right to 1e-18. By
/// the function that has no cancellation on the side of the tail or about the centre.
double refined(double u, double x) {
  const long double lx = x, scaled = lx / std::sqrt(2.0L), lu = u;
  const long double phi = std::exp(-lx * lx / 2) / std::sqrt(2 * 3.14159265358979323846264L);
  const long double excess =
      lx > -0.5L ? std::erf(scaled) / 2 - (lu - 0.5L) : std::erfc(-scaled) / 2 - lu;
  return static_cast<double>(lx - excess / phi);
}

TEST(NormalQuantile, IsRightOverItsWholeRange) {
  TestRandom random(1);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    // Half of them with an even spread, half deep in the tail; the other tail by symmetry.
    const double u =
        i % 2 == 0 ? 0.5 * random.unit() + 0x1p-54 : 0.5 * std::exp2(-60 * random.unit());
    const double x = normal_quantile(u);
    worst = std::max(worst, std::abs(x / refined(u, x) - 1));
  }
  EXPECT_LE(worst, 1e-15);
  EXPECT_GT(worst, 1e-17) << "a wrong measure of the error would be suspiciously small";
}

TEST(NormalQuantile, IsSymmetric) {
  TestRandom random(2);
  for (int i = 0; i < 10000; ++i) {
    const double u = open_unit(static_cast<std::uint32_t>(random.word()));
    ASSERT_EQ(normal_quantile(1 - u), -normal_quantile(u)) << u;
  }
}

TEST(NormalQuantile, RisesAlsoWhereItsApproximationsMeet) {
  std::vector<double> points;
  for (std::uint32_t i = 0; i < 100000; ++i) points.push_back(open_unit(i * 42949u));
  // Words next to each other, around the joints and at both ends.
  for (const double joint : {0x1p-33, 1.3887943864964021e-11, 0.075, 0.5, 0.925, 1 - 0x1p-33}) {
    for (int i = -500; i <= 500; ++i) {
      const double u = joint + i * 0x1p-32;
      if (u > 0 && u < 1) points.push_back(u);
    }
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  for (std::size_t i = 1; i < points.size(); ++i) {
    ASSERT_LT(normal_quantile(points[i - 1]), normal_quantile(points[i])) << points[i];
  }
}

TEST(NormalQuantile, IsFiniteForEveryWord) {
  for (const std::uint32_t word : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    EXPECT_LT(std::abs(normal_quantile(open_unit(word))), 6.4);
  }
  EXPECT_EQ(normal_quantile(open_unit(0)), -normal_quantile(open_unit(0xFFFFFFFFu)));
}

// 4 names x 65,536 draws, bound 1e-3: false alarm once in 250 if the names were drawn anew.
TEST(StandardNormal, PassesKolmogorovAndSmirnov) {
  for (const std::uint64_t key : {1, 2, 3, 4}) {
    std::vector<double> draws;
    const DrawName name{key, 5, 6, RngDomain::momentum, 0};
    for (std::uint32_t i = 0; i < 65536; ++i) draws.push_back(standard_normal(name, i));
    EXPECT_GT(ks_test(draws, normal_distribution).p, 1e-3);
    for (double& x : draws) x *= 1.02;
    EXPECT_LT(ks_test(draws, normal_distribution).p, 0.05) << "a wrong spread must be seen";
  }
}

}  // namespace
}  // namespace kiln::test::normal_test
