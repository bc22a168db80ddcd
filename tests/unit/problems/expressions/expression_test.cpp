// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Formulas against the same functions in C++.
#include "kiln/problems/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"

namespace kiln::problems {
namespace {

using Points = std::vector<double>;

struct Known {
  std::string formula;
  std::vector<ExpressionVariable> variables;
  std::function<double(const Points&)> function;
};

std::vector<ExpressionVariable> numbers(std::initializer_list<const char*> names) {
  std::vector<ExpressionVariable> variables;
  for (const char* const name : names) variables.push_back({name, {}, -2, 2});
  return variables;
}
ExpressionVariable array(const char* name, std::vector<std::int64_t> shape) {
  return {name, std::move(shape), -2, 2};
}

double squared(double x) { return x * x; }

std::vector<Known> arithmetic() {
  const auto xy = numbers({"x", "y"});
  return {
      {"100*(y-x^2)^2+(1-x)^2", xy,
       [](const Points& p) { return 100 * squared(p[1] - p[0] * p[0]) + squared(1 - p[0]); }},
      {"-x^2 - -y", xy, [](const Points& p) { return -(p[0] * p[0]) + p[1]; }},
      {"x - y - 3 - (x - y)", xy, [](const Points& p) { return p[0] - p[1] - 3 - (p[0] - p[1]); }},
      {"12 / (x + 5) / 4 * y", xy, [](const Points& p) { return 12 / (p[0] + 5) / 4 * p[1]; }},
      {"2^3^x + (y+3)^2^-x", xy,
       [](const Points& p) {
         return std::pow(2, std::pow(3, p[0])) + std::pow(p[1] + 3, std::pow(2, -p[0]));
       }},
      {"(x*x + 1)^-1.5 + (y+9)^0.5 + x^3 + y^4 + x^5 + x^0 + y^1", xy,
       [](const Points& p) {
         const double x = p[0], y = p[1];
         return std::pow(x * x + 1, -1.5) + std::sqrt(y + 9) + x * x * x + squared(y * y) +
                std::pow(x, 5) + 1 + y;
       }},
      {"1 - x*2 + 3 - (4 - y)/3 - (2*y - x)*.5e1 + 1e-2", xy,
       [](const Points& p) {
         return 1 - p[0] * 2 + 3 - (4 - p[1]) / 3 - (2 * p[1] - p[0]) * 5 + 0.01;
       }},
      {"\t pi * x\n+ e*y ", xy,
       [](const Points& p) { return std::numbers::pi * p[0] + std::numbers::e * p[1]; }},
      {"+x - (+y)", xy, [](const Points& p) { return p[0] - p[1]; }},
  };
}

std::vector<Known> functions() {
  const auto xy = numbers({"x", "y"});
  return {
      {"sin(x) + cos(y) + tan(x/4) + asin(x/3) + acos(y/3) + atan(x) + atan2(x, y)", xy,
       [](const Points& p) {
         const double x = p[0], y = p[1];
         return std::sin(x) + std::cos(y) + std::tan(x / 4) + std::asin(x / 3) + std::acos(y / 3) +
                std::atan(x) + std::atan2(x, y);
       }},
      {"sinh(x) + cosh(y) + tanh(x) + exp(y) + expm1(x) + log(3+y) + log1p(2.5+x) + sqrt(x+2)", xy,
       [](const Points& p) {
         const double x = p[0], y = p[1];
         return std::sinh(x) + std::cosh(y) + std::tanh(x) + std::exp(y) + std::expm1(x) +
                std::log(3 + y) + std::log1p(2.5 + x) + std::sqrt(x + 2);
       }},
      {"abs(x) - 2*sign(y) + min(x, y, 0.5) * max(x, -y) + pow(x+3, y)", xy,
       [](const Points& p) {
         const double x = p[0], y = p[1];
         return std::abs(x) - 2 * (y > 0 ? 1 : -1) + std::min({x, y, 0.5}) * std::max(x, -y) +
                std::pow(x + 3, y);
       }},
  };
}

std::vector<Known> folds() {
  return {
      {"sum(i=1..9, 100*(x[i+1]-x[i]^2)^2+(1-x[i])^2)",
       {array("x", {10})},
       [](const Points& x) {
         double sum = 0;
         for (std::size_t i = 0; i < 9; ++i) {
           sum += 100 * squared(x[i + 1] - x[i] * x[i]) + squared(1 - x[i]);
         }
         return sum;
       }},
      {"1 + sum(i=1..length(x), x[i]^2)/4000 - prod(i=1..length(x), cos(x[i]/sqrt(i)))",
       {array("x", {40})},
       [](const Points& x) {
         double sum = 0, product = 1;
         for (std::size_t i = 0; i < 40; ++i) {
           sum += x[i] * x[i];
           product *= std::cos(x[i] / std::sqrt(static_cast<double>(i + 1)));
         }
         return 1 + sum / 4000 - product;
       }},
      {"sum(i=1..3, (sum(j=1..4, a[i,j]*x[j]) - i*y)^2)",
       {array("a", {3, 4}), array("x", {4}), {"y", {}, -2, 2}},
       [](const Points& p) {
         double sum = 0;
         for (std::size_t i = 0; i < 3; ++i) {
           double row = 0;
           for (std::size_t j = 0; j < 4; ++j) row += p[4 * i + j] * p[12 + j];
           sum += squared(row - static_cast<double>(i + 1) * p[16]);
         }
         return sum;
       }},
      // A bound that depends on an outer index, an empty sum and an empty product.
      {"sum(i=1..6, j=i+1..6, x[i]*x[j]/(j-i)) + sum(i=2..1, x[i]) - prod(i=5..4, x[i])",
       {array("x", {6})},
       [](const Points& x) {
         double sum = 0;
         for (std::size_t i = 0; i < 6; ++i) {
           for (std::size_t j = i + 1; j < 6; ++j) sum += x[i] * x[j] / static_cast<double>(j - i);
         }
         return sum - 1;
       }},
      // The inner sum says nothing of i, and j of the first is not that of the second.
      {"sum(i=1..3, sum(j=1..2, x[j]) * x[i]) + sum(j=1..3, sum(i=1..j, x[i])) ^ 2",
       {array("x", {3})},
       [](const Points& x) {
         return (x[0] + x[1]) * (x[0] + x[1] + x[2]) +
                squared(x[0] + (x[0] + x[1]) + (x[0] + x[1] + x[2]));
       }},
      {"prod(i=1..3, sum(j=1..2, x[2*i-2+j])) + prod(k=1..2, prod(l=1..3, x[k+l]))",
       {array("x", {6})},
       [](const Points& x) {
         return (x[0] + x[1]) * (x[2] + x[3]) * (x[4] + x[5]) +
                x[1] * x[2] * x[3] * x[2] * x[3] * x[4];
       }},
      {"sum(i=-1..1, x[i^2+i+1]*i) + sum(i=1..20, sum(k=1..3, x[1]*k)*i)",
       {array("x", {5})},
       [](const Points& x) { return -x[0] + x[2] + 6 * 210 * x[0]; }},
  };
}

double value_of(const Problem& problem, const Points& x) {
  const State state{x};
  return problem.objective->reference()(spans_of(state));
}

// The program adds in another order than the formula: ten ulps of the terms.
void expect_value(const Known& known, int points = 50) {
  SCOPED_TRACE(known.formula.substr(0, 100));
  const Problem problem = make_expression_problem({known.formula, known.variables});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> within(-2, 2);
  const auto n = static_cast<std::size_t>(problem.objective->space().variables());
  for (int k = 0; k < points; ++k) {
    Points x(n);
    for (double& xi : x) xi = within(random);
    const double expected = known.function(x);
    const State state{x};
    EXPECT_NEAR(value_of(problem, x), expected, 1e-12 * std::max(1.0, std::abs(expected)));
    EXPECT_NEAR(problem.solution.verify(spans_of(state)), expected,
                1e-12 * std::max(1.0, std::abs(expected)));
  }
}

TEST(Expression, HasTheValuesOfTheFormula) {
  for (const auto& all : {arithmetic(), functions(), folds()}) {
    for (const Known& known : all) expect_value(known);
  }
}

// What fresh eyes found: zeros with signs, empty sums, powers of 0, products with a 0 and an
// overflow, numbers without an inverse.
std::vector<Known> corners() {
  const auto x = numbers({"x"}), xy = numbers({"x", "y"});
  return {
      {"atan2(0,-1-x^2) + atan2(-0,-1-x^2) + x", x, [](const Points& p) { return p[0]; }},
      {"sum(i=1..2, atan2(0*(i-1.5), -1-x^2)) + x", x, [](const Points& p) { return p[0]; }},
      // 1 / 5e-324 is infinite, and the quotient is not.
      {"(x*1e-310)/5e-324", x, [](const Points& p) { return p[0] * 1e-310 / 5e-324; }},
      {"max(x-3, 0)^0 + (y+1)^2", xy, [](const Points& p) { return 1 + squared(p[1] + 1); }},
      {"prod(i=1..3, max(0, x-3)*(2-i) + (i-1)*1e200*(x+3)) + (y-0.3)^2", xy,
       [](const Points& p) { return squared(p[1] - 0.3); }},
      {"1e3*(sum(i=1..9, j=1..9, x*y/(i+j)) - sum(i=1..9, sum(j=1..9, x*y/(i+j)))) + x", xy,
       [](const Points& p) { return p[0]; }},
  };
}

TEST(Expression, HasTheValuesOfTheFormulaInCorners) {
  for (const Known& known : corners()) {
    SCOPED_TRACE(known.formula);
    const Problem problem = make_expression_problem({known.formula, known.variables});
    const Points at{0.5, -1.25};
    const Points x(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(known.variables.size()));
    const State state{x};
    const double expected = known.function(x), value = value_of(problem, x);
    const auto close = [&](double v) {
      return std::abs(v - expected) <= 1e-10 * std::max(1.0, std::abs(expected));
    };
    EXPECT_PRED1(close, value);
    EXPECT_PRED1(close, problem.solution.verify(spans_of(state)));
  }
}

// A branch that is not taken has no say, whatever its derivative is there.
TEST(Expression, HasNoDerivativeOfWhatHasNoEffect) {
  struct Case {
    const char* formula;
    double at, slope;
  };
  for (const Case& one :
       {Case{"max(x, sqrt(x-1)) + x", 0.5, 2}, Case{"max(x-1, 0)^0 + 3*x", 0.5, 3},
        Case{"min(x, log(x-1)*1e9 + 9) + x", 0.5, 2}, Case{"x^0 + x", 0, 1},
        Case{"sum(k=0..1, x^k)", 0, 1}}) {
    SCOPED_TRACE(one.formula);
    const Problem problem = make_expression_problem({one.formula, {{"x", {}, -2, 2}}});
    double slope = 0;
    problem.objective->gradient_reference()(std::span(&one.at, 1), std::span(&slope, 1));
    EXPECT_EQ(slope, one.slope);
  }
}

// Blocks have room for 64 instructions: longer formulas are cut, and nothing is lost or reordered.
TEST(Expression, MayBeLong) {
  std::string sum = "x", product = "y", fraction = "y";
  for (int k = 1; k <= 1500; ++k) {
    sum += (k % 3 == 0 ? " - " : " + ") + std::to_string(k) + "*x*y";
    product += "*(1 + x/" + std::to_string(1000 + k) + ")";
    fraction += k % 2 == 0 ? "*(x+9)" : "/(y+7)";
  }
  const auto xy = numbers({"x", "y"});
  expect_value({sum, xy,
                [](const Points& p) {
                  double value = p[0];
                  for (int k = 1; k <= 1500; ++k) value += (k % 3 == 0 ? -k : k) * p[0] * p[1];
                  return value;
                }},
               5);
  expect_value({product, xy,
                [](const Points& p) {
                  double value = p[1];
                  for (int k = 1; k <= 1500; ++k) value *= 1 + p[0] / (1000 + k);
                  return value;
                }},
               5);
  expect_value({fraction, xy,
                [](const Points& p) {
                  double value = p[1];
                  for (int k = 1; k <= 1500; ++k) {
                    value = k % 2 == 0 ? value * (p[0] + 9) : value / (p[1] + 7);
                  }
                  return value;
                }},
               5);
}

TEST(Expression, MayBeDeep) {
  std::string nested = "x", roots = "x";
  for (int k = 0; k < 90; ++k) nested = "sin(" + nested + "+y)";
  for (int k = 0; k < 60; ++k) roots = "(" + roots + ")*y+1";
  const auto xy = numbers({"x", "y"});
  expect_value({nested, xy, [](const Points& p) {
                  double value = p[0];
                  for (int k = 0; k < 90; ++k) value = std::sin(value + p[1]);
                  return value;
                }});
  expect_value({roots, xy, [](const Points& p) {
                  double value = p[0];
                  for (int k = 0; k < 60; ++k) value = value * p[1] + 1;
                  return value;
                }});
}

TEST(Expression, ReadsColumnsAndMatrices) {
  ModelData data("points.csv");
  data.add({"t", {4}, {0, 1, 2, 3}});
  data.add({"y", {4}, {1, 3, 5.5, 6.5}});
  data.add({"group", {4}, {2, 1, 2, 1}});
  data.add({"c", {2, 2}, {1, 2, 3, 4}});
  data.add({"weight", {}, {0.5}});
  const Problem problem = make_expression_problem(
      {"sum(k=1..length(t), weight*(a[group[k]] + b*t[k] - y[k])^2) + c[2,1]*b",
       {array("a", {2}), {"b", {}, -2, 2}},
       &data});
  EXPECT_NEAR(value_of(problem, {0.5, 1, 1.5}),
              0.5 * (0 + squared(0.5 + 1.5 - 3) + squared(1 + 3 - 5.5) + squared(0.5 + 4.5 - 6.5)) +
                  3 * 1.5,
              1e-13);
}

// Least squares have a closed form: slope 1.9, intercept 1.15 of the points above.
TEST(Expression, IsMinimizedByDescent) {
  ModelData data("points.csv");
  data.add({"t", {4}, {0, 1, 2, 3}});
  data.add({"y", {4}, {1, 3, 5.5, 6.5}});
  const Problem problem = make_expression_problem(
      {"sum(k=1..4, (a + b*t[k] - y[k])^2)", {{"a", {}, -10, 10}, {"b", {}, -10, 10}}, &data});
  SimulatedAnnealing schedule;
  const Result result = Engine({.device = "cpu", .threads = 1, .replicas = 32})
                            .run(problem, schedule, {.sweeps = 400});
  const auto& x = std::get<std::vector<double>>(result.solution.front());
  EXPECT_TRUE(result.verified);
  EXPECT_NEAR(x[0], 1.15, 1e-5);
  EXPECT_NEAR(x[1], 1.9, 1e-5);
  EXPECT_NEAR(result.objective, 0.45, 1e-9);
}

TEST(Expression, IsMaximizedWithItsSign) {
  const Problem problem =
      make_expression_problem({"7 - (x-1)^2", numbers({"x"}), nullptr, Sense::maximize});
  SimulatedAnnealing schedule;
  const Result result = Engine({.device = "cpu", .threads = 1, .replicas = 32})
                            .run(problem, schedule, {.sweeps = 300});
  EXPECT_NEAR(result.objective, 7, 1e-9);
  EXPECT_NEAR(std::get<std::vector<double>>(result.solution.front())[0], 1, 1e-4);
}

// exp(-formula) is the density: of a formula of two normal variables the moments are known.
TEST(Expression, IsSampledAsMinusTheLogarithmOfADensity) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Problem problem =
      make_expression_problem({"(x-3)^2/8 + sum(i=1..2, (z[i]-x)^2)/2",
                               {{"x", {}, -infinity, infinity}, {"z", {2}, -infinity, infinity}}});
  Hmc schedule({.mode = "sample", .draws = 500, .warmup = 300});
  const Result result =
      Engine({.device = "cpu", .threads = 2, .replicas = 64}).run(problem, schedule, {});
  ASSERT_TRUE(result.sample_summary);
  const auto& q = result.sample_summary->quantities;
  ASSERT_EQ(q.size(), 3u);
  // 32,000 draws: six standard errors of a mean are 0.07, of a deviation 0.05.
  EXPECT_NEAR(q[0].mean, 3, 0.07);
  EXPECT_NEAR(q[0].sd, 2, 0.05);
  EXPECT_NEAR(q[1].mean, 3, 0.08);
  EXPECT_NEAR(q[1].sd, std::sqrt(5.0), 0.06);
}

// Of a density that is flat in its box every step is accepted, so that steps grow beyond it: the
// moments are those of the uniform distribution, 1.5 and 7 / sqrt(12), nevertheless.
TEST(Expression, IsSampledWhereItIsFlat) {
  for (const char* const formula : {"0*x", "1e-6*x"}) {
    SCOPED_TRACE(formula);
    const Problem problem = make_expression_problem({formula, {{"x", {}, -2, 5}}});
    Hmc schedule({.mode = "sample", .draws = 500, .warmup = 300});
    const Result result =
        Engine({.device = "cpu", .threads = 2, .replicas = 64}).run(problem, schedule, {});
    ASSERT_TRUE(result.sample_summary);
    const auto& x = result.sample_summary->quantities.at(0);
    EXPECT_NEAR(x.mean, 1.5, 0.07);
    EXPECT_NEAR(x.sd, 7 / std::sqrt(12.0), 0.05);
  }
}

TEST(Expression, NamesTheCoordinatesOfASolution) {
  const Problem problem =
      make_expression_problem({"x^2 + sum(i=1..2, sum(j=1..2, m[i,j]^2)) + a[1]",
                               {{"x", {}, -2, 2}, array("m", {2, 2}), array("a", {1})}});
  const State state{Points{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(problem.solution.format(spans_of(state)),
            "1  # x\n2  # m[1,1]\n3  # m[1,2]\n4  # m[2,1]\n5  # m[2,2]\n6  # a[1]\n");
}

}  // namespace
}  // namespace kiln::problems
