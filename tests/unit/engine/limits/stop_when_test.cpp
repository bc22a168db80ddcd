// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Runs that end because their best value gains too little. The oracle is the record of the best
// value after each tick, which the runs under test do not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/kiln.hpp"
#include "kiln/limits/gain_condition.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/pipeline.hpp"
#include "kiln/schedules/simulated_annealing.hpp"
#include "kiln/telemetry/record.hpp"

#include "densities/sampling_fixtures.hpp"
#include "models/small_models.hpp"

namespace kiln::stop_when_test {
namespace {

constexpr std::int64_t spins = 200, replicas = 32;

Problem ising() { return make_ising(test::random_ising(spins, 6, 5), "ising"); }

RunOptions options(std::uint64_t seed, int threads = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = replicas;
  options.seed = seed;
  return options;
}

// One slow anneal after the other, so that improvements come early and late.
std::unique_ptr<Schedule> anneal() {
  return builtin_registry()
      .schedule("simulated-annealing")
      .make({{"anneal_sweeps", "2000"}, {"cooling", "linear"}});
}

Budget until(const std::string& text) { return {.stop_when = GainCondition::parse(text)}; }

Result run_until(const Budget& budget, const RunOptions& options) {
  const Problem problem = ising();
  return Engine(options).run(problem, *anneal(), budget);
}

/// The best value at the end of each tick.
struct Best {
  std::vector<std::pair<std::int64_t, double>> all;  // sweeps, value

