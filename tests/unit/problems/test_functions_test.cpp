// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/test_function.hpp"

#include "backends/cpu_queue.hpp"
#include "densities/density_checks.hpp"

namespace kiln::test_functions_test {
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
  EXPECT_NEAR(problem.solution.verify(spans_of(state)), value,
              1e-9 * std::max(1.0, std::abs(value)))
      << problem.identity.name;
  return value;
}

std::string refusal(const std::string& text) {
  return test::complaint([&] { function_by_name(text); });
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
      {"branin-hidden-6", {-5, 0, 5, -pi, 10, 12.275}},
      {"branin-hidden-4", {0, 1, 9.42477796076938, 2.475}},
  };
  for (const auto& one : cases) {
    const Problem problem = function_by_name(one.name);
    ASSERT_TRUE(problem.known.best) << one.name;
    EXPECT_NEAR(value_at(problem, one.optimum), *problem.known.best, 1e-8) << one.name;
    EXPECT_EQ(problem.units.sense, Sense::minimize);
    EXPECT_EQ(problem.identity.name, std::string("function:") + one.name);
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
    EXPECT_NEAR(*function_by_name(one.name).known.best, one.best, 2e-6) << one.name;
  }
}

TEST(TestFunctions, TakeABoxOfTheirOwn) {
  const Problem problem = function_by_name("ackley-20,-5,10");
  const Block& box = problem.objective->space().blocks().front();
  EXPECT_EQ(box.count, 20);
  EXPECT_EQ(box.lower, -5);
  EXPECT_EQ(box.upper, 10);
  EXPECT_EQ(problem.known.best, 0);
  EXPECT_EQ(problem.identity.name, "function:ackley-20,-5,10");
  EXPECT_FALSE(function_by_name("sphere-3,1,10").known.best) << "the optimum is outside";
  EXPECT_TRUE(function_by_name("levy-3,0.5,10").known.best);
  EXPECT_EQ(refusal("ackley-20,10,-5"),
            "problem.parameters: the box of 'function:ackley-20,10,-5' is empty");
  EXPECT_EQ(refusal("ackley-20,-5"),
            "problem.parameters: 'function:ackley-20,-5' does not have the form "
            "function:ackley-D");
  EXPECT_EQ(refusal("branin,-5,10"),
            "problem.parameters: 'function:branin,-5,10' does not have the form function:branin");
}

std::vector<Bounds> box_of(const Problem& problem) {
  const Block& block = problem.objective->space().blocks().front();
  std::vector<Bounds> box;
  for (std::int64_t i = 0; i < block.count; ++i) box.push_back(block.bounds(i));
  return box;
}

TEST(TestFunctions, AreNowhereBelowTheirOptimum) {
  for (const TestFunctionKind kind : all_kinds) {
    const Problem problem = make_test_function(kind, dimension_of_kind(kind));
    const std::vector<Bounds> box = box_of(problem);
    for (Coordinates x : test::points_around_zero(dimension_of_kind(kind), 1, 50)) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = box[i].lower + (box[i].upper - box[i].lower) * (x[i] + 1) / 2;
      }
      EXPECT_GE(value_at(problem, x), *problem.known.best) << problem.identity.name;
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

// As the Virtual Library of Simulation Experiments lists them.
TEST(TestFunctions, HaveTheirPublishedBoxes) {
  const auto box = [](const char* name) { return box_of(function_by_name(name)); };
  const auto cube = [](std::size_t n, double lower, double upper) {
    return std::vector<Bounds>(n, {lower, upper});
  };
  EXPECT_EQ(box("ackley-3"), cube(3, -32.768, 32.768));
  EXPECT_EQ(box("branin"), (std::vector<Bounds>{{-5, 10}, {0, 15}}));
  EXPECT_EQ(box("branin-hidden-4"), (std::vector<Bounds>{{-5, 10}, {-5, 10}, {-5, 10}, {0, 15}}));
  EXPECT_EQ(box("drop-wave"), cube(2, -5.12, 5.12));
  EXPECT_EQ(box("eggholder"), cube(2, -512, 512));
  EXPECT_EQ(box("griewank-2"), cube(2, -600, 600));
  EXPECT_EQ(box("hartmann3"), cube(3, 0, 1));
  EXPECT_EQ(box("hartmann6"), cube(6, 0, 1));
  EXPECT_EQ(box("holder-table"), cube(2, -10, 10));
  EXPECT_EQ(box("levy-2"), cube(2, -10, 10));
  EXPECT_EQ(box("michalewicz-2"), cube(2, 0, pi));
  EXPECT_EQ(box("rastrigin-30"), cube(30, -5.12, 5.12));
  EXPECT_EQ(box("rosenbrock-2"), cube(2, -5, 10));
  EXPECT_EQ(box("six-hump-camel"), (std::vector<Bounds>{{-3, 3}, {-2, 2}}));
  EXPECT_EQ(box("sphere-2"), cube(2, -5.12, 5.12));
  EXPECT_EQ(box("styblinski-tang-2"), cube(2, -5, 5));
}

/// The least value by looking everywhere: all points of a grid, then ever smaller steps along all
/// diagonals from the best of them, inside the box.
struct Lookout {
  const Problem& problem;
  std::vector<Bounds> box = box_of(problem);
  std::function<double(StateSpan)> value_of = problem.objective->reference();

  double value(const Coordinates& x) const { return value_of(spans_of(State{x})); }

  std::vector<Coordinates> best_of_grid(int steps, std::size_t keep) const {
    std::vector<std::pair<double, Coordinates>> all;
    std::vector<int> index(box.size(), 0);
    for (bool more = true; more;) {
      Coordinates x;
      for (std::size_t i = 0; i < box.size(); ++i) {
        x.push_back(box[i].lower + (box[i].upper - box[i].lower) * index[i] / steps);
      }
      all.emplace_back(value(x), x);
      more = false;
      for (std::size_t i = 0; i < box.size() && !more; ++i) {
        more = index[i] < steps;
        index[i] = more ? index[i] + 1 : 0;
      }
    }
    keep = std::min(keep, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep), all.end());
    std::vector<Coordinates> best;
    for (std::size_t i = 0; i < keep; ++i) best.push_back(all[i].second);
    return best;
  }

  Coordinates walk_down(Coordinates x, int steps) const {
    double best = value(x);
    for (double side = 1.0 / steps; side > 1e-12;) {
      bool moved = false;
      for (int way = 0; way < static_cast<int>(std::pow(3, box.size())); ++way) {
        Coordinates trial = x;
        int digits = way;
        for (std::size_t i = 0; i < box.size(); ++i, digits /= 3) {
          const double step = side * (digits % 3 - 1) * (box[i].upper - box[i].lower);
          trial[i] = std::clamp(x[i] + step, box[i].lower, box[i].upper);
        }
        const double there = value(trial);
        if (there < best) best = there, x = trial, moved = true;
      }
      if (!moved) side /= 2;
    }
    return x;
  }
};

