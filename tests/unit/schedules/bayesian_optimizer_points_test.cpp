// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which points Bayesian optimisation asks for: inside the box, and none twice.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::bayesian_optimizer_points_test {
namespace {

using test::complaint;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Searches small enough for tests: fewer candidates and starts than by default.
BayesianOptimizationOptions quick(const std::string& acquisition = "logei") {
  BayesianOptimizationOptions options;
  options.acquisition = acquisition;
  options.candidates = 256;
  options.starts = 4;
  options.restarts = 2;
  if (acquisition == "qlogei") options.fantasies = 8;
  return options;
}

BayesianOptimizer search_of(BayesianProblem problem,
                            BayesianOptimizationOptions options = quick()) {
  return BayesianOptimizer(std::move(problem), std::move(options), 1, "cpu");
}

const std::vector<double>& reals(const State& state) {
  return std::get<std::vector<double>>(state.at(0));
}

// Integers with so many values are climbed on as if they were real, and asked for as integers.
TEST(BayesianOptimizerPoints, NoValueOfALongRangeOfIntegersIsAskedForTwice) {
  for (const std::int32_t upper : {4000, 5000, 100000}) {  // on both sides of 4096 values
    for (const char* acquisition : {"logei", "ei", "thompson"}) {
      BayesianOptimizer search = search_of({Space::integers(1, 0, upper)}, quick(acquisition));
      std::set<std::int32_t> seen;
      for (int i = 0; i < 30; ++i) {
        const Suggestion next = search.ask().front();
        const std::int32_t x = std::get<std::vector<std::int32_t>>(next.state[0])[0];
        EXPECT_TRUE(seen.insert(x).second) << x << " of " << upper << " by " << acquisition;
        const double u = static_cast<double>(x) / upper;
        search.tell(next.id, 50 * (u - 0.37) * (u - 0.37) + std::sin(9 * u));
      }
    }
  }
}

TEST(BayesianOptimizerPoints, PendingPointsOfLongRangesDiffer) {
  using Integers = std::vector<std::int32_t>;
  for (const char* acquisition : {"logei", "qlogei", "thompson"}) {
    for (const std::int64_t n : {1, 2}) {
      BayesianOptimizationOptions options = quick(acquisition);
      options.noise = "none";
      BayesianOptimizer search = search_of({Space::integers(n, 0, 5000)}, options);
      std::set<Integers> seen;
      for (int round = 0; round < 10; ++round) {
        const std::vector<Suggestion> asked = search.ask(4);
        for (const Suggestion& one : asked) {
          const auto& x = std::get<Integers>(one.state[0]);
          EXPECT_TRUE(seen.insert(x).second) << x[0] << " by " << acquisition;
        }
        for (const Suggestion& one : asked) {
          double value = 0;
          for (const std::int32_t x : std::get<Integers>(one.state[0])) {
            value += (x / 5000.0 - 0.37) * (x / 5000.0 - 0.37);
          }
          search.tell(one.id, value);
        }
      }
    }
  }
}

TEST(BayesianOptimizerPoints, ALongRangeOfIntegersIsGoneThroughOnce) {
  BayesianOptimizer search = search_of({Space::integers(1, 1, 5000)});
  for (std::int32_t x = 1; x <= 5000; ++x) {
    if (x % 1000 != 7) search.add({std::vector<std::int32_t>{x}}, not_a_number);
  }
  std::set<std::int32_t> left;
  for (int i = 0; i < 5; ++i) {
    left.insert(std::get<std::vector<std::int32_t>>(search.ask().front().state[0])[0]);
  }
  EXPECT_EQ(left, (std::set<std::int32_t>{7, 1007, 2007, 3007, 4007}));
  EXPECT_EQ(complaint([&] { search.ask(); }),
            "search.exhausted: ask() has no new point: every point of the space is known");
}

// Without numbers there is no model, and everything comes from the design.
TEST(BayesianOptimizerPoints, EveryDesignHasAlwaysAnotherPoint) {
  for (const char* design : {"sobol", "uniform", "latin-hypercube"}) {
    BayesianOptimizationOptions options = quick();
    options.design = design;
    options.initial = 5;
    BayesianOptimizer search = search_of({Space::reals(2, 0, 1)}, options);
    std::set<std::vector<double>> points;
    std::vector<int> slices(10);  // fifths along both axes
    for (int i = 0; i < 40; ++i) {
      const Suggestion next = search.ask().front();
      points.insert(reals(next.state));
      for (std::size_t k = 0; k < 2; ++k) {
        ++slices[5 * k + static_cast<std::size_t>(5 * reals(next.state)[k])];
      }
      search.tell(next.id, not_a_number);
    }
    EXPECT_EQ(points.size(), 40u) << design;
    // Eight whole hypercubes have eight points in each slice.
    if (std::string(design) == "latin-hypercube") {
      EXPECT_EQ(slices, std::vector<int>(10, 8));
    }
    BayesianOptimizer at_once = search_of({Space::reals(2, 0, 1)}, options);
    EXPECT_EQ(at_once.ask(12).size(), 12u) << design;
    EXPECT_EQ(at_once.ask(3).size(), 3u) << design;
  }
}

TEST(BayesianOptimizerPoints, RealsWithoutRoomAreASpaceOfOnePoint) {
  BayesianOptimizer search = search_of({Space::reals({{2, 2}, {-1, -1}})});
  const Suggestion only = search.ask().front();
  EXPECT_EQ(reals(only.state), (std::vector<double>{2, -1}));
  search.tell(only.id, 1);
  EXPECT_EQ(complaint([&] { search.ask(); }),
            "search.exhausted: ask() has no new point: every point of the space is known");
}

TEST(BayesianOptimizerPoints, AsksWithinTheIntervalOfEachReal) {
  BayesianOptimizer search = search_of({Space::reals({{-5, 10}, {0, 15}})});
  for (int i = 0; i < 25; ++i) {
    const Suggestion next = search.ask().front();
    const double x = reals(next.state)[0], y = reals(next.state)[1];
    EXPECT_TRUE(x >= -5 && x <= 10 && y >= 0 && y <= 15) << x << ' ' << y;
    search.tell(next.id, (x - 7) * (x - 7) + (y - 12) * (y - 12));
  }
  EXPECT_LT(search.best_value(), 0.01);
  EXPECT_TRUE(complaint([&] {
                search.add({std::vector<double>{-4, -1}}, 0);
              }).starts_with("state.value"));
}

// What two studies are asked in some order, a 0 or a 1 for each time.
std::vector<std::vector<State>> asked_in_order(const std::string& acquisition,
                                               const std::vector<std::int64_t>& order) {
  BayesianOptimizationOptions options = quick(acquisition);
  options.studies = 2;
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)}, options);
  std::vector<std::vector<State>> points(2);
  for (const std::int64_t study : order) {
    const Suggestion next = search.ask(1, study).front();
    const std::vector<double>& x = reals(next.state);
    search.tell(next.id, std::sin(7 * x[0]) + (x[1] - 0.4) * (x[1] - 0.4));
    points[static_cast<std::size_t>(study)].push_back(next.state);
  }
  return points;
}

TEST(BayesianOptimizerPoints, AStudyIsAskedTheSameWhateverOthersWereAsked) {
  for (const char* acquisition : {"logei", "qlogei", "thompson"}) {
    std::vector<std::int64_t> turns, one_by_one(9, 1);
    for (int i = 0; i < 18; ++i) turns.push_back(i % 2);
    one_by_one.insert(one_by_one.end(), 9, 0);
    const auto in_turn = asked_in_order(acquisition, turns);
    EXPECT_EQ(asked_in_order(acquisition, one_by_one), in_turn) << acquisition;
    const auto alone = asked_in_order(acquisition, std::vector<std::int64_t>(9, 1));
    EXPECT_EQ(alone[1], in_turn[1]) << acquisition;
    EXPECT_NE(in_turn[0], in_turn[1]) << acquisition << ": studies have seeds of their own";
  }
}

}  // namespace
}  // namespace kiln::bayesian_optimizer_points_test