  double at(std::int64_t sweeps) const {
    double best = all.front().second;
    for (const auto& [end, value] : all) {
      if (end <= sweeps) best = value;
    }
    return best;
  }
};

Best record(std::int64_t sweeps, RunOptions options) {
  Best best;
  options.telemetry.level = TelemetryLevel::summary;
  options.telemetry.interval = 1;
  const Units units = ising().units;
  options.telemetry.take = [&](std::span<const TelemetryRecord> records) {
    for (const TelemetryRecord& one : records) {
      best.all.emplace_back(static_cast<std::int64_t>(one.step),
                            units.objective_of_stored(one.best));
    }
  };
  run_until({.sweeps = sweeps}, options);
  return best;
}

// The first tick whose best value has gained too little, by trying all.
std::int64_t first_end(const Best& best, std::int64_t work, double bound, bool percent) {
  for (const auto& [sweeps, now] : best.all) {
    if (sweeps <= work) continue;
    const double gain = best.at(sweeps - work) - now;
    if (gain == 0 || gain < (percent ? bound / 100 * std::abs(now) : bound)) return sweeps;
  }
  return -1;
}

struct Case {
  std::string text;
  std::int64_t work;
  double bound;
  bool percent;
};

// Incumbents may be 1/32 late, and looks 1/64 of the work.
TEST(StopWhen, EndsAtTheFirstTickThatGainsTooLittle) {
  constexpr std::int64_t tick = 8, sweep = spins * replicas;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Best best = record(12000, options(seed));
    for (const Case& one : std::vector<Case>{
             {"gain<1e-9 in 800 sweeps", 800, 1e-9, false},
             {"gain<20 in 400 sweeps", 400, 20, false},
             {"gain<1% in 1000 sweeps", 1000, 1, true},
             {"gain<5% in 160 sweeps", 160, 5, true},
             {"gain<0.5% in " + std::to_string(2000 * sweep) + " attempts", 2000, 0.5, true},
             {"gain<3% in " + std::to_string(640 * sweep - 5) + " attempts", 640, 3, true}}) {
      SCOPED_TRACE(one.text);
      const std::int64_t first = first_end(best, one.work, one.bound, one.percent);
      ASSERT_GT(first, 0);
      const Result result = run_until(until(one.text), options(seed));
      EXPECT_EQ(result.stop, Stop::gain_limit);
      EXPECT_GE(result.work.sweeps, first);
      EXPECT_LE(result.work.sweeps, first + first / 32 + one.work / 64 + tick);
      EXPECT_TRUE(result.verified);
      EXPECT_EQ(result.objective, best.at(result.work.sweeps));
      EXPECT_EQ(run_until(until(one.text), options(seed, 2)).work.sweeps, result.work.sweeps);
    }
  }
}

// A mistake of a factor 2 in the work would end all of these elsewhere.
TEST(StopWhen, TheOracleTellsHalfOfTheWork) {
  const Best best = record(12000, options(1));
  for (const std::int64_t work : {400, 800, 1000}) {
    const std::int64_t whole = first_end(best, work, 20, false),
                       half = first_end(best, work / 2, 20, false);
    EXPECT_LT(half + half / 32 + work / 64 + 8, whole);
  }
}

// Cut at each of its last ticks, where a look of the uncut run may lie before, at or behind the
// cut.
TEST(StopWhen, ARunInPartsEndsAtTheSameSweep) {
  const Problem problem = ising();
  for (const char* text : {"gain<1% in 1000 sweeps", "gain<5% in 1600 sweeps",
                           "gain<10% in 2000 sweeps", "gain<3% in 700 sweeps"}) {
    const Budget budget = until(text);
    const Result uncut = run_until(budget, options(4));
    for (std::int64_t cut = std::max<std::int64_t>(8, uncut.work.sweeps - 96);
         cut < uncut.work.sweeps; cut += 8) {
      SCOPED_TRACE(text + (" " + std::to_string(cut)));
      const auto first = anneal(), second = anneal();
      kiln::Run begun(problem, *first, budget, options(4), open_backend("cpu", 1));
      Budget part = budget;
      part.sweeps = cut;
      EXPECT_EQ(begun.advance_to(part).stop, Stop::sweep_limit);
      Archive archive;
      begun.save(archive);
      kiln::Run loaded(problem, *second, budget, options(4), open_backend("cpu", 1));
      loaded.load(archive);
      const Result rest = loaded.advance();
      EXPECT_EQ(rest.stop, Stop::gain_limit);
      EXPECT_EQ(rest.work.sweeps, uncut.work.sweeps);
      EXPECT_EQ(rest.solution, uncut.solution);
      // It stands where it ended: there is nothing left to do.
      EXPECT_EQ(loaded.advance().work.sweeps, uncut.work.sweeps);
    }
  }
}

TEST(StopWhen, OtherLimitsComeFirst) {
  Budget budget = until("gain<0.001% in 1e6 sweeps");
  budget.sweeps = 40;
  EXPECT_EQ(run_until(budget, options(1)).stop, Stop::sweep_limit);
  budget.sweeps.reset();
  budget.target = 1e9;
  EXPECT_EQ(run_until(budget, options(1)).stop, Stop::target_reached);
  budget.target.reset();
  budget.time_limit_s = 0.05;
  EXPECT_EQ(run_until(budget, options(1)).stop, Stop::time_limit);
  budget.stop_when = GainCondition::parse("gain<1% in 9000000000000000000 sweeps");
  EXPECT_EQ(run_until(budget, options(1)).stop, Stop::time_limit);
}

// No value in all of the work is no gain, too: the run would else have no end.
TEST(StopWhen, EndsARunWithoutAFiniteValue) {
  const Problem nowhere = make_problem(
      make_host_objective("nowhere", Space({{BlockKind::integer, 4, 0, 9}}),
                          [](StateSpan) { return std::numeric_limits<double>::quiet_NaN(); }));
  const auto schedule = anneal();
  kiln::Run run(nowhere, *schedule, until("gain<1% in 40 sweeps"), options(1),
                open_backend("cpu", 1));
  EXPECT_THROW(run.advance(), ObjectiveError);
}

// A stage that gains too little hands on, and its work does not count for the next one.
TEST(StopWhen, EndsStagesOfAPipeline) {
  const Problem problem = ising();
  Pipeline stages{stage<SimulatedAnnealing>({.anneal_sweeps = 100}), stage<ParallelTempering>()};
  const Result result = Engine(options(1)).run(problem, stages, until("gain<2% in 500 sweeps"));
  EXPECT_EQ(result.stop, Stop::gain_limit);
  ASSERT_EQ(result.stages.size(), 2u);
  for (const StageResult& one : result.stages) EXPECT_GE(one.sweeps, 500);
}

std::string complaint(const Problem& problem, const std::string& schedule, const std::string& text,
                      const RunOptions& with) {
  try {
    const std::unique_ptr<Schedule> made = builtin_registry().schedule(schedule).make({});
    plan_run(problem, *made, until(text), with, open_backend("cpu", 1));
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message() + "; " + error.expected();
  }
  return "no complaint";
}

TEST(StopWhen, RefusesRunsWithoutOneBestValue) {
  const Problem schools = test::posterior_of("eight schools", EightSchools{}, true);
  EXPECT_EQ(complaint(schools, "hmc", "gain<1% in 5 sweeps", options(1)),
            "budget.stop_when: schedule 'hmc' keeps draws, and searches for no best value; "
            "conditions on the draws");
  EXPECT_EQ(complaint(ising(), "simulated-annealing", "gain<1% in 5 evaluations", options(1)),
            "budget.stop_when: 'gain<1% in 5 evaluations' counts evaluations, and schedule "
            "'simulated-annealing' counts attempts; attempts or sweeps");
  RunOptions silent = options(1);
  silent.telemetry.epochs = false;
  EXPECT_EQ(complaint(ising(), "simulated-annealing", "gain<1% in 5 sweeps", silent),
            "budget.stop_when: a run without epochs notes no incumbents; TelemetryOptions::epochs");
  Budget none = until("gain<1% in 5 sweeps");
  none.stop_when->amount = 0;
  EXPECT_THROW(run_until(none, options(1)), InvalidArgument);
}

}  // namespace
}  // namespace kiln::stop_when_test
