// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs whose ticks take longer than they may: given up in the middle, gone on with from the end of
// the tick before.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/problem.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::run_alarm_test {
namespace {

constexpr int dimension = 40;
constexpr std::int64_t replicas = 32;
// Evaluations of a sweep, which is the shortest tick.
constexpr std::int64_t sweep_calls = replicas * dimension;

// A bowl that counts its evaluations, and does something at one of them.
struct Bowl {
  std::shared_ptr<std::atomic<std::int64_t>> calls = std::make_shared<std::atomic<std::int64_t>>(0);
  std::function<void(std::int64_t)> at_call = [](std::int64_t) {};

  Problem problem() const {
    return make_problem(make_density_objective(
        "bowl", dimension,
        [counter = calls, hook = at_call](std::span<const double> x, std::span<double> gradient) {
          hook(++*counter);
          double sum = 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            sum += 0.5 * x[i] * x[i];
            if (!gradient.empty()) gradient[i] = x[i];
          }
          return sum;
        },
        Bounds{-5, 5}, true));
  }
};

RunOptions options() {
  RunOptions options;
  options.device = "cpu";
  options.threads = 2;
  options.replicas = replicas;
  return options;
}

SimulatedAnnealing annealing() {
  SimulatedAnnealingOptions how;
  how.anneal_sweeps = 6;
  how.polish_sweeps = 0;
  return SimulatedAnnealing(how);
}

TEST(Alarm, EndsALoopOfEveryNumberOfThreads) {
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(threads);
    const auto opened = open_backend("cpu", threads);
    const auto queue = opened.backend->make_queue();
    std::stop_source stop;
    const Alarm alarm{stop.get_token()};
    std::atomic<int> calls = 0;
    const auto task = [&](std::int64_t) {
      if (++calls == 10) stop.request_stop();
    };
    {
      const ArmedQueue armed(*queue, &alarm);
      EXPECT_THROW(queue->for_each_on_host(1000, task), GaveUp);
    }
    EXPECT_LT(calls, 10 + threads);
    queue->for_each_on_host(1000, task);  // it is armed no more
    EXPECT_GE(calls, 1000);
  }
}

// One matrix is one task of a loop, and takes much longer than the stop: what gives up ends within.
TEST(Alarm, EndsWithinALargeMatrix) {
  constexpr std::int64_t n = 3000, columns = 64;
  const auto opened = open_backend("cpu", 2);
  const auto queue = opened.backend->make_queue();
  std::vector<double> diagonal(n * n);
  for (std::int64_t i = 0; i < n; ++i) diagonal[static_cast<std::size_t>(i * n + i)] = 2;
  const DeviceArray<double> matrix(*queue, diagonal);
  DeviceArray<double> factor(*queue, diagonal);
  BatchedCholesky cholesky;
  cholesky.matrix = MatrixBatch<const double>::dense(matrix.data(), 1, n, n);
  cholesky.factor = MatrixBatch<double>::dense(factor.data(), 1, n, n);
  DeviceArray<double> right(*queue, n * columns);
  BatchedTriangularSolve solve;
  solve.factor = MatrixBatch<const double>::dense(matrix.data(), 1, n, n);
  solve.right = MatrixBatch<const double>::dense(right.data(), 1, n, columns);
  solve.solution = MatrixBatch<double>::dense(right.data(), 1, n, columns);
  solve.form = TriangularForm::both;
  const auto gives_up = [&](const auto& kernel, std::chrono::microseconds after) {
    const Alarm alarm{{}, Alarm::Clock::now() + after};
    const ArmedQueue armed(*queue, &alarm);
    EXPECT_THROW(queue->launch(kernel), GaveUp);
  };
  gives_up(cholesky, std::chrono::milliseconds(50));
  gives_up(solve, std::chrono::milliseconds(10));
  queue->launch(cholesky);  // it is armed no more
  EXPECT_EQ(factor.download().back(), std::sqrt(2.0));
}

// Counts how often it is asked to bring its states down.
struct CountsDescents : SimulatedAnnealing {
  CountsDescents() : SimulatedAnnealing({.anneal_sweeps = 6, .polish_sweeps = 0}) {}
  Needs needs(const Problem& problem, const Budget& budget) override {
    Needs needs = SimulatedAnnealing::needs(problem, budget);
    needs.descends_at_end = true;
    return needs;
  }
  void descend(kiln::DescendContext&) override { ++descents; }
  int descents = 0;
};

