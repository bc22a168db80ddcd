// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the volumes of a problem are measured in where its front is not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/fronts/scalarized.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"
#include "kiln/schedules/bayesian_front.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "front_method.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::front_box_test {
namespace {

using test::options;

test::FrontMethod by(const std::string& method) { return test::FrontMethod(method); }

Result search(const Problem& problem, const test::FrontMethod& chosen, std::int64_t sweeps,
              std::uint64_t seed) {
  const auto schedule = chosen.schedule();
  return Engine(options(0, seed)).run(problem, *schedule, {.sweeps = sweeps});
}

void expect_same(const FrontBox& a, const FrontBox& b) {
  EXPECT_EQ(a.ideal, b.ideal);
  EXPECT_EQ(a.nadir, b.nadir);
  EXPECT_EQ(a.reference, b.reference);
}

/// Two objectives of two reals in [0, 1], the second maximised, that count their calls.
Problem counted(std::atomic<int>& calls) {
  const auto function = [&calls](StateSpan state, std::span<double> f, std::span<double>) {
    const auto x = std::get<std::span<const double>>(state[0]);
    f[0] = 5 * x[0] + 1;
    f[1] = -100 * (x[0] + 0.1 * x[1]);
    ++calls;
  };
  Objectives objectives;
  objectives.maximized = {false, true};
  return make_multi_objective_problem(
      "counted", "host",
      make_host_vector_objective("counted", Space::reals(2, 0, 1), 2, 0, function, true),
      objectives);
}

/// By rectangles from one point to the next, in the order of the first objective.
double area_below(const Front& front) {
  std::vector<std::vector<double>> points;
  for (const FrontMember& member : front.members) points.push_back(front.box.scaled(member.values));
  std::ranges::sort(points);
  double area = 0, height = front.box.reference[1];
  for (const std::vector<double>& point : points) {
    if (point[0] >= front.box.reference[0] || point[1] >= height) continue;
    area += (front.box.reference[0] - point[0]) * (height - point[1]);
    height = point[1];
  }
  return area;
}

TEST(FrontBox, IsThatOfTheProblemForEverySeedAndStrategy) {
  const Problem problem = problems::knapsack(30, 2, 1);
  ASSERT_TRUE(problem.objectives->ideal.empty());
  const Result first = search(problem, by("nsga2"), 5, 1);
  ASSERT_FALSE(first.front->box.ideal.empty());
  for (const char* strategy : {"nsga2", "nsga3", "moead", "sms-emoa", "amosa"}) {
    SCOPED_TRACE(strategy);
    for (const std::uint64_t seed : {2u, 3u}) {
      test::FrontMethod chosen = by(strategy);
      chosen.islands = static_cast<std::int64_t>(seed) - 1;
      if (chosen.strategy == "nsga2") chosen.population = 24;
      const Result result = search(problem, chosen, 7, seed);
      expect_same(result.front->box, first.front->box);
      EXPECT_NE(result.front->points(), first.front->points());
      EXPECT_NEAR(result.objective, area_below(*result.front), 1e-12 * result.objective);
    }
  }
  // Schedules for one objective, whose volume is made at the end.
  for (const std::uint64_t seed : {1u, 2u}) {
    SimulatedAnnealingOptions five;
    five.groups = 5;
    SimulatedAnnealing schedule(five);
    const Problem weighed = scalarized(problem, {});
    const Result result = Engine(options(5, seed)).run(weighed, schedule, {.sweeps = 20});
    expect_same(result.front->box, first.front->box);
  }
}

// What is shown on the way is measured in the box of the result, which has the best front that was
// seen, and the ends of the last one.
TEST(FrontBox, IsOneForProgressAndResult) {
  const Problem problem = problems::knapsack(30, 2, 1);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto schedule = by("nsga2").schedule();
    RunOptions run = options(0, seed);
    run.report_interval_s = 0;
    double shown = 0;
    const Observers observers{[&](const ReportPoint& point) {
      if (point.has_best) shown = point.best;
      return Next::go_on;
    }};
    const Result result = Engine(run).run(problem, *schedule, {.sweeps = 60}, observers);
    EXPECT_GT(shown, 0.5);
    EXPECT_GE(area_below(*result.front), shown * (1 - 1e-12));
    EXPECT_LE(area_below(*result.front), shown * 1.001);
  }
}

