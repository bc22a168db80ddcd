// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every executor leaves the bits of plain launches, wherever a run is cut and however it ends.
#include "kiln/executors/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/commands/command_ring.hpp"
#include "kiln/errors.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "backends/backends.hpp"
#include "whole_run.hpp"

namespace kiln::test::executor_test {
namespace {

class ExecutorRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ExecutorRun);

struct Case {
  std::string schedule, problem;
  std::int64_t replicas = 0, sweeps = 0;
  std::map<std::string, std::string> parameters = {};
  bool is_resident = false;  ///< whether Executor::resident must apply; others may refuse it
};

// Ladders of 8 rungs of a torus of 100 spins fit on a multiprocessor. Cluster moves come between
// their ticks, or never.
const Case without_clusters{"parallel-tempering",
                            "torus:10x10,1",
                            2048,
                            10000,
                            {{"rungs", "8"}, {"cluster_moves", "off"}},
                            true};
const Case with_clusters{"parallel-tempering",
                         "torus:10x10,1",
                         2048,
                         10000,
                         {{"rungs", "8"}, {"cluster_moves", "on"}, {"cluster_interval", "16"}},
                         true};

// As many sweeps as make 10,000 ticks, or as the time allows.
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"simulated-annealing", "torus:10x10,1", 2048, 80000},
      without_clusters,
      with_clusters,
      {"parallel-tempering", "torus:10x10,1", 2048, 10000},
      {"parallel-tempering", "torus:10x10,1", 2048, 10000, {{"cluster_interval", "3"}}},
      {"parallel-tempering", "torus:10x10,1", 256, 10000, {{"cluster_interval", "12"}}},
      {"replica-exchange", "torus:10x10,1", 2048, 10000},
      {"population-annealing", "torus:10x10,1", 2048, 20000},
      {"random-search", "torus:10x10,1", 2048, 10000},
      {"simulated-bifurcation", "torus:10x10,1", 64, 20000},
      {"tabu-coloring", "coloring:40,50,min,1", 64, 3000},
      {"hmc", "posterior:eight-schools", 64, 2000, {{"sampler", "nuts"}}},
      {"hmc", "posterior:eight-schools", 64, 2000, {{"sampler", "chees"}}},
      {"evolutionary", "zdt:1", 100, 600, {{"strategy", "nsga2"}}},
      {"evolutionary", "dtlz:2", 92, 400, {{"strategy", "nsga3"}}},
      {"evolutionary", "zdt:1", 100, 600, {{"strategy", "moead"}}},
      {"evolutionary", "zdt:1", 100, 300, {{"strategy", "sms-emoa"}}},
      {"amosa", "zdt:1", 100, 3000}};
  return all;
}

Problem problem_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  return builtin_registry().problem(name.substr(0, colon)).make(name.substr(colon + 1));
}

struct Outcome {
  Archive archive;
  Result result;
};

/// @param cuts  limits at which the run pauses
Outcome run(Device device, const Case& which, Executor executor, const Budget& budget,
            const std::vector<std::int64_t>& cuts = {}, double report_interval_s = 0.1) {
  const Problem problem = problem_of(which.problem);
  const auto schedule = builtin_registry().schedule(which.schedule).make(which.parameters);
  RunOptions options;
  options.device = to_string(device);
  options.replicas = which.replicas;
  options.seed = 7;
  options.executor = executor;
  options.report_interval_s = report_interval_s;
  kiln::Run one(problem, *schedule, budget, options, open_backend(options.device));
  for (const std::int64_t cut : cuts) one.advance_to({.sweeps = cut});
  Outcome outcome;
  outcome.result = one.advance();
  one.save(outcome.archive);
  return outcome;
}

std::set<std::string> scratch_of(const Archive& archive) {
  const std::string pool = "scratch.pool.scratch";
  return archive.sections().contains(pool) ? std::set{pool} : std::set<std::string>{};
}

