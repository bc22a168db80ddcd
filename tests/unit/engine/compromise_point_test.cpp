// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which point of a front is handed out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "kiln/indicators.hpp"

#include "cpu_queue.hpp"

namespace kiln::test::compromise_point_test {
namespace {

using Values = std::vector<double>;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// 101 points of a curve over [0, 1].
template <class Shape>
Points curve(Shape shape) {
  Points points;
  for (int i = 0; i <= 100; ++i) points.push_back({i / 100.0, shape(i / 100.0)});
  return points;
}

/// The finite point nearest to the least values, with objectives scaled by their ranges, of points
/// that do not dominate each other: in long double, by looking at each.
std::size_t nearest_by_enumeration(const Points& points) {
  std::size_t nearest = 0;
  long double least = -1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    long double far = 0;
    for (std::size_t k = 0; k < points[i].size(); ++k) {
      long double low = points[0][k], high = low;
      for (const Values& point : points) {
        low = std::min<long double>(low, point[k]);
        high = std::max<long double>(high, point[k]);
      }
      if (high > low) far = std::max(far, (points[i][k] - low) / (high - low));
    }
    if (least < 0 || far < least) {
      least = far;
      nearest = i;
    }
  }
  return nearest;
}

TEST(CompromisePoint, IsTheKneeWhereThereIsOne) {
  EXPECT_EQ(compromise_point(curve([](double x) { return 1 - std::sqrt(x); })), 25U);
  EXPECT_EQ(compromise_point({{0, 1}, {0.1, 0.1}, {1, 0}}), 1U);
}

TEST(CompromisePoint, IsElseNearestToTheIdealAndNoCorner) {
  EXPECT_EQ(compromise_point(curve([](double x) { return 1 - x; })), 50U);
  // In other units: the distance is measured in shares of the front's ranges.
  Points straight = curve([](double x) { return 1 - x; });
  for (Values& point : straight) point = {1000 * point[0] - 7, 1e-3 * point[1] + 5};
  EXPECT_EQ(compromise_point(straight), 50U);
  for (const double power : {1.0, 1.5, 2.0, 3.0, 6.0}) {
    const Points points = curve([&](double x) { return 1 - std::pow(x, power); });
    ASSERT_FALSE(has_knee(points)) << power;
    const std::size_t chosen = compromise_point(points);
    EXPECT_EQ(chosen, nearest_by_enumeration(points)) << power;
    EXPECT_GT(chosen, 40U) << power;
    EXPECT_LT(chosen, 100U) << power;
  }
  // Of a simplex the middle is nearest.
  const Points simplex = das_dennis(3, 12);
  EXPECT_EQ(compromise_point(simplex), nearest_by_enumeration(simplex));
  for (const double x : simplex[compromise_point(simplex)]) EXPECT_NEAR(x, 1 / 3.0, 1e-15);
}

// Euclidean distances on a sphere are equal but for noise, which would choose any member.
TEST(CompromisePoint, IsTheMiddleOfASphereWithNoise) {
  std::uint64_t noise = 1;
  Points sphere = das_dennis(3, 12);
  for (Values& point : sphere) {
    const double length = std::hypot(point[0], point[1], point[2]);
    for (double& x : point) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      x = x / length * (1 + 0.01 * static_cast<double>(noise >> 40) / 0x1p24);
    }
  }
  ASSERT_FALSE(has_knee(sphere));
  for (const double x : sphere[compromise_point(sphere)]) EXPECT_NEAR(x, std::sqrt(1 / 3.0), 0.1);
}

TEST(CompromisePoint, IsDefinedForDegenerateFronts) {
  EXPECT_EQ(compromise_point({{3, 4}}), 0U);
  EXPECT_EQ(compromise_point({{1, 0}, {0, 1}}), 1U);  // equally near: least coordinates
  EXPECT_EQ(compromise_point({{not_known, 0}, {-infinite, 0}}), 1U);
  EXPECT_EQ(compromise_point({{0, 1}, {2, 2}, {1, 0}, {-infinite, 9}}), 0U);
  EXPECT_EQ(code_of([] { compromise_point({}); }), "front.empty");
  EXPECT_EQ(code_of([] { compromise_point({{not_known}}); }), "front.empty");
}

}  // namespace
}  // namespace kiln::test::compromise_point_test
