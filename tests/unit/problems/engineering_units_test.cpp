// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The units that names have, against mechanics in SI units.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "kiln/problems/multi_objective.hpp"

namespace kiln::engineering_units_test {
namespace {

using std::numbers::pi;

constexpr double inch = 0.0254, foot = 12 * inch, pound = 0.45359237, psi = 6894.757293168;
constexpr double pound_force = pound * 9.80665;

double si(const std::string& unit) {
  static const std::map<std::string, double> known{{"m", 1},
                                                   {"m^2", 1},
                                                   {"m^3", 1},
                                                   {"cm", 1e-2},
                                                   {"cm^2", 1e-4},
                                                   {"cm^3", 1e-6},
                                                   {"mm", 1e-3},
                                                   {"in", inch},
                                                   {"in/16", inch / 16},
                                                   {"kg", 1},
                                                   {"N", 1},
                                                   {"kPa", 1e3},
                                                   {"s", 1},
                                                   {"$", 1},
                                                   {"", 1},
                                                   {"in^3", inch * inch * inch}};
  return known.at(unit);
}

double si_of(double value, const std::string& name) {
  const std::size_t at = name.find(" [");
  return value * si(at == std::string::npos ? "" : name.substr(at + 2, name.size() - at - 3));
}

/// Objectives and variables of a state, in SI units by the units of their names.
struct Measured {
  std::vector<double> f, x;
};

Measured measured(int number, const std::vector<double>& x) {
  const Problem problem = problems::engineering_design(number);
  State state;
  std::size_t k = 0;
  for (const Block& block : problem.objective->space().blocks()) {
    std::vector<double> reals;
    std::vector<std::int32_t> integers;
    for (std::int64_t i = 0; i < block.count; ++i, ++k) {
      reals.push_back(x.at(k));
      integers.push_back(static_cast<std::int32_t>(x[k]));
    }
    if (block.kind == BlockKind::real) state.emplace_back(reals);
    if (block.kind == BlockKind::integer) state.emplace_back(integers);
  }
  Measured all;
  const std::vector<double> f = problem.objectives->evaluate(spans_of(state)).values;
  for (std::size_t i = 0; i < f.size(); ++i) {
    all.f.push_back(si_of(f[i], problem.objectives->names[i]));
  }
  EXPECT_EQ(problem.coordinates.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    all.x.push_back(si_of(x[i], problem.coordinates.at(i).name));
  }
  return all;
}

void expect_close(double value, double expected, double share) {
  EXPECT_NEAR(value / expected, 1, share);
}

// F = 10 kN, L = 200 cm, E = 2e5 kN/cm^2: bars of 2 L, sqrt(2) L, L and L, the third one's area
// under a root, as the suite has it.
TEST(EngineeringUnits, OfTheFourBarTruss) {
  const Measured at = measured(21, {1.5, 2, 1.7, 2.5});
  const double force = 1e4, length = 2, modulus = 2e5 * 1e3 / 1e-4, root = std::numbers::sqrt2;
  const double third = std::sqrt(at.x[2] * 1e-4);
  expect_close(at.f[0], length * (2 * at.x[0] + root * at.x[1] + third + at.x[3]), 1e-12);
  const double flexible = 2 / at.x[0] + 2 * root / at.x[1] - 2 * root / at.x[2] + 2 / at.x[3];
  expect_close(at.f[1], force * length / modulus * flexible, 1e-12);
}

// 30 ft of beam; a square inch of steel costs 1 dollar a foot, one of concrete 2 cents.
TEST(EngineeringUnits, OfTheConcreteBeam) {
  const Measured at = measured(22, {0, 15, 35});
  const double steel = 0.2 * inch * inch, area = at.x[1] * at.x[2], per = foot * inch * inch;
  expect_close(at.f[0], 30 * foot * (1.0 * steel + 0.02 * (area - steel)) / per, 1e-12);
}

// Rolled steel of 0.283 lb/in^3 costs 0.35 dollars a pound, forged steel 1 dollar; the rest is
// welding, of which the two other terms are. It is to hold 750 cubic feet.
TEST(EngineeringUnits, OfThePressureVessel) {
  const Measured at = measured(23, {13, 7, 42, 176}), thicker = measured(23, {13, 9, 42, 176});
  const double density = 0.283 * pound / std::pow(inch, 3);
  const double heads = 2 * pi * at.x[2] * at.x[2] * (thicker.x[1] - at.x[1]) * density;
  expect_close(thicker.f[0] - at.f[0], heads * 1.0 / pound, 1e-3);
  const Measured longer = measured(23, {13, 7, 42, 186});
  const double shell = 2 * pi * at.x[2] * at.x[0] * (longer.x[3] - at.x[3]) * density;
  const double weld = 3.1661 * std::pow(13.0 / 16, 2) * 10;
  expect_close(longer.f[0] - at.f[0] - weld, shell * 0.35 / pound, 1e-3);
  const auto volume = [](const Measured& one) {
    return pi * one.x[2] * one.x[2] * (one.x[3] + 4.0 / 3 * one.x[2]);
  };
  EXPECT_LT(volume(at), 750 * std::pow(foot, 3));
  EXPECT_GT(at.f[1], 0);
  EXPECT_GT(volume(longer), 750 * std::pow(foot, 3));
  EXPECT_EQ(longer.f[1], 0);
}

// A wire as long as its coils and two more, along a helix that is nearly flat.
TEST(EngineeringUnits, OfTheCoilSpring) {
  const Measured at = measured(25, {9, 1.2, 18});
  const double wire = 0.5 * inch;
  expect_close(at.f[0], pi * at.x[1] * (9 + 2) * pi * wire * wire / 4, 1e-12);
}

// 100 kN hang from two bars, which are fixed 4 m and 1 m to the sides.
TEST(EngineeringUnits, OfTheTwoBarTruss) {
  const Measured at = measured(31, {0.01, 0.02, 2});
  const double height = at.x[2], first = std::hypot(4, height), second = std::hypot(1, height);
  expect_close(at.f[0], at.x[0] * first + at.x[1] * second, 1e-12);
  // Sideways both forces are equal, upwards they carry the load.
  const double sideways = 1e5 / (height / 4 + height / 1);
  expect_close(at.f[1], sideways * first / 4 / at.x[0], 1e-12);
}

// A cantilever of 14 in that carries 6000 lb.
TEST(EngineeringUnits, OfTheWeldedBeam) {
  const Measured at = measured(32, {0.25, 6, 8, 0.3});
  const double inertia = at.x[3] * std::pow(at.x[2], 3) / 12;
  const double load = 6000 * pound_force, modulus = 30e6 * psi;
  expect_close(at.f[1], load * std::pow(14 * inch, 3) / (3 * modulus * inertia), 1e-6);
}

// Discs of steel, 2 mm thick.
TEST(EngineeringUnits, OfTheDiscBrake) {
  const Measured at = measured(33, {60, 85, 2500, 14});
  const double area = pi * (at.x[1] * at.x[1] - at.x[0] * at.x[0]);
  expect_close(at.f[0], 7800 * area * 2e-3 * (14 - 1), 1e-3);
}

TEST(EngineeringUnits, AreNotInventedForViolations) {
  for (const int number : {21, 22, 23, 24, 25, 31, 32, 33, 34, 35, 36, 37}) {
    const Problem problem = problems::engineering_design(number);
    EXPECT_EQ(problem.coordinates.size(),
              static_cast<std::size_t>(problem.objective->space().variables()));
    for (const std::string& name : problem.objectives->names) {
      EXPECT_TRUE(name == "violation" || name.find("violation") == std::string::npos) << name;
    }
    std::map<std::string, int> names;
    for (const VariableModel& one : problem.coordinates) EXPECT_EQ(++names[one.name], 1);
    for (const std::string& one : problem.objectives->names) EXPECT_EQ(++names[one], 1);
  }
}

}  // namespace
}  // namespace kiln::engineering_units_test
