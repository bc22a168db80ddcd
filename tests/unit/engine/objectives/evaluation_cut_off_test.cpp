// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluations that are ended before they have a value, by a stop or by the time limit.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_options.hpp"
#include "backends/cpu_queue.hpp"

namespace kiln::evaluation_cut_off_test {
namespace {

using test::options;

double first_of(StateSpan state) { return std::get<std::span<const double>>(state[0])[0]; }

/// Gives values at once up to a call, which takes until it is cut off, as do all that follow.
class Blocking {
 public:
  explicit Blocking(int at_once) : left_(at_once) {}
  Problem problem() {
    Problem problem = make_problem(
        make_host_objective("blocking", Space::reals(1, 0, 1), [this](StateSpan state) {
          if (left_-- > 0) {
            ++given;
            return first_of(state);
          }
          wait();
          throw EvaluationCutOff("test.cut_off", "it was cut off");
        }));
    problem.solution.verify = first_of;
    problem.experiment.emplace().watch_stop = [this](std::stop_token token) {
      const std::lock_guard lock(mutex_);
      token_ = std::move(token);
    };
    return problem;
  }
  std::atomic<int> given = 0;

 private:
  void wait() {
    std::stop_token token;
    {
      const std::lock_guard lock(mutex_);
      token = token_;
    }
    for (int i = 0; i < 2000 && !token.stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(token.stop_requested()) << "nobody cut the call off";
  }
  std::atomic<int> left_;
  std::mutex mutex_;
  std::stop_token token_;
};

Result search(const Problem& problem, const Budget& budget, std::stop_token stop = {}) {
  BayesianOptimizationOptions quick;
  quick.evaluations = 9;
  quick.batch = 2;
  quick.candidates = 64;
  quick.starts = 1;
  BayesianOptimization schedule(quick);
  kiln::Run run(problem, schedule, budget, {}, open_backend("cpu", 2));
  return run.advance({}, std::move(stop));
}

TEST(EvaluationCutOff, IsNoEvaluation) {
  Blocking blocking(5);
  std::stop_source stop;
  std::jthread asks([&] {
    while (blocking.given < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop.request_stop();
  });
  const Result result = search(blocking.problem(), {}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  ASSERT_TRUE(result.evaluations);
  EXPECT_EQ(result.evaluations->all.size(), 5u) << "the finished one of the last batch as well";
  for (const Evaluation& one : result.evaluations->all) EXPECT_TRUE(std::isfinite(one.value));
  EXPECT_EQ(result.diagnostics.at("failed_evaluations"), 0);
  EXPECT_TRUE(result.advice.empty());
}

TEST(EvaluationCutOff, ComesWithTheTimeLimit) {
  Blocking blocking(3);
  const Result result = search(blocking.problem(), {.time_limit_s = 0.3});
  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_EQ(result.evaluations->all.size(), 3u);
}

TEST(EvaluationCutOff, BeforeTheFirstValueIsAnInterruption) {
  Blocking blocking(0);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(search(blocking.problem(), {}, stop.get_token()), Interrupted);
  EXPECT_EQ(test::code_of([&] { search(blocking.problem(), {.time_limit_s = 0.05}); }),
            "run.no_evaluation");
  // Annealing begins with values, before it is asked to stop.
  SimulatedAnnealing annealing;
  Problem problem = blocking.problem();
  problem.experiment->watch_stop(stop.get_token());
  problem.experiment.emplace().failures = [] { return std::string(); };
  kiln::Run run(problem, annealing, {}, options(2), open_backend("cpu", 1));
  EXPECT_THROW(run.advance_to({.sweeps = 1}, {}, stop.get_token()), Interrupted);
}

std::string code_of_empty(const Problem& problem, BayesianOptimization& schedule,
                          const Budget& budget, std::stop_token stop = {}) {
  return test::code_of([&] {
    kiln::Run run(problem, schedule, budget, {}, open_backend("cpu", 1));
    run.advance({}, std::move(stop));
  });
}

// A function in the program itself is not to blame where it was never called.
TEST(EvaluationCutOff, BlamesNoFunctionThatWasNeverCalled) {
  std::atomic<int> calls = 0;
  const auto no_value = [&](StateSpan) {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return std::nan("");
  };
  const Problem problem =
      make_problem(make_host_objective("broken", Space::reals(8, 0, 1), no_value));
  BayesianOptimization after_past;  // a model of so many points takes seconds
  for (int i = 0; i < 1500; ++i) {
    std::vector<double> x;
    for (int k = 0; k < 8; ++k) x.push_back(std::fmod(0.5 + i * std::sqrt(k + 2.0), 1.0));
    after_past.add_past({x}, std::sin(9 * x[0]));
  }
  EXPECT_EQ(code_of_empty(problem, after_past, {.time_limit_s = 0.001}), "run.no_evaluation");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of_empty(problem, after_past, {}, stop.get_token()), "run.interrupted");
  EXPECT_EQ(calls, 0);
  BayesianOptimization schedule;
  EXPECT_EQ(code_of_empty(problem, schedule, {.time_limit_s = 0.05}), "objective.not_finite");
  EXPECT_GE(calls, 1);
  // Who was asked to end says so, whatever the calls before gave.
  std::stop_source later;
  const Problem stopping = make_problem(
      make_host_objective("broken", Space::reals(1, 0, 1), [&, given = 0](StateSpan) mutable {
        if (++given == 3) later.request_stop();
        return std::nan("");
      }));
  BayesianOptimization stopped;
  EXPECT_EQ(code_of_empty(stopping, stopped, {}, later.get_token()), "run.interrupted");
}

TEST(EvaluationCutOff, SaysWhyNothingHadAValue) {
  Problem problem = make_problem(
      make_host_objective("broken", Space::reals(1, 0, 1), [](StateSpan) { return std::nan(""); }));
  problem.experiment.emplace().failures = [] {
    return std::string("3 of 3 calls failed; it printed: no");
  };
  try {
    search(problem, {.sweeps = 2});
    FAIL() << "there is no value";
  } catch (const ObjectiveError& error) {
    EXPECT_EQ(error.code(), "objective.not_finite");
    EXPECT_EQ(error.message(), "objective 'broken' returned no finite value");
    EXPECT_EQ(error.expected(), "3 of 3 calls failed; it printed: no");
  }
}

}  // namespace
}  // namespace kiln::evaluation_cut_off_test