/// The same, while another thread holds the run again and again.
Outcome held_run(Device device, const Case& which, Executor executor, const Budget& budget) {
  const Problem problem = problem_of(which.problem);
  const auto schedule = builtin_registry().schedule(which.schedule).make(which.parameters);
  RunOptions options;
  options.device = to_string(device);
  options.replicas = which.replicas;
  options.seed = 7;
  options.executor = executor;
  const auto ring = options.commands.ring = std::make_shared<CommandRing>();
  kiln::Run one(problem, *schedule, budget, options, open_backend(options.device));
  std::jthread user([&](const std::stop_token& stop) {
    std::mt19937_64 random(3);
    while (!stop.stop_requested()) {
      for (const CommandKind kind :
           {CommandKind::status, CommandKind::pause, CommandKind::resume}) {
        Command command;
        command.kind = kind;
        ring->post_waiting(sealed(command), stop);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    }
    ring->post(CommandKind::resume);  // where the stop came between a pause and its end
  });
  Outcome outcome;
  outcome.result = one.advance();
  user = {};
  one.save(outcome.archive);
  return outcome;
}

/// What `make_run` gives; nothing, where resident is refused to a case that may refuse it.
template <class MakeRun>
std::optional<Outcome> unless_refused(const Case& which, Executor executor, MakeRun make_run) {
  try {
    return make_run();
  } catch (const InvalidArgument& error) {
    if (executor != Executor::resident || which.is_resident) throw;
    EXPECT_EQ(error.code(), "executor.resident") << error.what();
    EXPECT_EQ(error.fix_steps().steps().front().code, FixCode::use_executor);
    return {};
  }
}

TEST_P(ExecutorRun, HasTheBitsOfARunThatIsNeverHeld) {
  for (Case one : cases()) {
    SCOPED_TRACE(one.schedule + " " + one.problem);
    if (GetParam() == Device::cpu) one.sweeps /= 20;
    const Budget budget{.sweeps = one.sweeps};
    const Outcome plain = run(GetParam(), one, Executor::automatic, budget);
    for (const Executor executor :
         {Executor::stream, Executor::graph, Executor::loop, Executor::resident}) {
      if (GetParam() == Device::cpu && executor != Executor::stream) continue;
      SCOPED_TRACE(std::string(to_string(executor)));
      const auto other = unless_refused(
          one, executor, [&] { return held_run(GetParam(), one, executor, budget); });
      if (!other) continue;
      EXPECT_GT(other->result.commands.applied, 3u);
      expect_same_archives(plain.archive, other->archive, scratch_of(plain.archive));
      EXPECT_EQ(plain.result.solution, other->result.solution);
      EXPECT_EQ(plain.result.work.ticks, other->result.work.ticks);
    }
  }
}

TEST_P(ExecutorRun, HasTheBitsOfPlainLaunches) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  std::mt19937_64 random(20);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.schedule + " " + one.problem);
    const Budget budget{.sweeps = one.sweeps};
    const Outcome plain = run(GetParam(), one, Executor::stream, budget);
    ASSERT_EQ(plain.result.executor.executor, Executor::stream);
    for (const Executor executor :
         {Executor::graph, Executor::loop, Executor::resident, Executor::automatic}) {
      SCOPED_TRACE(std::string(to_string(executor)));
      std::vector<std::int64_t> cuts;
      for (int i = 0; i < 4; ++i) {
        cuts.push_back(
            1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(one.sweeps)));
      }
      std::ranges::sort(cuts);
      const double report_interval_s = 1e-3 * static_cast<double>(1 + random() % 50);
      const auto other = unless_refused(one, executor, [&] {
        return run(GetParam(), one, executor, budget, cuts, report_interval_s);
      });
      if (!other) continue;
      if (executor != Executor::automatic) {
        EXPECT_EQ(other->result.executor.executor, executor) << other->result.executor.reason;
      }
      // What kernels use on the way follows the launch after a stop.
      expect_same_archives(plain.archive, other->archive, scratch_of(plain.archive));
      EXPECT_EQ(plain.result.solution, other->result.solution);
      EXPECT_EQ(plain.result.work.ticks, other->result.work.ticks);
      EXPECT_EQ(plain.result.work.accepted, other->result.work.accepted);
    }
  }
}