// A descent takes a tick at least: where that is too long none is begun, and nothing copied for it.
TEST(Alarm, BeginsNoDescentThatWouldTakeTooLong) {
  for (const bool is_slow : {true, false}) {
    SCOPED_TRACE(is_slow);
    std::stop_source stop;
    Bowl bowl;
    bowl.at_call = [&stop, is_slow](std::int64_t i) {
      if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i == (is_slow ? 1200 : 2 * sweep_calls)) stop.request_stop();
    };
    const Problem problem = bowl.problem();
    CountsDescents schedule;
    kiln::Run run(problem, schedule, {.sweeps = 6}, options(), open_backend("cpu", 2));
    *bowl.calls = 0;

    EXPECT_EQ(run.advance({}, stop.get_token()).stop, Stop::interrupted);
    EXPECT_EQ(schedule.descents, is_slow ? 0 : 1);
  }
}

TEST(Alarm, EndsATickWithTheLimitOfTheRun) {
  Bowl bowl;
  bowl.at_call = [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const Problem problem = bowl.problem();
  SimulatedAnnealing schedule = annealing();
  const Budget budget{.time_limit_s = 0.05};
  kiln::Run run(problem, schedule, budget, options(), open_backend("cpu", 2));
  *bowl.calls = 0;

  const Result result = run.advance();

  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_TRUE(result.verified);
  EXPECT_LT(*bowl.calls, sweep_calls);
}

TEST(Alarm, EndsATickWithAStopAndTheRunGoesOnAsIfItHadNot) {
  Bowl plain;
  const Problem problem = plain.problem();
  SimulatedAnnealing whole = annealing();
  const Budget budget{.sweeps = 6};
  kiln::Run uninterrupted(problem, whole, budget, options(), open_backend("cpu", 2));
  const Result expected = uninterrupted.advance();

  for (const double sweeps : {0.3, 1.5, 3.7}) {
    SCOPED_TRACE(sweeps);
    std::stop_source stop;
    Bowl bowl;
    bowl.at_call = [&stop, at = static_cast<std::int64_t>(sweeps * sweep_calls)](std::int64_t i) {
      // Long enough for ticks that are tried.
      if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
      if (i == at) stop.request_stop();
    };
    const Problem watched = bowl.problem();
    SimulatedAnnealing schedule = annealing();
    kiln::Run run(watched, schedule, budget, options(), open_backend("cpu", 2));
    *bowl.calls = 0;

    const Result cut = run.advance({}, stop.get_token());
    EXPECT_EQ(cut.stop, Stop::interrupted);
    EXPECT_TRUE(cut.verified);

    const Result result = run.advance();
    EXPECT_EQ(result.solution, expected.solution);
    EXPECT_EQ(result.work.accepted, expected.work.accepted);
    EXPECT_EQ(result.objective, expected.objective);
  }
}

// The models of a search are on a queue of its own, and their first takes much longer than the
// ticks before it.
TEST(Alarm, EndsTheFitOfAModelAndTheSearchGoesOnAsIfItHadNot) {
  BayesianOptimizationOptions how;
  how.initial = 4;
  how.evaluations = 10;
  const Budget first{.sweeps = 8}, second{.sweeps = 10};
  Bowl bowl;
  const Problem problem = bowl.problem();
  RunOptions of_one = options();
  of_one.replicas = 1;
  BayesianOptimization whole(how), cut(how);
  kiln::Run uninterrupted(problem, whole, second, of_one, open_backend("cpu", 2));
  const Result expected = uninterrupted.advance();

  kiln::Run run(problem, cut, second, of_one, open_backend("cpu", 2));
  run.advance_to(first);
  *bowl.calls = 0;
  std::stop_source stop;
  stop.request_stop();
  const Result result = run.advance({}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_EQ(result.work.sweeps, 8);
  EXPECT_LE(*bowl.calls, 1);  // the verification

  const Result end = run.advance();
  EXPECT_EQ(end.solution, expected.solution);
  EXPECT_EQ(end.objective, expected.objective);
}

// Designed evaluations take microseconds, and the next tick may fit a model: clock and stop are
// looked at after each.
TEST(Alarm, LooksAtTheStopAfterEveryTickOfTheHost) {
  BayesianOptimizationOptions how;
  how.initial = 400;
  how.evaluations = 400;
  Bowl bowl;
  std::stop_source stop;
  std::int64_t first = 0;
  bowl.at_call = [&](std::int64_t i) {
    if (first > 0 && i == first + 30) stop.request_stop();
  };
  const Problem problem = bowl.problem();
  RunOptions of_one = options();
  of_one.replicas = 1;
  BayesianOptimization schedule(how);
  kiln::Run run(problem, schedule, {.sweeps = 400}, of_one, open_backend("cpu", 2));
  first = *bowl.calls + 1;

  const Result result = run.advance({}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_LE(result.work.sweeps, 33);
}

}  // namespace
}  // namespace kiln::run_alarm_test
