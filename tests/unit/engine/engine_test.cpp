// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/engine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/claimed_objective.hpp"
#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::engine_test {
namespace {

using test::complaint;
using test::random_graph;

RunOptions options(int threads = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = 32;
  options.report_interval_s = 0;
  return options;
}

Problem sparse_cut() { return make_maxcut(random_graph(90, 1, 3), "sparse"); }

Result solve(const Budget& budget, const Observers& observers = {}, std::stop_token stop = {},
             const RunOptions& chosen = options(), const Problem& problem = sparse_cut()) {
  SimulatedAnnealing schedule;
  return Engine(chosen).run(problem, schedule, budget, observers, std::move(stop));
}

TEST(Engine, DoesExactlyTheSweepsOfTheBudget) {
  for (const std::int64_t sweeps : {1, 7, 8, 9, 100, 1001}) {
    const Result result = solve({.sweeps = sweeps});
    EXPECT_EQ(result.stop, Stop::sweep_limit);
    EXPECT_EQ(result.work.sweeps, sweeps);
    EXPECT_EQ(result.work.ticks, (sweeps + 7) / 8);
    EXPECT_EQ(result.work.attempts, static_cast<double>(sweeps) * 32 * 90);
    EXPECT_TRUE(result.verified);
  }
}

TEST(Engine, WithoutALimitTheScheduleIsDoneAfterAThousandSweeps) {
  const Result result = solve({});
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(result.work.sweeps, 1000);
}

TEST(Engine, StopsNearTheTimeLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const Result result = solve({.time_limit_s = 0.3});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_GE(result.time.run_s, 0.3);
  // Generous, for machines that are busy: the chunk between two looks at the clock is 0.01 s.
  EXPECT_LT(taken.count(), 3.0);
  EXPECT_LE(result.time.to_best_s, result.time.run_s);
  EXPECT_GT(result.work.sweeps, 0);
  EXPECT_TRUE(result.verified);
}

TEST(Engine, StopsAtTheSameTickAtATarget) {
  const double best = solve({.sweeps = 400}).objective;
  const Budget budget{.sweeps = 100000, .target = best - 1};
  const Result one = solve(budget, {}, {}, options(1)), two = solve(budget, {}, {}, options(2));
  EXPECT_EQ(one.stop, Stop::target_reached);
  EXPECT_GE(one.objective, best - 1);
  EXPECT_LT(one.work.sweeps, 100000);
  EXPECT_EQ(one.work.sweeps, two.work.sweeps);
  EXPECT_EQ(one.work.ticks, two.work.ticks);
  EXPECT_EQ(one.objective, two.objective);
  EXPECT_EQ(one.solution, two.solution);
  EXPECT_EQ(one.best_replica, two.best_replica);
}

TEST(Engine, TheFirstLimitIsTheReason) {
  EXPECT_EQ(solve({.time_limit_s = 100.0, .sweeps = 8}).stop, Stop::sweep_limit);
  EXPECT_EQ(solve({.sweeps = 8, .target = -1e9}).stop, Stop::target_reached);
  EXPECT_EQ(solve({.sweeps = 8, .target = 1e9}).stop, Stop::sweep_limit);
}

TEST(Engine, RefusesBudgetsThatCannotBeMeant) {
  EXPECT_TRUE(complaint([] { solve({.time_limit_s = 0.0}); }).starts_with("budget.time_limit"));
  EXPECT_TRUE(complaint([] { solve({.time_limit_s = -1.0}); }).starts_with("budget.time_limit"));
  EXPECT_TRUE(
      complaint([] { solve({.time_limit_s = std::nan("")}); }).starts_with("budget.time_limit"));
  EXPECT_TRUE(complaint([] { solve({.sweeps = 0}); }).starts_with("budget.sweeps"));
  EXPECT_TRUE(complaint([] { solve({.target = std::nan("")}); }).starts_with("budget.target"));
}

TEST(Engine, RefusesReplicasThatCannotBe) {
  RunOptions negative = options();
  negative.replicas = -5;
  EXPECT_NE(complaint([&] { solve({.sweeps = 8}, {}, {}, negative); }), "accepted");
  EXPECT_TRUE(complaint([] {
                SimulatedAnnealingOptions three;
                three.groups = 3;
                SimulatedAnnealing schedule(three);
                Engine(options()).run(sparse_cut(), schedule, {.sweeps = 8});
              }).starts_with("batch.groups"));
}

TEST(Engine, ADefaultNumberOfReplicasFitsTheGroups) {
  SimulatedAnnealingOptions seven;
  seven.groups = 7;
  SimulatedAnnealing schedule(seven);
  RunOptions automatic = options();
  automatic.replicas = 0;
  const Result result = Engine(automatic).run(sparse_cut(), schedule, {.sweeps = 8});
  EXPECT_EQ(result.work.replicas, 672) << "512, rounded up to a multiple of 7 groups of 32";
  EXPECT_EQ(result.draw_naming, DrawNaming::planes);
  automatic.draw_naming = DrawNaming::words;
  const Result by_words = Engine(automatic).run(sparse_cut(), schedule, {.sweeps = 8});
  EXPECT_EQ(by_words.work.replicas, 133) << "128, rounded up to a multiple of 7";
  seven.groups = 100;
  SimulatedAnnealing hundred(seven);
  automatic.draw_naming = {};
  EXPECT_EQ(Engine(automatic).run(sparse_cut(), hundred, {.sweeps = 8}).work.replicas, 200);
}

TEST(Engine, RefusesObjectivesByTheAbilityThatIsMissing) {
  const auto refusal = [](const Problem& problem) {
    return complaint([&] { solve({.sweeps = 8}, {}, {}, options(), problem); });
  };
  EXPECT_NE(refusal(test::problem_of_nothing("mute")).find("'mute'"), std::string::npos);
  EXPECT_NE(refusal(test::problem_of_nothing("mute")).find("evaluate"), std::string::npos);
  EXPECT_NE(refusal(test::problem_of_a_gpu("functor")).find("'functor'"), std::string::npos);
  EXPECT_EQ(refusal(Problem{}), "problem.empty: a problem needs an objective");
}

TEST(Engine, ObserversSeeTheRunAndMayEndIt) {
  std::vector<ReportPoint> seen;
  const Result result = solve({.time_limit_s = 100.0}, {[&](const ReportPoint& point) {
                                seen.push_back(point);
                                return point.sweeps >= 64 ? Next::stop : Next::go_on;
                              }});
  EXPECT_EQ(result.stop, Stop::interrupted);
  ASSERT_FALSE(seen.empty());
  EXPECT_GE(seen.back().sweeps, 64);
  EXPECT_EQ(seen.back().attempts, static_cast<double>(seen.back().sweeps) * 32 * 90);
  EXPECT_TRUE(seen.back().has_best);
  EXPECT_GT(seen.back().acceptance_rate, 0);
  EXPECT_LE(seen.back().acceptance_rate, 1);
  EXPECT_GT(seen.back().time_left_s, 0);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].best, seen[i - 1].best) << "a cut is maximised";
    EXPECT_EQ(seen[i].improved, seen[i].best > seen[i - 1].best);
    EXPECT_GT(seen[i].sweeps, seen[i - 1].sweeps);
  }
  EXPECT_GE(result.objective, seen.back().best);
}