TEST(TestFunctions, HaveNoBetterPointAnywhereAndOnlyThePlacesThatArePublished) {
  const struct {
    const char* name;
    int steps;  ///< of the grid, along each axis
    std::vector<Coordinates> places;
  } cases[] = {
      {"ackley-2", 100, {{0, 0}}},
      {"branin", 100, {{-pi, 12.275}, {pi, 2.275}, {3 * pi, 2.475}}},
      {"drop-wave", 100, {{0, 0}}},
      {"eggholder", 256, {{512, 404.231805}}},
      {"griewank-2", 400, {{0, 0}}},
      {"hartmann3", 20, {{0.114614, 0.555649, 0.852547}}},
      {"hartmann6", 6, {{0.201690, 0.150011, 0.476874, 0.275332, 0.311652, 0.657301}}},
      {"holder-table",
       100,
       {{8.055023, 9.664590},
        {-8.055023, 9.664590},
        {8.055023, -9.664590},
        {-8.055023, -9.664590}}},
      {"levy-2", 100, {{1, 1}}},
      {"michalewicz-2", 100, {{2.202906, 1.570796}}},
      {"rastrigin-2", 100, {{0, 0}}},
      {"rosenbrock-2", 150, {{1, 1}}},
      {"six-hump-camel", 60, {{0.089842, -0.712656}, {-0.089842, 0.712656}}},
      {"sphere-2", 10, {{0, 0}}},
      {"styblinski-tang-2", 50, {{-2.903534, -2.903534}}},
  };
  for (const auto& one : cases) {
    const Problem problem = function_by_name(one.name);
    const Lookout lookout{problem};
    std::vector<bool> found(one.places.size());
    double least = std::numeric_limits<double>::infinity();
    for (const Coordinates& start : lookout.best_of_grid(one.steps, 24)) {
      const Coordinates end = lookout.walk_down(start, one.steps);
      const double value = lookout.value(end);
      least = std::min(least, value);
      if (value > *problem.known.best + 1e-9) continue;  // the bottom of another valley
      bool known = false;
      for (std::size_t p = 0; p < one.places.size(); ++p) {
        double farthest = 0;
        for (std::size_t i = 0; i < end.size(); ++i) {
          farthest = std::max(farthest, std::abs(end[i] - one.places[p][i]));
        }
        if (farthest > 1e-4) continue;
        known = found[p] = true;
      }
      EXPECT_TRUE(known) << one.name << " has an optimum at " << end[0] << ", " << end[1];
    }
    EXPECT_NEAR(least, *problem.known.best, 1e-9 * std::max(1.0, std::abs(least))) << one.name;
    for (std::size_t p = 0; p < found.size(); ++p) EXPECT_TRUE(found[p]) << one.name << ' ' << p;
  }
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
}  // namespace kiln::test_functions_test
