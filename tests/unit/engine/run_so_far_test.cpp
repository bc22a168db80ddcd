// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run found before its end: for observers, and after something was thrown.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"

namespace kiln::run_so_far_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RunOptions options(std::int64_t replicas) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 2;
  options.replicas = replicas;
  options.report_interval_s = 0;
  return options;
}

TEST(RunSoFar, IsVerifiedAndLeavesThePathAlone) {
  const Problem problem = make_ising(test::random_ising(60, 4, 3), "ising");
  const Budget budget{.sweeps = 200};
  SimulatedAnnealing watched, alone;
  kiln::Run run(problem, watched, budget, options(64), open_backend("cpu", 2));
  int asked = 0;
  const Observers observers{[&](const ReportPoint& point) {
    const Result now = run.result_so_far();
    EXPECT_TRUE(now.verified);
    EXPECT_EQ(now.stop, Stop::unfinished);
    EXPECT_EQ(now.objective, point.best);
    EXPECT_EQ(problem.solution.verify(spans_of(now.solution)), point.best);
    ++asked;
    return Next::go_on;
  }};

  const Result result = run.advance(observers);

  EXPECT_GT(asked, 1);
  kiln::Run other(problem, alone, budget, options(64), open_backend("cpu", 2));
  const Result expected = other.advance();
  EXPECT_EQ(result.solution, expected.solution);
  EXPECT_EQ(result.work.accepted, expected.work.accepted);
}

TEST(RunSoFar, IsThereAfterAnObserverHasThrown) {
  const Problem problem = make_ising(test::random_ising(60, 4, 3), "ising");
  SimulatedAnnealing schedule;
  const Budget budget{.sweeps = 200};
  kiln::Run run(problem, schedule, budget, options(64), open_backend("cpu", 2));
  double best = infinity;
  const Observers observers{[&](const ReportPoint& point) -> Next {
    best = point.best;
    throw std::runtime_error("no more");
  }};
  EXPECT_THROW(run.advance(observers), std::runtime_error);

  const Result result = run.result_so_far(Stop::failed);

  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.stop, Stop::failed);
  EXPECT_LE(result.objective, best);
}

// A parabola that gives up after some calls.
struct Failing {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  int most = 40;
  double operator()(std::span<const double> x) const {
    if (++*calls > most) throw std::runtime_error("the machine is gone");
    return (x[0] - 0.3) * (x[0] - 0.3);
  }
};

Problem parabola(const Failing& function) {
  return make_problem(make_host_objective("parabola", Space::reals(1, 0, 1),
                                          std::function<double(std::span<const double>)>(function),
                                          false));
}

BayesianOptimizationOptions few_evaluations(std::int64_t evaluations, std::int64_t batch) {
  BayesianOptimizationOptions how;
  how.evaluations = evaluations;
  how.batch = batch;
  return how;
}

TEST(RunSoFar, IsThereAfterAnObjectiveHasThrown) {
  const Failing function;
  const Problem problem = parabola(function);
  BayesianOptimization schedule(few_evaluations(30, 1));
  RunOptions run_options = options(1);
  std::vector<Evaluation> seen;
  run_options.on_evaluation = [&](const Evaluation& one) { seen.push_back(one); };
  kiln::Run run(problem, schedule, {}, run_options, open_backend("cpu", 2));
  *function.calls = 40 - 12;
  EXPECT_ANY_THROW(run.advance());

  *function.calls = 0;  // what is found is evaluated anew
  const Result result = run.result_so_far(Stop::failed);

  EXPECT_TRUE(result.verified);
  EXPECT_EQ(seen.size(), 12u);
  // The ticks that were tried together with the one that failed are taken back.
  ASSERT_TRUE(result.evaluations);
  const std::vector<Evaluation>& kept = result.evaluations->all;
  ASSERT_GE(kept.size(), 1u);
  ASSERT_LE(kept.size(), 12u);
  double least = infinity;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].state, seen[i].state);
    least = std::min(least, seen[i].value);
  }
  EXPECT_EQ(result.objective, least);
}

TEST(OnEvaluation, SeesEveryValueAndItsState) {
  Failing function;
  function.most = 1 << 30;
  const Problem problem = parabola(function);
  BayesianOptimization schedule(few_evaluations(15, 3));
  RunOptions run_options = options(3);
  std::vector<Evaluation> seen;
  run_options.on_evaluation = [&](const Evaluation& one) { seen.push_back(one); };
  kiln::Run run(problem, schedule, {}, run_options, open_backend("cpu", 2));

  const Result result = run.advance();

  ASSERT_EQ(seen.size(), 15u);
  ASSERT_EQ(result.evaluations->all.size(), 15u);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double x = std::get<std::vector<double>>(seen[i].state.front()).front();
    EXPECT_EQ(seen[i].value, (x - 0.3) * (x - 0.3));
    EXPECT_EQ(seen[i].state, result.evaluations->all[i].state);
  }
}

TEST(OnEvaluation, SeesFailuresAsNaN) {
  const auto function = [](std::span<const double> x) { return x[0] < 0.5 ? x[0] : infinity; };
  const Problem problem = make_problem(
      make_host_objective("half", Space::reals(1, 0, 1),
                          std::function<double(std::span<const double>)>(function), false));
  SimulatedAnnealing schedule;
  RunOptions run_options = options(32);
  int failed = 0, good = 0;
  run_options.on_evaluation = [&](const Evaluation& one) {
    const double x = std::get<std::vector<double>>(one.state.front()).front();
    if (std::isnan(one.value)) {
      EXPECT_GE(x, 0.5);
      ++failed;
    } else {
      EXPECT_EQ(one.value, x);
      ++good;
    }
  };
  kiln::Run run(problem, schedule, {.sweeps = 4}, run_options, open_backend("cpu", 1));
  run.advance();

  EXPECT_GT(failed, 0);
  EXPECT_GT(good, 0);
}

TEST(ReportPoints, CountTrialEnergiesThatAreNotFinite) {
  const auto function = [](std::span<const double> x) { return x[0] < 0.5 ? x[0] : infinity; };
  const Problem problem = make_problem(
      make_host_objective("half", Space::reals(1, 0, 1),
                          std::function<double(std::span<const double>)>(function), false));
  SimulatedAnnealing schedule;
  std::uint64_t counted = 0, most = 0;
  int points = 0;
  const Observers observers{[&](const ReportPoint& point) {
    counted += point.nonfinite;
    most = std::max(most, point.nonfinite);
    ++points;
    return Next::go_on;
  }};
  kiln::Run run(problem, schedule, {.sweeps = 40}, options(32), open_backend("cpu", 1));
  const Result result = run.advance(observers);

  EXPECT_GT(points, 2);
  EXPECT_GT(counted, 0U);
  EXPECT_EQ(counted, result.work.not_finite) << "since the point before, not since the beginning";
  EXPECT_LT(most, counted);
}

}  // namespace
}  // namespace kiln::run_so_far_test