TEST(FrontBox, CountsTheEvaluationsThatItTakes) {
  std::atomic<int> calls = 0;
  const Problem problem = counted(calls);
  test::FrontMethod chosen = by("nsga2");
  chosen.population = 20;
  const auto schedule = chosen.schedule();
  kiln::Run run(problem, *schedule, {.sweeps = 3}, options(0, 1), open_backend("cpu", 1));
  EXPECT_EQ(calls, 64 + 20);
  const Result result = run.advance();
  EXPECT_EQ(result.diagnostics.at("evaluations"), 64 + 20 + 3 * 20);
  EXPECT_EQ(result.diagnostics.at("box_evaluations"), 64);
  // A uniform sample of 64 reaches near the ends of [1, 6] and [-110, 0], and not beyond.
  const FrontBox& box = result.front->box;
  EXPECT_GE(box.ideal[0], 1);
  EXPECT_LT(box.ideal[0], 1.5);
  EXPECT_LE(box.nadir[0], 6);
  EXPECT_GT(box.nadir[0], 5.5);
  EXPECT_GE(box.ideal[1], -110);
  EXPECT_LT(box.ideal[1], -95);
  EXPECT_GT(box.nadir[1], -15);
}

TEST(FrontBox, TakesNoneWhereItIsKnown) {
  std::atomic<int> calls = 0;
  Problem problem = counted(calls);
  Objectives objectives = *problem.objectives;
  objectives.ideal = {1, -110};
  objectives.nadir = {6, 0};
  problem.objectives = std::make_shared<const Objectives>(objectives);
  test::FrontMethod chosen = by("nsga2");
  chosen.population = 20;
  const auto schedule = chosen.schedule();
  kiln::Run run(problem, *schedule, {.sweeps = 3}, options(0, 1), open_backend("cpu", 1));
  EXPECT_EQ(calls, 20);
  const Result result = run.advance();
  EXPECT_EQ(result.front->box.ideal, objectives.ideal);
  EXPECT_EQ(result.diagnostics.count("box_evaluations"), 0u);
}

// Few evaluations: the box is made of points that are evaluated anyway, and that no seed changes.
TEST(FrontBox, OfFewEvaluationsIsMadeOfTheirDesign) {
  std::atomic<int> calls = 0;
  const Problem problem = counted(calls);
  std::vector<FrontBox> boxes;
  std::vector<std::vector<State>> states;
  for (const auto& [seed, batch] : {std::pair{1u, 1}, {2u, 1}, {3u, 4}}) {
    BayesianFrontOptions chosen;
    chosen.batch = batch;
    BayesianFront schedule(chosen);
    const Budget budget{.sweeps = 12 / batch};
    calls = 0;
    kiln::Run run(problem, schedule, budget, options(0, seed), open_backend("cpu", 1));
    EXPECT_EQ(calls, 0);
    const Result result = run.advance();
    EXPECT_EQ(calls, 12 + result.front->candidates);  // these once more, as a check
    EXPECT_EQ(result.diagnostics.at("evaluations"), 12);
    EXPECT_EQ(result.diagnostics.count("box_evaluations"), 0u);
    boxes.push_back(result.front->box);
    std::vector<State> all;
    for (const Evaluation& one : result.evaluations->all) all.push_back(one.state);
    ASSERT_EQ(all.size(), 12u);
    states.push_back(all);
  }
  expect_same(boxes[0], boxes[1]);
  expect_same(boxes[0], boxes[2]);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(states[0][i], states[1][i]) << i;
  for (std::size_t i = 5; i < 8; ++i) EXPECT_NE(states[0][i], states[1][i]) << i;
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(states[0][i], states[2][i]) << i;
}

}  // namespace
}  // namespace kiln::front_box_test