// The device ends the run in the middle of what the host has enqueued.
TEST_P(ExecutorRun, StopsAtTheTickOfTheTarget) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  const Case one{"parallel-tempering", "torus:50x40,1", 256, 4000};
  const Budget whole{.sweeps = one.sweeps};
  const double best = run(GetParam(), one, Executor::stream, whole).result.objective;
  for (const double share : {0.9, 0.97, 0.99, 1.0}) {
    Budget budget = whole;
    budget.target = share * best;
    const Outcome plain = run(GetParam(), one, Executor::stream, budget);
    EXPECT_EQ(plain.result.stop, Stop::target_reached);
    for (const Executor executor : {Executor::graph, Executor::loop, Executor::automatic}) {
      const Outcome other = run(GetParam(), one, executor, budget);
      EXPECT_EQ(other.result.work.ticks, plain.result.work.ticks) << to_string(executor);
      EXPECT_EQ(other.result.stop, Stop::target_reached);
      expect_same_archives(plain.archive, other.archive);
    }
  }
}

// A target is reached in the middle of the ticks of one launch.
TEST_P(ExecutorRun, StopsWithinALaunchOfManyTicks) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  for (Case one : {without_clusters, with_clusters}) {
    SCOPED_TRACE(one.parameters.at("cluster_moves"));
    one.problem = "torus:20x10,1";
    one.replicas = 256;
    one.parameters["beta_max"] = "0.8";  // the best energy falls slowly
    const Budget whole{.sweeps = one.sweeps};
    const double best = run(GetParam(), one, Executor::stream, whole).result.objective;
    for (const double share : {0.9, 0.95, 0.98, 1.0}) {
      Budget budget = whole;
      budget.target = share * best;
      const Outcome plain = run(GetParam(), one, Executor::stream, budget);
      EXPECT_EQ(plain.result.stop, Stop::target_reached);
      for (const Executor executor : {Executor::resident, Executor::automatic}) {
        const Outcome other = run(GetParam(), one, executor, budget);
        EXPECT_EQ(other.result.work.ticks, plain.result.work.ticks) << to_string(executor);
        EXPECT_EQ(other.result.stop, Stop::target_reached);
        expect_same_archives(plain.archive, other.archive);
      }
    }
  }
}

// Rounds of adaptation end, and betas change, in the middle of launches; sweeps_per_swap is
// above 1.
TEST_P(ExecutorRun, AdaptsWithinALaunchOfManyTicks) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  Case one = without_clusters;
  one.parameters.insert({{"burn_in", "5000"}, {"sweeps_per_swap", "3"}});
  // Some cuts and, with 20000 sweeps, the end are in the middle of a tick. What is recorded goes to
  // the sums at reports, too, so both runs have the same ones.
  for (const std::int64_t sweeps : {20001, 20000}) {
    const Budget budget{.sweeps = sweeps};
    const std::vector<std::int64_t> cuts{1500, 7001, 9000};
    const Outcome plain = run(GetParam(), one, Executor::stream, budget, cuts);
    const Outcome other = run(GetParam(), one, Executor::resident, budget, cuts);
    expect_same_archives(plain.archive, other.archive, scratch_of(plain.archive));
    EXPECT_EQ(plain.result.solution, other.result.solution);
    if (sweeps % 3 != 0) continue;
    const Outcome uncut = run(GetParam(), one, Executor::stream, budget);
    expect_same_archives(uncut.archive, other.archive, scratch_of(uncut.archive));
  }
}

// At least 20 times fewer launches of the host than by plain launches, set-up and first ticks
// included. TickPlayer.LaunchesSeldom has the time between two of them.
TEST_P(ExecutorRun, LaunchesSeldom) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  const Case one{"parallel-tempering", "torus:10x10,1", 2048, 200000};
  const Outcome plain = run(GetParam(), one, Executor::stream, {.sweeps = one.sweeps / 20});
  const auto launches = [](const Result& result) {
    return static_cast<double>(result.work.device.launches + result.work.device.graph_launches) /
           static_cast<double>(result.work.ticks);
  };
  for (const Executor executor : {Executor::graph, Executor::loop, Executor::resident}) {
    Case other = executor == Executor::resident ? without_clusters : one;
    other.sweeps = one.sweeps;
    const Result result = run(GetParam(), other, executor, {.sweeps = other.sweeps}).result;
    EXPECT_LT(20 * launches(result), launches(plain.result)) << to_string(executor);
  }
}

