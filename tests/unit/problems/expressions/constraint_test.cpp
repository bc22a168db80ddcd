// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Formulas with integers, constraints and several objectives, against all their states and against
// closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/expression.hpp"
#include "kiln/schedules/evolutionary.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::problems {
namespace {

using Kind = ExpressionVariable::Kind;
using Reals = std::vector<double>;

Result minimum_of(const Problem& problem, std::int64_t sweeps) {
  SimulatedAnnealing schedule;
  return Engine({.device = "cpu", .threads = 2, .replicas = 64})
      .run(problem, schedule, {.sweeps = sweeps});
}

std::vector<ExpressionVariable> reals(double lower, double upper) {
  return {{"x", {}, lower, upper}, {"y", {}, lower, upper}};
}

/// The least value by trying all states; what a constraint refuses is no state.
template <class Value, class Feasible>
double least(int lower, int upper, const Value& value, const Feasible& feasible) {
  double best = std::numeric_limits<double>::infinity();
  for (int a = lower; a <= upper; ++a) {
    for (int b = lower; b <= upper; ++b) {
      for (int c = lower; c <= upper; ++c) {
        if (feasible(a, b, c)) best = std::min(best, value(a, b, c));
      }
    }
  }
  return best;
}

TEST(FormulasOfIntegers, HaveTheLeastValueOfAllStates) {
  for (int seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const double p = 0.7 + seed, q = 2.3 - seed * 0.9;
    const auto value = [&](int a, int b, int c) {
      return std::pow(a - p, 2) + std::pow(b + q, 2) + 0.5 * a * c - std::cos(c + p) * b;
    };
    const auto feasible = [&](int a, int b, int c) {
      return a + 2 * b - c <= 3 - seed && a * b >= c - 4 && a - b + c == seed - 2;
    };
    const auto number = [](double x) { return "(" + std::to_string(x) + ")"; };
    const std::string formula =
        "(a-" + number(p) + ")^2 + (b+" + number(q) + ")^2 + 0.5*a*c - cos(c+" + number(p) + ")*b";
    const std::vector<ExpressionVariable> variables{{"a", {}, -6, 6, Kind::integer},
                                                    {"b", {}, -6, 6, Kind::integer},
                                                    {"c", {}, -6, 6, Kind::integer}};
    const Result free = minimum_of(make_expression_problem({formula, variables}), 400);
    EXPECT_NEAR(free.objective, least(-6, 6, value, [](int, int, int) { return true; }), 1e-9);
    EXPECT_TRUE(free.verified);
    const Result bound = minimum_of(
        make_expression_problem({formula,
                                 variables,
                                 nullptr,
                                 Sense::minimize,
                                 {"a + 2*b - c <= " + std::to_string(3 - seed), "a*b >= c - 4",
                                  "a - b + c == " + std::to_string(seed - 2)}}),
        1500);
    EXPECT_NEAR(bound.objective, least(-6, 6, value, feasible), 1e-9);
    EXPECT_GT(bound.objective, free.objective);
    EXPECT_TRUE(bound.feasible() && bound.verified);
    ASSERT_EQ(bound.constraints.size(), 3u);
  }
}

// Each variable has an optimum of its own, so that none takes the place of another.
TEST(FormulasOfIntegers, KeepTheOrderOfTheirVariables) {
  const Problem problem = make_expression_problem(
      {"(k-3)^2 + (x-0.25)^2 + (b[1]-1)^2 + b[2] + (j-7)^2 + (l+2)^2 + (y+1.5)^2",
       {{"k", {}, 0, 9, Kind::integer},
        {"x", {}, 0, 1},
        {"b", {2}, 0, 1, Kind::binary},
        {"j", {}, 0, 9, Kind::integer},
        {"l", {}, -5, 5, Kind::integer},
        {"y", {}, -2, 2}}});
  ASSERT_EQ(problem.objective->space().blocks().size(), 4u);
  const Result result = minimum_of(problem, 2000);
  EXPECT_NEAR(result.objective, 0, 1e-6);
  const State given = problem.solution.parse(Reals{3, 0.25, 1, 0, 7, -2, -1.5});
  EXPECT_EQ(problem.solution.format(spans_of(given)),
            "3  # k\n0.25  # x\n1  # b[1]\n0  # b[2]\n7  # j\n-2  # l\n-1.5  # y\n");
  EXPECT_EQ(problem.solution.verify(spans_of(given)), 0);
  for (const std::size_t block : {0u, 2u, 3u}) EXPECT_EQ(given[block], result.solution[block]);
  EXPECT_THROW(problem.solution.parse(Reals{3.5, 0.25, 1, 0, 7, -2, -1.5}), InvalidArgument);
  EXPECT_THROW(problem.solution.parse(Reals{3, 0.25, 2, 0, 7, -2, -1.5}), InvalidArgument);
  std::string names;
  for (const VariableModel& one : problem.coordinates) names += one.name + " ";
  EXPECT_EQ(names, "k j x y b[1] b[2] l ");
}

struct Constrained {
  ExpressionOptions options;
  double best;
};

// By the conditions of Karush, Kuhn and Tucker.
TEST(ConstraintsOfFormulas, HaveTheirClosedFormOptimum) {
  const std::vector<Constrained> all{
      {{"(x-2)^2 + (y-1)^2", reals(-3, 3), nullptr, Sense::minimize, {"x^2 <= y", "x + y <= 2"}},
       1},
      {{"x + y", reals(0, 10), nullptr, Sense::maximize, {"x + 2*y <= 4", "6 >= 3*x + y"}}, 2.8},
      {{"x + y", reals(-10, 10), nullptr, Sense::minimize, {"x^2 + y^2 <= 1"}}, -std::sqrt(2.0)},
      // At x = 0 the function is ten times as steep as the slope of the penalty: without its jump a
      // negative x would be better.
      {{"tanh(100*x) + y^2", reals(-1, 1), nullptr, Sense::minimize, {"x >= 0"}}, 0},
  };
  for (const Constrained& one : all) {
    SCOPED_TRACE(one.options.formula);
    const Result result = minimum_of(make_expression_problem(one.options), 3000);
    const double sign = one.options.sense == Sense::maximize ? -1 : 1;
    EXPECT_TRUE(result.feasible() && result.verified);
    EXPECT_GE(sign * result.objective, sign * one.best - 1e-12);  // nothing infeasible is better
    EXPECT_NEAR(result.objective, one.best, 2e-4 * std::max(1.0, std::abs(one.best)));
  }
}

// Of all that meet it, equal numbers have the greatest sum. All random states violate it.
TEST(ConstraintsOfFormulas, AreMetByFunctionsOfManyVariables) {
  const Problem problem = make_expression_problem({"sum(i=1..40, x[i])",
                                                   {{"x", {40}, 0, 10}},
                                                   nullptr,
                                                   Sense::maximize,
                                                   {"log(sum(i=1..40, exp(x[i]))) <= log(80)"}});
  const Result result = minimum_of(problem, 400);
  EXPECT_TRUE(result.feasible() && result.verified);
  EXPECT_LE(result.objective, 40 * std::log(2.0));
  EXPECT_GT(result.objective, 0.9 * 40 * std::log(2.0));
}

TEST(ConstraintsOfFormulas, AreNeverViolatedByAnAnswer) {
  const Problem problem = make_expression_problem(
      {"x", {{"x", {}, 0, 1}}, nullptr, Sense::minimize, {"x >= 2", "x <= 5"}});
  const Result result = minimum_of(problem, 200);
  EXPECT_FALSE(result.feasible());
  EXPECT_FALSE(result.verified);
  EXPECT_NEAR(result.violation(), 1, 1e-3);
  ASSERT_EQ(result.constraints.size(), 2u);
  EXPECT_NEAR(result.constraints[0], 1, 1e-3);   // 2 - x
  EXPECT_NEAR(result.constraints[1], -4, 1e-3);  // x - 5
}

TEST(ConstraintsOfFormulas, ArePartsOfTheFingerprint) {
  const auto fingerprint = [](std::vector<std::string> constraints, Kind kind) {
    return make_expression_problem(
               {"x", {{"x", {}, 0, 1, kind}}, nullptr, Sense::minimize, std::move(constraints)})
        .identity.fingerprint;
  };
  const std::string plain = fingerprint({}, Kind::real);
  EXPECT_NE(plain, fingerprint({"x <= 1"}, Kind::real));
  EXPECT_NE(fingerprint({"x <= 1"}, Kind::real), fingerprint({"x <= 2"}, Kind::real));
  EXPECT_NE(plain, fingerprint({}, Kind::integer));
  EXPECT_NE(fingerprint({}, Kind::binary), fingerprint({}, Kind::integer));
}

// The front of x^2 and (x-2)^2 is (f1, (sqrt(f1) - 2)^2) for f1 in 0 .. 4; a constraint cuts it
// off.
TEST(FrontsOfFormulas, AreTheirClosedForms) {
  for (const double most : {2.0, 0.5}) {
    const Problem problem = make_expression_problem({"x^2 + abs(y); max: -(x-2)^2 - y^2",
                                                     reals(-3, 3),
                                                     nullptr,
                                                     Sense::minimize,
                                                     {"x <= " + std::to_string(most)}});
    Evolutionary schedule;
    const Result result =
        Engine({.device = "cpu", .threads = 2}).run(problem, schedule, {.sweeps = 200});
    ASSERT_TRUE(result.front && result.front->verified);
    ASSERT_GT(result.front->members.size(), 20u);
    double greatest = 0;
    for (const FrontMember& member : result.front->members) {
      const double f1 = member.values[0], loss = member.values[1];
      EXPECT_NEAR(loss, std::pow(std::sqrt(f1) - 2, 2), 0.1);
      EXPECT_GE(loss, std::pow(std::sqrt(f1) - 2, 2) - 1e-9);
      EXPECT_EQ(result.front->shown(1, loss), -loss);
      EXPECT_LE(std::get<Reals>(member.state[0])[0], most);
      greatest = std::max(greatest, f1);
    }
    EXPECT_NEAR(greatest, most * most, 0.02 * most * most);
  }
}

TEST(PosteriorsOfFormulas, AreOfOneFormulaOfRealVariables) {
  const ExpressionVariable x{"x", {}, 0, 1}, k{"k", {}, 0, 1, Kind::integer};
  const auto refuses = [](const ExpressionOptions& options) {
    try {
      posterior_of_expression(make_expression_problem(options));
    } catch (const InvalidArgument& error) {
      return error.code() == "problem.no_density";
    }
    return false;
  };
  EXPECT_FALSE(refuses({"x", {x}}));
  EXPECT_TRUE(refuses({"k", {k}}));
  EXPECT_TRUE(refuses({"x; -x", {x}}));
  EXPECT_TRUE(refuses({"x", {x}, nullptr, Sense::maximize}));
  EXPECT_TRUE(refuses({"x", {x}, nullptr, Sense::minimize, {"x <= 0.5"}}));
}

}  // namespace
}  // namespace kiln::problems
