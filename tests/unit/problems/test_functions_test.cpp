// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "kiln/densities/test_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"

#include "density_checks.hpp"

namespace kiln {
namespace {

using problems::function_by_name;
using std::numbers::pi;
using test::Coordinates;

constexpr TestFunctionKind all_kinds[] = {
    TestFunctionKind::sphere,          TestFunctionKind::rosenbrock,
    TestFunctionKind::rastrigin,       TestFunctionKind::levy,
    TestFunctionKind::styblinski_tang, TestFunctionKind::ackley,
    TestFunctionKind::griewank,        TestFunctionKind::branin,
    TestFunctionKind::hartmann3,       TestFunctionKind::hartmann6,
    TestFunctionKind::michalewicz,     TestFunctionKind::six_hump_camel,
    TestFunctionKind::eggholder,       TestFunctionKind::holder_table,
    TestFunctionKind::drop_wave,       TestFunctionKind::branin_hidden,
};

int dimension_of_kind(TestFunctionKind kind) {
  switch (kind) {
    case TestFunctionKind::branin:
    case TestFunctionKind::six_hump_camel:
    case TestFunctionKind::eggholder:
    case TestFunctionKind::holder_table:
    case TestFunctionKind::drop_wave:
      return 2;
    default:
      break;
  }
  if (kind == TestFunctionKind::hartmann3) return 3;
  return kind == TestFunctionKind::hartmann6 ? 6 : 11;
}

double value_at(const Problem& problem, const Coordinates& x) {
  const State state{x};
  const double value = problem.objective->reference()(spans_of(state));
  EXPECT_NEAR(problem.verify(spans_of(state)), value, 1e-9 * std::max(1.0, std::abs(value)))
      << problem.name;
  return value;
}

std::string refusal(const std::string& text) {
  try {
    function_by_name(text);
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

TEST(TestFunctions, HaveTheirOptimumWhereTheLiteratureHasIt) {
  const struct {
    const char* name;
    Coordinates optimum;
  } cases[] = {
      {"sphere-3", {0, 0, 0}},
      {"rosenbrock-4", {1, 1, 1, 1}},
      {"rastrigin-3", {0, 0, 0}},
      {"ackley-5", {0, 0, 0, 0, 0}},
      {"levy-4", {1, 1, 1, 1}},
      {"griewank-3", {0, 0, 0}},
      {"branin", {-pi, 12.275}},
      {"branin", {pi, 2.275}},
      {"branin", {9.42477796076938, 2.475}},
      {"hartmann3", {0.114614339099637, 0.555648849970283, 0.852546953521073}},
      {"hartmann6",
       {0.201689511010837, 0.150010691823457, 0.476873974206063, 0.275332430494559,
        0.311651616600112, 0.657300534065683}},
      {"styblinski-tang-2", {-2.903534027771177, -2.903534027771177}},
      {"michalewicz-2", {2.202905513296628, 1.570796322320509}},
      {"six-hump-camel", {0.0898420131, -0.7126564031}},
      {"six-hump-camel", {-0.0898420131, 0.7126564031}},
      {"eggholder", {512, 404.231805123817}},
      {"holder-table", {8.055023472141116, 9.664590028909654}},
      {"holder-table", {-8.055023472141116, -9.664590028909654}},
      {"drop-wave", {0, 0}},
      {"branin-hidden-6", {7, 7, 7, pi, 7, 2.275}},
      {"branin-hidden-4", {0, 1, 9.42477796076938, 2.475}},
  };
  for (const auto& one : cases) {
    const Problem problem = function_by_name(one.name);
    ASSERT_TRUE(problem.best_known) << one.name;
    EXPECT_NEAR(value_at(problem, one.optimum), *problem.best_known, 1e-8) << one.name;
    EXPECT_EQ(problem.sense, Sense::minimize);
    EXPECT_EQ(problem.name, std::string("function:") + one.name);
  }
}

// Worked out by hand.
TEST(TestFunctions, HaveTheValuesOfTheirFormulas) {
  EXPECT_DOUBLE_EQ(value_at(function_by_name("sphere-3"), {1, -2, 3}), 14);
  EXPECT_DOUBLE_EQ(value_at(function_by_name("rosenbrock-3"), {2, 3, 4}), 101 + 2504);
  EXPECT_DOUBLE_EQ(value_at(function_by_name("rastrigin-2"), {0.5, 1}), 20.25 + 1);
  EXPECT_DOUBLE_EQ(value_at(function_by_name("styblinski-tang-2"), {1, 2}), (-10 - 38) / 2.0);
  EXPECT_NEAR(value_at(function_by_name("levy-2"), {-3, 5}), 1 + 10 * std::pow(std::sin(1), 2) + 1,
              1e-12);
  EXPECT_NEAR(value_at(function_by_name("ackley-2"), {3, -4}),
              -20 * std::exp(-0.2 * std::sqrt(12.5)) + 20, 1e-12);
  EXPECT_NEAR(value_at(function_by_name("griewank-2"), {pi, 0}), 2 + pi * pi / 4000, 1e-12);
  EXPECT_NEAR(value_at(function_by_name("branin"), {0, 0}), 46 + 10 - 10 / (8 * pi), 1e-12);
}

TEST(TestFunctions, HaveThePublishedOptimaOfMichalewicz) {
  const struct {
    const char* name;
    double best;
  } cases[] = {{"michalewicz-1", -0.8013034},
               {"michalewicz-2", -1.8013034},
               {"michalewicz-5", -4.687658},
               {"michalewicz-10", -9.66015}};
  for (const auto& one : cases) {
    EXPECT_NEAR(*function_by_name(one.name).best_known, one.best, 2e-6) << one.name;
  }
}

TEST(TestFunctions, TakeABoxOfTheirOwn) {
  const Problem problem = function_by_name("ackley-20,-5,10");
  const Block& box = problem.objective->space().blocks().front();
  EXPECT_EQ(box.count, 20);
  EXPECT_EQ(box.lower, -5);
  EXPECT_EQ(box.upper, 10);
  EXPECT_EQ(problem.best_known, 0);
  EXPECT_EQ(problem.name, "function:ackley-20,-5,10");
  EXPECT_FALSE(function_by_name("sphere-3,1,10").best_known) << "the optimum is outside";
  EXPECT_TRUE(function_by_name("levy-3,0.5,10").best_known);
  EXPECT_EQ(refusal("ackley-20,10,-5"),
            "problem.parameters: the box of 'function:ackley-20,10,-5' is empty");
  EXPECT_EQ(refusal("ackley-20,-5"),
            "problem.parameters: 'function:ackley-20,-5' does not have the form "
            "function:ackley-D");
  EXPECT_EQ(refusal("branin,-5,10"),
            "problem.parameters: 'function:branin,-5,10' does not have the form function:branin");
}

TEST(TestFunctions, AreNowhereBelowTheirOptimum) {
  for (const TestFunctionKind kind : all_kinds) {
    const Problem problem = make_test_function(kind, dimension_of_kind(kind));
    const Block& box = problem.objective->space().blocks().front();
    for (Coordinates x : test::points_around_zero(dimension_of_kind(kind), 1, 50)) {
      for (double& xi : x) xi = box.lower + (box.upper - box.lower) * (xi + 1) / 2;
      EXPECT_GE(value_at(problem, x), *problem.best_known) << problem.name;
    }
  }
}

TEST(TestFunctions, HaveTheirGradients) {
  for (const TestFunctionKind kind : all_kinds) {
    const TestFunction density{kind, dimension_of_kind(kind)};
    test::expect_gradients(density, test::points_around_zero(density.n, 2.5, 4));
    test::expect_teams_agree(density, test::points_around_zero(density.n, 2.5, 1).front());
  }
  // One dimension has no neighbours, and the cone of ackley no slope at its tip.
  for (const TestFunctionKind kind : {TestFunctionKind::levy, TestFunctionKind::griewank}) {
    test::expect_gradients(TestFunction{kind, 1}, test::points_around_zero(1, 2, 4));
  }
  Coordinates gradient(3, 1);
  evaluate_on_host(TestFunction{TestFunctionKind::ackley, 3}, Coordinates{0, 0, 0}, gradient);
  EXPECT_EQ(gradient, Coordinates(3, 0.0));
}

TEST(TestFunctions, HaveTheirCustomaryBoxes) {
  const auto box = [](const char* name) {
    const Problem problem = function_by_name(name);
    const Block& block = problem.objective->space().blocks().front();
    return std::pair(block.lower, block.upper);
  };
  EXPECT_EQ(box("rastrigin-30"), std::pair(-5.12, 5.12));
  EXPECT_EQ(box("rosenbrock-2"), std::pair(-5.0, 10.0));
  EXPECT_EQ(box("hartmann6"), std::pair(0.0, 1.0));
  EXPECT_EQ(box("branin"), std::pair(-5.0, 15.0));
}

TEST(TestFunctions, RefuseWhatTheyCannotBe) {
  EXPECT_EQ(refusal("rastrigan-30"),
            "problem.unknown: unknown function 'rastrigan-30'; the nearest is 'rastrigin'");
  EXPECT_EQ(refusal(""), "problem.unknown: unknown function ''");
  EXPECT_EQ(refusal("rastrigin"),
            "problem.parameters: 'function:rastrigin' does not have the form function:rastrigin-D");
  EXPECT_EQ(refusal("rastrigin-3x"),
            "problem.parameters: 'function:rastrigin-3x' does not have the form "
            "function:rastrigin-D");
  EXPECT_EQ(refusal("branin-3"),
            "problem.parameters: 'function:branin-3' does not have the form function:branin");
  EXPECT_EQ(refusal("rosenbrock-1"), "problem.size: 'function:rosenbrock-1' has 1 dimensions");
  EXPECT_EQ(refusal("sphere--3"), "problem.size: 'function:sphere--3' has -3 dimensions");
  EXPECT_THROW(make_test_function(TestFunctionKind::branin, 3), InvalidArgument);
}

}  // namespace
}  // namespace kiln