// A chunk of the loop is one launch with its summary, once chunks are as long as the interval of
// reports, 100 ms. The beginning of a run, with its graphs and short chunks, is in both runs.
TEST_P(ExecutorRun, LaunchesTheLoopOnceForAReport) {
  if (GetParam() == Device::cpu) GTEST_SKIP() << "the CPU has one executor";
  const Case one{"parallel-tempering", "torus:10x10,1", 2048, 200000};
  const Result brief = run(GetParam(), one, Executor::loop, {.sweeps = one.sweeps * 3 / 10}).result;
  const Result longer = run(GetParam(), one, Executor::loop, {.sweeps = one.sweeps}).result;
  const Counters &begin = brief.work.device, &all = longer.work.device;
  const auto more = [](std::uint64_t of_all, std::uint64_t of_begin) {
    return static_cast<double>(of_all) - static_cast<double>(of_begin);
  };
  const double seconds = longer.time.run_s - brief.time.run_s;
  const double launches = more(all.launches, begin.launches);
  const double graphs = more(all.graph_launches, begin.graph_launches);
  ASSERT_GE(seconds, 1.0) << "too short to tell";
  EXPECT_GE(seconds, 0.05 * (launches + graphs)) << launches << " kernels, " << graphs << " graphs";
  EXPECT_LE(launches, 0.5 * graphs) << "a kernel is launched beside each loop";
}

TEST_P(ExecutorRun, TwoRunsShareADevice) {
  const bool on_gpu = GetParam() == Device::cuda;
  for (const Executor executor :
       {on_gpu ? Executor::loop : Executor::automatic, Executor::resident}) {
    if (!on_gpu && executor == Executor::resident) continue;
    Case one = executor == Executor::resident ? without_clusters
                                              : Case{"parallel-tempering", "torus:10x10,1", 256};
    one.sweeps = on_gpu ? 20000 : 200;
    const Budget budget{.sweeps = one.sweeps};
    const Outcome alone = run(GetParam(), one, executor, budget);
    std::vector<Outcome> both(2);
    {
      std::vector<std::jthread> threads;
      for (Outcome& outcome : both) {
        threads.emplace_back([&] { outcome = run(GetParam(), one, executor, budget); });
      }
    }
    for (const Outcome& outcome : both) expect_same_archives(alone.archive, outcome.archive);
  }
}

void expect_refusal(Device device, const Case& which, Executor executor, const std::string& code) {
  try {
    run(device, which, executor, {.sweeps = which.sweeps});
    ADD_FAILURE() << to_string(executor) << " was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.fix_steps().steps().front().code, FixCode::use_executor);
  }
}

TEST_P(ExecutorRun, RefusesWhatDoesNotApply) {
  const Case sweeps{"simulated-annealing", "torus:10x10,1", 64, 100};
  const Case waits{"bayesian-optimization", "function:branin", 0, 4};
  for (const Executor executor : {Executor::graph, Executor::loop, Executor::resident}) {
    if (GetParam() == Device::cpu) {
      expect_refusal(GetParam(), sweeps, executor, "executor.device");
    } else {
      expect_refusal(GetParam(), waits, executor, "executor.pace");
    }
  }
  EXPECT_EQ(run(GetParam(), waits, Executor::automatic, {.sweeps = 4}).result.executor.reason,
            "ticks wait for the host");
  if (GetParam() == Device::cpu) return;
  expect_refusal(GetParam(), sweeps, Executor::resident, "executor.resident");
  Case often = with_clusters;
  often.parameters["cluster_interval"] = "1";
  often.is_resident = false;
  expect_refusal(GetParam(), often, Executor::resident, "executor.resident");
}

}  // namespace
}  // namespace kiln::test::executor_test