TEST(Engine, EveryObserverIsAskedEvenIfOneSaysStop) {
  int first = 0, second = 0;
  solve({.sweeps = 80000}, {[&](const ReportPoint&) {
                              ++first;
                              return Next::stop;
                            },
                            [&](const ReportPoint&) {
                              ++second;
                              return Next::go_on;
                            }});
  // Once, and once more where the descent after the stop found something better.
  EXPECT_GE(first, 1);
  EXPECT_LE(first, 2);
  EXPECT_EQ(second, first);
}

TEST(Engine, TheLastReportIsTheResult) {
  ReportPoint last;
  const Result result = solve({.sweeps = 200}, {[&](const ReportPoint& point) {
                                last = point;
                                return Next::go_on;
                              }});
  EXPECT_EQ(last.sweeps, 200);
  EXPECT_EQ(last.best, result.objective);
  EXPECT_EQ(last.best_energy, result.energy);
}

TEST(Engine, ObserversNeverChangeThePath) {
  RunOptions rarely = options();
  rarely.report_interval_s = 1e9;
  const Result quiet = solve({.sweeps = 400}, {}, {}, rarely);
  const Result watched = solve({.sweeps = 400}, {[](const ReportPoint&) {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                 return Next::go_on;
                               }});
  EXPECT_EQ(watched.objective, quiet.objective);
  EXPECT_EQ(watched.solution, quiet.solution);
  EXPECT_EQ(watched.best_replica, quiet.best_replica);
  EXPECT_EQ(watched.work.accepted, quiet.work.accepted);
  EXPECT_EQ(watched.work.ticks, quiet.work.ticks);
}

