// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "kiln/problems/vector_functions/dtlz.hpp"
#include "kiln/problems/vector_functions/engineering_design.hpp"
#include "kiln/problems/vector_functions/zdt.hpp"

#include "vector_function_values.hpp"

namespace kiln::multi_objective_benchmarks_test {
namespace {

using std::numbers::pi;
using test::evaluate;
using test::Evaluated;
using test::expect_near;
using test::objectives_at;
using test::random_point;
using test::squares_of;
using test::sum_of;
using test::Values;

// Worked out by hand.
TEST(MultiObjectiveBenchmarks, ZdtHasTheValuesOfItsFormulas) {
  expect_near(objectives_at(Zdt{1, 3}, {0.25, 0.5, 0}), {0.25, 3.25 - std::sqrt(0.25 * 3.25)},
              1e-14, "ZDT1");
  expect_near(objectives_at(Zdt{2, 3}, {0.5, 1, 1}), {0.5, 10 - 0.025}, 1e-14, "ZDT2");
  expect_near(objectives_at(Zdt{3, 2}, {0.25, 0}), {0.25, 0.5 - 0.25 * std::sin(2.5 * pi)}, 1e-14,
              "ZDT3");
  expect_near(objectives_at(Zdt{4, 3}, {1, 0.5, -1}), {1, 0.75}, 1e-14, "ZDT4");
  const double f1 = 1 - std::exp(-1.0);
  expect_near(objectives_at(Zdt{6, 3}, {0.25, 1, 1}), {f1, 10 - f1 * f1 / 10}, 1e-14, "ZDT6");
  Values bits(40, 0.0);
  std::fill(bits.begin() + 1, bits.begin() + 35, 1.0);  // 29 ones, a full group, an empty one
  bits[35] = 1;
  expect_near(objectives_at(Zdt{5, 40}, bits), {30, (1 + 3) / 30.0}, 1e-14, "ZDT5");
}

/// Objective i of M, counted from 1, of the DTLZ problems on a sphere, by the angles.
double on_sphere(const Values& angles, int i, double radius) {
  const int m = static_cast<int>(angles.size()) + 1;
  double product = radius;
  for (int j = 1; j <= m - i; ++j) product *= std::cos(angles[static_cast<std::size_t>(j - 1)]);
  return i == 1 ? product : product * std::sin(angles[static_cast<std::size_t>(m - i)]);
}

Values dtlz_by_hand(int number, int m, const Values& x) {
  const auto split = x.begin() + (m - 1);
  const Values place(x.begin(), split), rest(split, x.end());
  const auto k = static_cast<double>(rest.size());
  double g = 0;
  for (const double v : rest) {
    if (number == 7) g += 9 * v / k;
    if (number == 6) g += std::pow(v, 0.1);
    if (number == 2 || number == 4 || number == 5) g += (v - 0.5) * (v - 0.5);
    if (number == 1 || number == 3) g += (v - 0.5) * (v - 0.5) - std::cos(20 * pi * (v - 0.5));
  }
  if (number == 1 || number == 3) g = 100 * (k + g);
  if (number == 7) g += 1;
  Values f;
  if (number == 7) {
    f = place;
    double h = m;
    for (const double v : place) h -= v / (1 + g) * (1 + std::sin(3 * pi * v));
    f.push_back((1 + g) * h);
    return f;
  }
  Values angles;
  for (std::size_t j = 0; j < place.size(); ++j) {
    const double v = number == 4 ? std::pow(place[j], 100) : place[j];
    angles.push_back(number >= 5 && j > 0 ? pi / (4 * (1 + g)) * (1 + 2 * g * v) : v * pi / 2);
  }
  for (int i = 1; i <= m; ++i) {
    if (number != 1) {
      f.push_back(on_sphere(angles, i, 1 + g));
      continue;
    }
    double product = 0.5 * (1 + g);
    for (int j = 0; j < m - i; ++j) product *= place[static_cast<std::size_t>(j)];
    f.push_back(i == 1 ? product : product * (1 - place[static_cast<std::size_t>(m - i)]));
  }
  return f;
}

TEST(MultiObjectiveBenchmarks, DtlzHasTheValuesOfItsFormulas) {
  std::mt19937_64 random(1);
  for (int number = 1; number <= 7; ++number) {
    for (const int m : {2, 3, 5, 16}) {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Values x = random_point(random, m + 4);
        expect_near(objectives_at(Dtlz{number, m, m + 4, DtlzConstraints::none}, x),
                    dtlz_by_hand(number, m, x), 1e-11, "DTLZ" + std::to_string(number));
      }
    }
  }
  // By hand: g = 100 (1 + 0.25 - cos(10 pi)) = 25, and for DTLZ7 g = 10 and sin(1.5 pi) = -1.
  expect_near(objectives_at(Dtlz{1, 2, 2, DtlzConstraints::none}, {0.25, 1}), {3.25, 9.75}, 1e-12,
              "DTLZ1");
  expect_near(objectives_at(Dtlz{7, 2, 2, DtlzConstraints::none}, {0.5, 1}), {0.5, 22}, 1e-12,
              "DTLZ7");
}

TEST(MultiObjectiveBenchmarks, DtlzIsOnItsFrontWhereNothingLiesBehind) {
  std::mt19937_64 random(2);
  for (const int m : {2, 3, 8}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      Values x = random_point(random, m - 1);
      x.resize(static_cast<std::size_t>(m + 6), 0.5);
      const auto at = [&](int number) {
        return objectives_at(Dtlz{number, m, m + 6, DtlzConstraints::none}, x);
      };
      EXPECT_NEAR(sum_of(at(1)), 0.5, 1e-14);
      for (const int number : {2, 3, 4, 5}) EXPECT_NEAR(squares_of(at(number)), 1, 1e-13);
      std::fill(x.begin() + (m - 1), x.end(), 0.0);
      EXPECT_NEAR(squares_of(at(6)), 1, 1e-13);
    }
  }
  // The curve of DTLZ5: two equal objectives.
  const Values curve =
      objectives_at(Dtlz{5, 3, 4, DtlzConstraints::none}, {1.0 / 3, 0.9, 0.5, 0.5});
  expect_near(curve, {std::sqrt(0.375), std::sqrt(0.375), 0.5}, 1e-14, "DTLZ5");
}

