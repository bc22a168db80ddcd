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
#include "kiln/density_objective.hpp"
#include "kiln/problem.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "cpu_queue.hpp"

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

TEST(Alarm, EndsATickWithTheLimitOfTheRun) {
  Bowl bowl;
  bowl.at_call = [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const Problem problem = bowl.problem();
  SimulatedAnnealing schedule = annealing();
  const Budget budget{.time_limit_s = 0.05};
  kiln::Run run(problem, schedule, budget, options(), open_backend("cpu", 2));
  *bowl.calls = 0;

  const Result result = run.advance(budget);

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
  const Result expected = uninterrupted.advance(budget);

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

    const Result cut = run.advance(budget, {}, stop.get_token());
    EXPECT_EQ(cut.stop, Stop::interrupted);
    EXPECT_TRUE(cut.verified);

    const Result result = run.advance(budget);
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
  const Result expected = uninterrupted.advance(second);

  kiln::Run run(problem, cut, second, of_one, open_backend("cpu", 2));
  run.advance(first);
  *bowl.calls = 0;
  std::stop_source stop;
  stop.request_stop();
  const Result result = run.advance(second, {}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_EQ(result.work.sweeps, 8);
  EXPECT_LE(*bowl.calls, 1);  // the verification

  const Result end = run.advance(second);
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

  const Result result = run.advance({.sweeps = 400}, {}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_LE(result.work.sweeps, 33);
}

}  // namespace
}  // namespace kiln::run_alarm_test