TEST(Engine, AStopTokenEndsTheRun) {
  std::stop_source source;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const Result result = solve({.time_limit_s = 100.0}, {}, source.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_LT(result.time.run_s, 50);
  EXPECT_TRUE(result.verified);
}

TEST(Engine, AStopThatCameBeforeStillGivesAnAnswer) {
  std::stop_source source;
  source.request_stop();
  const Result result = solve({.sweeps = 100000}, {}, source.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_LT(result.work.sweeps, 100);
  EXPECT_TRUE(result.verified);
}

TEST(Engine, VerifiesAgainstTheRawData) {
  EXPECT_TRUE(solve({.sweeps = 80}).verified);
  const Problem real = make_maxcut(random_graph(90, 1, 30, 0.1));
  EXPECT_TRUE(solve({.sweeps = 80}, {}, {}, options(), real).verified);
}

TEST(Engine, AWrongVerifierGivesVerifiedFalse) {
  Problem wrong = sparse_cut();
  const auto right = wrong.solution.verify;
  wrong.solution.verify = [right](StateSpan state) { return right(state) + 1; };
  EXPECT_FALSE(solve({.sweeps = 80}, {}, {}, options(), wrong).verified);
  wrong.solution.verify = [](StateSpan) { return std::nan(""); };
  EXPECT_FALSE(solve({.sweeps = 80}, {}, {}, options(), wrong).verified);
  wrong.solution.verify = {};
  EXPECT_FALSE(solve({.sweeps = 80}, {}, {}, options(), wrong).verified);
}

TEST(Engine, ReportsTheGapInTheSenseOfTheUser) {
  Problem problem = sparse_cut();
  const double best = solve({.sweeps = 200}).objective;
  problem.known.best = best * 2;
  EXPECT_DOUBLE_EQ(solve({.sweeps = 200}, {}, {}, options(), problem).gap.value(), 0.5);
  problem.known.best = best / 2;
  EXPECT_DOUBLE_EQ(solve({.sweeps = 200}, {}, {}, options(), problem).gap.value(), -1.0);
  problem.known.best = 0;
  EXPECT_FALSE(solve({.sweeps = 200}, {}, {}, options(), problem).gap.has_value());
  problem.known.best.reset();
  EXPECT_FALSE(solve({.sweeps = 200}, {}, {}, options(), problem).gap.has_value());
}

TEST(Engine, TheResultSaysWhatWasRun) {
  RunOptions chosen = options(2);
  chosen.seed = 99;
  const Result result = solve({.sweeps = 8}, {}, {}, chosen);
  EXPECT_EQ(result.problem, "sparse");
  EXPECT_EQ(result.family, "maxcut");
  EXPECT_EQ(result.schedule, "simulated-annealing");
  EXPECT_EQ(result.device, "cpu");
  EXPECT_TRUE(result.device_description.starts_with("2 threads")) << result.device_description;
  EXPECT_EQ(result.fallback_reason, "");
  EXPECT_EQ(result.seed, 99u);
  EXPECT_EQ(result.sense, Sense::maximize);
  EXPECT_TRUE(result.integral);
  EXPECT_EQ(result.executor.executor, Executor::stream);
  EXPECT_EQ(result.executor.reason, "the CPU runs a kernel where it is launched");
  EXPECT_EQ(result.spins().size(), 90u);
}

TEST(Engine, TwoEnginesInTwoThreadsDoNotDisturbEachOther) {
  const Result alone = solve({.sweeps = 200});
  Result a, b;
  {
    std::jthread one([&] { a = solve({.sweeps = 200}); });
    std::jthread two([&] { b = solve({.sweeps = 200}); });
  }
  EXPECT_EQ(a.solution, alone.solution);
  EXPECT_EQ(b.solution, alone.solution);
}

// Terms of 1e6 that cancel leave rounding far above 1e-9 of the sum; that is no defect of the run.
TEST(Engine, VerifiesSumsThatCancel) {
  Qubo qubo;
  qubo.n = 200;
  qubo.linear.assign(200, 0.0);
  std::uint32_t word = 12345;
  const auto next = [&] { return word = word * 1664525u + 1013904223u; };
  for (double& weight : qubo.linear) weight = static_cast<double>(next() >> 8) * -0x1p-24;
  for (std::int32_t i = 0; i < 200; ++i) {
    for (std::int32_t j = i + 1; j < 200; j += 1 + static_cast<std::int32_t>(next() >> 29)) {
      qubo.quadratic.push_back({i, j, 1e6});
    }
  }
  const Problem problem = make_qubo(qubo);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SimulatedAnnealing annealing;
    Engine engine({.device = "cpu", .threads = 1, .replicas = 32, .seed = seed});
    EXPECT_TRUE(engine.run(problem, annealing, {.sweeps = 100}).verified) << seed;
  }
}

TEST(Engine, ATargetThatIsNeverReachedChangesNothing) {
  const Problem problem = make_maxcut(problems::torus_pm1(8, 8, 1));
  const auto best = [&](const Budget& budget) {
    SimulatedAnnealing annealing({.beta_max = 1, .polish_sweeps = 0});
    Engine engine({.device = "cpu", .threads = 1, .replicas = 1, .seed = 3});
    const Result result = engine.run(problem, annealing, budget);
    return std::pair(result.objective, result.work.accepted);
  };
  EXPECT_EQ(best({.sweeps = 37}), best({.sweeps = 37, .target = 1e6}));
  EXPECT_EQ(best({.sweeps = 37}), best({.time_limit_s = 1e6, .sweeps = 37}));
}

}  // namespace
}  // namespace kiln::engine_test
