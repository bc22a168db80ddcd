// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which point of a front is handed out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kiln/fronts/indicators.hpp"

#include "backends/cpu_queue.hpp"

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

/// das_dennis() with each coordinate raised to a power, scaled by how long `length_of` says that
/// is.
template <class LengthOf>
Points surface(int objectives, int divisions, double power, LengthOf length_of) {
  Points points = das_dennis(objectives, divisions);
  for (Values& point : points) {
    const double length = length_of(point);
    for (double& x : point) x = std::pow(x / length, power);
  }
  return points;
}

double euclidean(const Values& point) {
  double squares = 0;
  for (const double x : point) squares += x * x;
  return std::sqrt(squares);
}

/// A search that has not arrived at the end of the first axis: what is there has other objectives
/// that are a little above 0, and one member is `far` out on the axis.
Points with_straggler(Points points, double far) {
  const std::size_t objectives = points.front().size();
  for (Values& point : points) {
    if (point[0] == 1) {
      for (std::size_t k = 1; k < objectives; ++k) point[k] = 1e-3;
    }
  }
  points.emplace_back(objectives, 0).front() = far;
  return points;
}

/// The least sum of objectives scaled by their ranges, and where: in long double, by looking at
/// each point of a front.
std::pair<std::size_t, long double> lowest_by_enumeration(const Points& points) {
  std::pair<std::size_t, long double> lowest{0, 1e9L};
  for (std::size_t i = 0; i < points.size(); ++i) {
    long double sum = 0;
    for (std::size_t k = 0; k < points[i].size(); ++k) {
      long double low = points[0][k], high = low;
      for (const Values& point : points) {
        low = std::min<long double>(low, point[k]);
        high = std::max<long double>(high, point[k]);
      }
      sum += (points[i][k] - low) / (high - low);
    }
    if (sum < lowest.second) lowest = {i, sum};
  }
  return lowest;
}

// Points of a sphere are farther from the ideal than the plane through its ends; a straggler scales
// one of the ends to below that.
TEST(WhyNoKnee, IsACornerOnASphereWithAStraggler) {
  for (const int objectives : {2, 3, 4}) {
    const int divisions = objectives == 2 ? 60 : objectives == 3 ? 12 : 7;
    const Points sphere = surface(objectives, divisions, 1, euclidean);
    ASSERT_TRUE(why_no_knee(sphere)) << objectives;
    for (const double far : {1.02, 1.1, 1.4, 1.9}) {
      const Points points = with_straggler(sphere, far);
      ASSERT_LT(lowest_by_enumeration(points).second, 0.99L) << objectives << ' ' << far;
      EXPECT_EQ(why_no_knee(points), NoKnee::corner) << objectives << ' ' << far;
      EXPECT_EQ(compromise_point(points), nearest_by_enumeration(points)) << objectives;
    }
  }
}

// Square roots of the objectives add up to 1.
TEST(WhyNoKnee, IsNothingOnABowlWithAStraggler) {
  for (const int objectives : {2, 3, 4}) {
    const int divisions = objectives == 2 ? 60 : 4 * objectives;
    const Points bowl = surface(objectives, divisions, 2, [](const Values&) { return 1.0; });
    const double middle = 1.0 / (objectives * objectives);
    for (const double x : bowl[knee_point(bowl)]) EXPECT_NEAR(x, middle, 1e-15) << objectives;
    EXPECT_FALSE(why_no_knee(bowl)) << objectives;
    for (const double far : {1.1, 1.4, 1.9}) {
      const Points points = with_straggler(bowl, far);
      EXPECT_FALSE(why_no_knee(points)) << objectives << ' ' << far;
      EXPECT_EQ(compromise_point(points), lowest_by_enumeration(points).first) << objectives;
    }
  }
}

// DO2DK with one knee and no skew, which is symmetric: Branke, Deb, Dierolf, Osswald, PPSN VIII
// (2004) 722.
TEST(WhyNoKnee, IsNothingWhereTheKneeIsKnown) {
  constexpr double pi = 3.14159265358979323846;
  Points points;
  for (int i = 0; i <= 100; ++i) {
    const double x = i / 100.0;
    const double r = 5 + 10 * (x - 0.5) * (x - 0.5) + std::cos(2 * pi * x);
    points.push_back({r * (1 - std::sin(pi * x / 2)), r * (1 - std::cos(pi * x / 2))});
  }
  EXPECT_FALSE(why_no_knee(points));
  EXPECT_EQ(compromise_point(points), 50U);
}

TEST(WhyNoKnee, IsTheFirstReasonThatHolds) {
  EXPECT_EQ(why_no_knee({{3, 4}}), NoKnee::few);
  EXPECT_EQ(why_no_knee({{0, 1}, {1, 0}, {2, 2}}), NoKnee::few);
  EXPECT_EQ(why_no_knee(curve([](double x) { return 1 - x * x; })), NoKnee::end);
  EXPECT_EQ(why_no_knee(curve([](double x) { return 1 - x - 0.036 * x * (1 - x); })),
            NoKnee::straight);
  // A bend, beyond which there is a fifth of the front, or a twentieth.
  const auto bend_at = [](double bend) {
    return curve(
        [=](double x) { return x < bend ? 1 - 0.97 * x / bend : 0.03 * (1 - x) / (1 - bend); });
  };
  EXPECT_EQ(compromise_point(bend_at(0.8)), 80U);
  EXPECT_FALSE(why_no_knee(bend_at(0.8)));
  EXPECT_EQ(why_no_knee(bend_at(0.95)), NoKnee::corner);
  EXPECT_EQ(code_of([] { why_no_knee({}); }), "front.empty");
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