double violation(const Dtlz& function, const Values& x) {
  const Values g = evaluate(function, x).g;
  return total_violation(g.data(), function.constraints());
}

TEST(MultiObjectiveBenchmarks, ConstraintsOfDtlzAreMetWhereThePaperHasIt) {
  const Dtlz strip{1, 3, 3, DtlzConstraints::c1};
  EXPECT_EQ(violation(strip, {0.5, 0.5, 0.5}), 0);
  EXPECT_EQ(violation(strip, {0, 0, 0.5}), 0);
  EXPECT_GT(violation(strip, {0.5, 0.5, 1}), 0);
  const Evaluated far = evaluate(strip, {0.5, 0.625, 1});
  EXPECT_NEAR(far.g[0], far.f[2] / 0.6 + (far.f[0] + far.f[1]) / 0.5 - 1, 1e-9);

  // The last variable makes the radius: 1, in the barrier from 4 to 9, and beyond it.
  const Dtlz barrier{3, 3, 3, DtlzConstraints::c1};
  const auto radius = [&](double d) {
    return std::sqrt(squares_of(evaluate(barrier, {0.2, 0.7, d}).f));
  };
  EXPECT_NEAR(radius(0.5), 1, 1e-14);
  EXPECT_EQ(violation(barrier, {0.2, 0.7, 0.5}), 0);
  EXPECT_GT(radius(0.505), 4);
  EXPECT_LT(radius(0.505), 9);
  EXPECT_GT(violation(barrier, {0.2, 0.7, 0.505}), 0);
  EXPECT_GT(radius(0.55), 9);
  EXPECT_EQ(violation(barrier, {0.2, 0.7, 0.55}), 0);

  const Dtlz balls{2, 2, 2, DtlzConstraints::c2};
  const auto at_angle = [](double degrees) { return Values{degrees / 90, 0.5}; };
  // A chord of 0.2 is 2 asin(0.1) = 11.478 degrees.
  for (const double inside : {0.0, 11.47, 33.53, 45.0, 56.47, 78.53, 90.0}) {
    EXPECT_EQ(violation(balls, at_angle(inside)), 0) << inside;
  }
  for (const double outside : {11.48, 20.0, 33.52, 56.48, 78.52}) {
    EXPECT_GT(violation(balls, at_angle(outside)), 0) << outside;
  }
  EXPECT_NEAR(evaluate(balls, at_angle(0)).g[0], -0.04, 1e-15);

  // On the front of DTLZ1, the sum being 0.5, each objective lacks 1 - 0.5 - f_j.
  const Dtlz planes{1, 3, 3, DtlzConstraints::c3};
  expect_near(evaluate(planes, {0.8, 0.25, 0.5}).g, {0.4, 0.2, 0.4}, 1e-14, "C3-DTLZ1");
  // The objectives (0, 0, 1.25), and (0, 0, 2), a corner of the front.
  const Dtlz ellipsoids{4, 3, 7, DtlzConstraints::c3};
  expect_near(evaluate(ellipsoids, {1, 0, 1, 0.5, 0.5, 0.5, 0.5}).g,
              {1 - 1.5625, 1 - 1.5625, 1 - 1.5625 / 4}, 1e-14, "C3-DTLZ4");
  EXPECT_EQ(violation(ellipsoids, {1, 0, 1, 1, 1, 1, 0.5}), 0);
}

