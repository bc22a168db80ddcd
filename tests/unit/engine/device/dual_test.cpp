// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/dual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kiln::dual_test {
namespace {

using D = Dual<2>;

/// Central difference with Richardson's correction; relative error about 1e-10.
double difference(const std::function<double(double)>& f, double x) {
  const double h = 1e-3 * (1 + std::abs(x));
  const auto slope = [&](double step) { return (f(x + step) - f(x - step)) / (2 * step); };
  return (4 * slope(h / 2) - slope(h)) / 3;
}

struct Function {
  std::string name;
  std::function<D(D)> of_dual;
  std::function<double(double)> of_double;
  std::vector<double> places;
};
#define KILN_FUNCTION(name, ...)                                                        \
  {                                                                                     \
#name, [](D x) { return math::name(x); }, [](double x) { return math::name(x); }, { \
      __VA_ARGS__                                                                       \
    }                                                                                   \
  }
#define KILN_UNQUALIFIED(name, ...)                                                            \
  {                                                                                            \
#name, [](D x) { return name(x); }, [](double x) { return std::name(x); }, { __VA_ARGS__ } \
  }

TEST(Dual, DifferentiatesElementaryFunctions) {
  const Function functions[] = {
      KILN_FUNCTION(exp, -3, 0, 2),
      KILN_FUNCTION(log, 0.1, 1, 30),
      KILN_FUNCTION(log1p, -0.5, 0, 4),
      KILN_FUNCTION(expm1, -2, 0, 2),
      KILN_FUNCTION(sqrt, 0.2, 9),
      KILN_FUNCTION(sin, -1, 0, 4),
      KILN_FUNCTION(cos, -1, 0, 4),
      KILN_FUNCTION(abs, -2, 3),
      KILN_FUNCTION(lgamma, 0.3, 1, 2.5, 40, -1.5),
      KILN_FUNCTION(square, -3, 0, 2),
      KILN_FUNCTION(softplus, -40, 0, 40),
      KILN_FUNCTION(logistic, -30, 0, 30),
      KILN_UNQUALIFIED(tan, -1, 0.5),
      KILN_UNQUALIFIED(atan, -3, 0, 2),
      KILN_UNQUALIFIED(tanh, -3, 0, 2),
  };
  for (const Function& f : functions) {
    for (const double x : f.places) {
      const D y = f.of_dual(D::variable(x, 1));
      EXPECT_EQ(y.value, f.of_double(x)) << f.name << " at " << x;
      const double expected = difference(f.of_double, x);
      EXPECT_NEAR(y.slope[1], expected, 1e-7 * (1 + std::abs(expected))) << f.name << " at " << x;
      EXPECT_EQ(y.slope[0], 0.0);
    }
  }
}

TEST(Dual, DifferentiatesOperators) {
  const D x = D::variable(3, 0), y = D::variable(-2, 1);
  const auto expect = [](const D& d, double value, double dx, double dy) {
    EXPECT_DOUBLE_EQ(d.value, value);
    EXPECT_DOUBLE_EQ(d.slope[0], dx);
    EXPECT_DOUBLE_EQ(d.slope[1], dy);
  };
  expect(x + y, 1, 1, 1);
  expect(x - y, 5, 1, -1);
  expect(x * y, -6, -2, 3);
  expect(x / y, -1.5, -0.5, -0.75);
  expect(2 * x + 1, 7, 2, 0);
  expect(1 - y / 2, 2, 0, -0.5);
  expect(1 / x, 1.0 / 3, -1.0 / 9, 0);
  expect(-x, -3, -1, 0);
  expect(pow(x, 2), 9, 6, 0);
  expect(pow(x, D(2)), 9, 6, 0);
  expect(pow(D(2), x), 8, 8 * std::log(2), 0);
  D z = x;
  z += y;
  z *= x;
  z -= 1;
  z /= 2;
  expect(z, 1, 2, 1.5);
  EXPECT_TRUE(x > y && y < 0 && x >= 3 && x == D(3) && x != y && y <= x);
}

TEST(Dual, DigammaHasItsKnownValues) {
  // Abramowitz, Stegun 6.3.2, 6.3.3 and the recurrence 6.3.5.
  const double euler = 0.57721566490153286061;
  EXPECT_NEAR(math::digamma(1), -euler, 1e-14);
  EXPECT_NEAR(math::digamma(0.5), -euler - 2 * std::log(2), 1e-14);
  EXPECT_NEAR(math::digamma(4), -euler + 1 + 0.5 + 1.0 / 3, 1e-14);
  EXPECT_NEAR(math::digamma(-0.5), -euler - 2 * std::log(2) + 2, 1e-14);
  EXPECT_NEAR(math::digamma(1e6), std::log(1e6) - 0.5e-6 - 1e-12 / 12, 1e-14);
  EXPECT_TRUE(std::isnan(math::digamma(-2)));
}

}  // namespace
}  // namespace kiln::dual_test