// The suite's own program gives these values; the corners are its published extremes.
TEST(MultiObjectiveBenchmarks, EngineeringDesignsHaveTheValuesOfTheSuite) {
  const struct {
    int number;
    Values x, f;
  } cases[] = {
      {21, {1.5, 2, 2.5, 2.25}, {1931.9131909660762, 0.025050649346968414}},
      {22, {30, 7.5, 28}, {208.32, 109.68565333333333}},
      {22, {0, 20, 0}, {5.88, 180.01547}},
      {23, {14, 9, 42.5, 180.25}, {7061.0629253906245, 0}},
      {23, {1, 1, 10, 10}, {15.9018007813, 1288669.78054}},
      {24, {0.75, 4.5}, {540.75, 0.9047619047619047}},
      {24, {0.5, 0.5}, {60.5, 44.2819047619}},
      {25, {9, 1.25, 12}, {2.7171606923960314, 1820.024296217281}},
      {25, {1, 0.6, 0}, {0.037591349242869145, 2224669.4424175746}},
      {31, {2.5, 0.75, 1.75}, {12.42682907566409, 19.959141938940547, 12.32682907566409}},
      {31, {1e-5, 1e-5, 1}, {5.53731918799e-05, 8246211.25124, 19359919.7502}},
      {32, {0.25, 6.5, 8.25, 0.375}, {3.5000148437500007, 0.010425118030627673, 0}},
      {32, {0.125, 0.1, 0.1, 0.125}, {0.010205496875, 17561.6, 425062976.628}},
      {33, {60.5, 85.25, 2750, 12.5}, {2.03272059375, 2.5884779322912417, 0}},
      {34, {1.25, 2.5, 1.75, 2.25, 1.5}, {1681.0864968, 9.833, 0.11624375}},
      {35,
       {3.4, 0.71, 19, 7.5, 8.1, 3.1, 5.1},
       {3197.789539762394, 1386.9202795019241, 87.13154710755795}},
      {35, {2.6, 0.7, 17, 7.3, 7.3, 2.9, 5}, {2352.34611145, 1695.96387746, 397.358927317}},
      {36, {34, 19, 47, 52}, {3.14771826625387, 52, 0}},
      {36, {12, 12, 12, 12}, {5.931, 12, 0.355720675227}},
      {37, {0.15, 0.35, 0.65, 0.85}, {0.45440055, 0.6229535, 0.90986275}},
  };
  for (const auto& one : cases) {
    expect_near(objectives_at(EngineeringDesign{one.number}, one.x), one.f, 2e-11,
                "RE" + std::to_string(one.number));
  }
  // Its published extremes: the radii are the wrong way round, by 5, and should be 20 apart.
  const Values brake = objectives_at(EngineeringDesign{33}, {80, 75, 1000, 20});
  EXPECT_NEAR(brake[0], -0.721525, 1e-12);
  EXPECT_NEAR(brake[2], 25, 1e-12);
  EXPECT_TRUE(std::isnan(objectives_at(EngineeringDesign{22}, {0, 0, 0})[1]));
}

TEST(MultiObjectiveBenchmarks, SizesOfEngineeringDesignsAscend) {
  for (int i = 1; i < EngineeringDesign::areas; ++i) {
    EXPECT_GT(EngineeringDesign::area(i), EngineeringDesign::area(i - 1)) << i;
  }
  EXPECT_EQ(EngineeringDesign::area(0), 0.2);
  EXPECT_EQ(EngineeringDesign::area(EngineeringDesign::areas - 1), 15);
  for (int i = 1; i < EngineeringDesign::diameters; ++i) {
    EXPECT_GT(EngineeringDesign::diameter(i), EngineeringDesign::diameter(i - 1)) << i;
  }
  EXPECT_EQ(EngineeringDesign::diameter(EngineeringDesign::diameters - 1), 0.5);
}

}  // namespace
}  // namespace kiln::multi_objective_benchmarks_test
