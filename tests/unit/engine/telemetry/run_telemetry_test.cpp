// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Incumbents and telemetry of runs, against another run that is looked at after each epoch.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::run_telemetry_test {
namespace {

constexpr std::int64_t epochs = 6;

Problem ising() { return make_ising(test::random_ising(60, 4, 3), "ising"); }

RunOptions options(int threads = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = 40;
  options.report_interval_s = 0;
  return options;
}

using Make = std::unique_ptr<Schedule> (*)();

std::unique_ptr<Schedule> annealing() {
  SimulatedAnnealingOptions options;
  options.anneal_sweeps = 700;
  return std::make_unique<SimulatedAnnealing>(options);
}
std::unique_ptr<Schedule> tempering() {
  ParallelTemperingOptions options;
  options.rungs = 8;
  return std::make_unique<ParallelTempering>(options);
}
std::unique_ptr<Schedule> population() { return std::make_unique<PopulationAnnealing>(); }

class RunTelemetryOf : public testing::TestWithParam<Make> {};
INSTANTIATE_TEST_SUITE_P(Schedules, RunTelemetryOf,
                         testing::Values(annealing, tempering, population));

struct Planned {
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<kiln::Run> run;
  std::int64_t sweeps_per_epoch() const {
    const TelemetryHeader header = run->telemetry_header();
    return static_cast<std::int64_t>(header.ticks_per_epoch * header.sweeps_per_tick);
  }
};

// Every run plans for the same number of sweeps.
Planned planned(const Problem& problem, Make make, const RunOptions& how = options()) {
  constexpr std::int64_t sweeps = 20000;
  Planned it{make(), nullptr};
  it.run = std::make_unique<kiln::Run>(problem, *it.schedule, Budget{.sweeps = sweeps}, how,
                                       open_backend("cpu", how.threads));
  return it;
}

// What the states say at the end of an epoch.
struct Looked {
  double best = 0;
  std::int64_t replica = 0, sweeps = 0;
  std::vector<double> energies;
};

Looked look(kiln::Run& run, std::int64_t sweeps, std::int64_t sweeps_per_tick) {
  const std::vector<double> best = run.batch().read_energies(true);
  const std::vector<std::int32_t> replica_of = run.batch().read_replica_of();
  const std::vector<std::uint64_t> steps = run.batch().read_best_steps();
  Looked now;
  now.energies = run.batch().read_energies(false);
  now.energies.resize(40);
  std::size_t at = 0;
  for (std::size_t slot = 1; slot < 40; ++slot) {
    const bool earlier = best[slot] == best[at] && replica_of[slot] < replica_of[at];
    if (best[slot] < best[at] || earlier) at = slot;
  }
  now.best = best[at];
  now.replica = replica_of[at];
  now.sweeps = std::min(static_cast<std::int64_t>(steps[at]) + sweeps_per_tick, sweeps);
  return now;
}

// The rule of incumbents, from a run that is looked at after each tick: what is better than all
// before it is noted with its tick, but after tick t not before tick t + 1 + t / 32. The end of an
// epoch notes the rest, with the tick that found it.
std::vector<Looked> improvements(const Problem& problem, Make make) {
  const Planned stepped = planned(problem, make);
  const TelemetryHeader header = stepped.run->telemetry_header();
  const auto tick = static_cast<std::int64_t>(header.sweeps_per_tick);
  const auto ticks = static_cast<std::int64_t>(header.ticks_per_epoch);
  std::vector<Looked> noted{look(*stepped.run, 0, tick)};
  std::int64_t next = 0;
  for (std::int64_t t = 1; t <= epochs * ticks; ++t) {
    stepped.run->advance_to({.sweeps = t * tick});
    Looked now = look(*stepped.run, t * tick, tick);
    if (!(now.best < noted.back().best) || (t < next && t % ticks != 0)) continue;
    if (t >= next) {
      now.sweeps = t * tick;
      next = t + 1 + t / 32;
    }
    noted.push_back(now);
  }
  return noted;
}

std::vector<Looked> look_after_each_epoch(const Problem& problem, Make make) {
  const Planned stepped = planned(problem, make);
  const auto tick = static_cast<std::int64_t>(stepped.run->telemetry_header().sweeps_per_tick);
  std::vector<Looked> all{look(*stepped.run, 0, tick)};
  for (std::int64_t e = 1; e <= epochs; ++e) {
    const std::int64_t sweeps = e * stepped.sweeps_per_epoch();
    stepped.run->advance_to({.sweeps = sweeps});
    all.push_back(look(*stepped.run, sweeps, tick));
  }
  return all;
}

TEST_P(RunTelemetryOf, HasTheIncumbentsAndSumsThatTheStatesHave) {
  const Problem problem = make_ising(test::random_ising(400, 4, 3), "ising");
  const std::vector<Looked> looked = look_after_each_epoch(problem, GetParam());
  const Planned whole = planned(problem, GetParam());
  whole.run->advance_to({.sweeps = epochs * whole.sweeps_per_epoch()});

  const std::vector<Looked> wanted = improvements(problem, GetParam());
  EXPECT_GT(wanted.size(), 8u);
  const std::vector<Incumbent>& found = whole.run->incumbents().kept();
  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_EQ(found.front().sweeps, 0);
  double earlier_s = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].energy, problem.units.energy_of_stored(wanted[i].best));
    EXPECT_EQ(found[i].replica, wanted[i].replica);
    EXPECT_EQ(found[i].sweeps, wanted[i].sweeps);
    EXPECT_GE(found[i].time_s, earlier_s);
    earlier_s = found[i].time_s;
  }

  std::uint64_t count = 0, accepted = 0;
  long double sum = 0;
  for (const TelemetrySums& group : whole.run->telemetry_sums()) {
    EXPECT_EQ(group.epochs, static_cast<std::uint64_t>(epochs + 1));
    count += group.count;
    accepted += group.accepted;
    sum += static_cast<long double>(group.mean) * static_cast<long double>(group.count);
  }
  long double wanted_sum = 0;
  for (const Looked& now : looked) {
    for (const double energy : now.energies) wanted_sum += energy;
  }
  EXPECT_EQ(count, 40u * looked.size());
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(wanted_sum), 1e-6);
  std::uint64_t wanted_accepted = 0;
  const std::vector<std::uint64_t> by_slot = whole.run->batch().read_accepted();
  for (std::size_t slot = 0; slot < 40; ++slot) wanted_accepted += by_slot[slot];
  EXPECT_EQ(accepted, wanted_accepted);
}

TEST_P(RunTelemetryOf, GoesOnAfterALoadAsIfNothingHadHappened) {
  const Problem problem = ising();
  const Planned whole = planned(problem, GetParam());
  const std::int64_t half = whole.sweeps_per_epoch() * 5 / 2;  // in the middle of an epoch
  const Result expected = whole.run->advance_to({.sweeps = 2 * half});
  Archive end, resumed, middle;
  whole.run->save(end);
  const Planned first = planned(problem, GetParam(), options(2));
  first.run->advance_to({.sweeps = half});
  first.run->save(middle);
  const Planned second = planned(problem, GetParam());
  second.run->load(middle);

  const Result result = second.run->advance_to({.sweeps = 2 * half});
  second.run->save(resumed);

  test::expect_same_archives(resumed, end);
  ASSERT_EQ(result.incumbents.size(), expected.incumbents.size());
  for (std::size_t i = 0; i < result.incumbents.size(); ++i) {
    EXPECT_EQ(result.incumbents[i].sweeps, expected.incumbents[i].sweeps);
    EXPECT_EQ(result.incumbents[i].value, expected.incumbents[i].value);
    EXPECT_EQ(result.incumbents[i].replica, expected.incumbents[i].replica);
    EXPECT_EQ(result.incumbents[i].rung, expected.incumbents[i].rung);
  }
}

TEST_P(RunTelemetryOf, ChangesNothingAndGivesARecordOfEachEpoch) {
  const Problem problem = ising();
  const Planned off = planned(problem, GetParam());
  RunOptions how = options(2);
  std::vector<TelemetryRecord> records;
  how.telemetry.level = TelemetryLevel::replicas;
  how.telemetry.budget_bytes = std::uint64_t{64} << 20;
  how.telemetry.take = [&](std::span<const TelemetryRecord> some) {
    records.insert(records.end(), some.begin(), some.end());
  };
  const Planned on = planned(problem, GetParam(), how);
  const std::int64_t sweeps = epochs * on.sweeps_per_epoch();

  off.run->advance_to({.sweeps = sweeps});
  on.run->advance_to({.sweeps = sweeps});

  Archive one, two;
  off.run->save(one);
  on.run->save(two);
  test::expect_same_archives(one, two);
  EXPECT_EQ(off.run->telemetry_counts().records, 0u);
  const TelemetryHeader header = on.run->telemetry_header();
  EXPECT_EQ(header.records_per_epoch, 1 + header.groups + 40);
  EXPECT_EQ(on.run->telemetry_counts().lost, 0u);
  ASSERT_EQ(records.size(), static_cast<std::size_t>(epochs + 1) * header.records_per_epoch);
  const std::vector<Looked> looked = look_after_each_epoch(problem, GetParam());
  for (const TelemetryRecord& record : records) {
    if (record.kind() != TelemetryKind::run) continue;
    const Looked& now = looked[(record.seq - 1) / header.records_per_epoch];
    double sum = 0;
    for (const double energy : now.energies) sum += problem.units.energy_of_stored(energy);
    EXPECT_NEAR(record.energy, sum / 40, 1e-9);
    EXPECT_EQ(record.best, problem.units.energy_of_stored(now.best));
  }
}

TEST(RunTelemetry, TheResultEndsWithTheBestThoughItsEpochHasNotEnded) {
  const Problem problem = ising();
  const Planned cut = planned(problem, annealing);
  const std::int64_t sweeps = cut.sweeps_per_epoch() + 3;  // of a tick, too
  const Result result = cut.run->advance_to({.sweeps = sweeps});

  ASSERT_FALSE(result.incumbents.empty());
  EXPECT_EQ(result.incumbents.back().energy, result.energy);
  EXPECT_GE(result.incumbents.back().replica, result.best_replica) << "it was the first";
  EXPECT_LE(result.incumbents.back().sweeps, sweeps);
  EXPECT_LE(cut.run->incumbents().found(), result.incumbents_found);
  EXPECT_EQ(cut.run->telemetry_counts().epochs, 2u);

  std::stop_source stop;
  stop.request_stop();
  const Planned hot = planned(problem, annealing);
  const Result descended = hot.run->advance({}, stop.get_token());
  EXPECT_EQ(descended.incumbents.back().energy, descended.energy);
  EXPECT_EQ(hot.run->incumbents().found(), 1) << "the descent is forgotten";
}

// The part of a tick ends an epoch on the copy that is forgotten.
TEST(RunTelemetry, APartOfATickIsNotRecorded) {
  const Problem problem = ising();
  std::vector<std::uint64_t> steps;
  RunOptions how = options();
  how.telemetry.level = TelemetryLevel::summary;
  how.telemetry.take = [&](std::span<const TelemetryRecord> records) {
    for (const TelemetryRecord& record : records) steps.push_back(record.step);
  };
  const Planned cut = planned(problem, annealing, how);
  ASSERT_GT(cut.run->telemetry_header().sweeps_per_tick, 1u);
  const std::int64_t epoch = cut.sweeps_per_epoch();
  const Result result = cut.run->advance_to({.sweeps = 2 * epoch - 1});
  EXPECT_EQ(result.work.sweeps, 2 * epoch - 1);
  cut.run->advance_to({.sweeps = 2 * epoch});

  const auto length = static_cast<std::uint64_t>(epoch);
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{0, length, 2 * length}));
}

// Two chunks of ticks run while the host sleeps: the ring has room for the records of both.
TEST(RunTelemetry, NoRecordIsLostWhereTheHostIsLate) {
  if (list_devices().size() < 2) GTEST_SKIP() << "the CPU waits for its host";
  constexpr std::int64_t groups = 1000, rungs = 32;
  const Problem problem = make_ising(test::random_ising(64, 4, 3), "ising");
  ParallelTemperingOptions ladder;
  ladder.rungs = rungs;
  ParallelTempering schedule(ladder);
  RunOptions how;
  how.device = "cuda";
  how.replicas = groups * rungs;
  how.telemetry.level = TelemetryLevel::groups;
  how.telemetry.budget_bytes = std::uint64_t{1} << 32;
  int taken = 0;
  how.telemetry.take = [&](std::span<const TelemetryRecord>) {
    if (++taken % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  };
  kiln::Run run(problem, schedule, {.sweeps = 400000}, how, open_backend("cuda", 0));
  const auto sweeps_of_epoch = static_cast<std::int64_t>(run.telemetry_header().ticks_per_epoch *
                                                         run.telemetry_header().sweeps_per_tick);
  run.advance_to({.sweeps = 100 * sweeps_of_epoch});
  const TelemetryCounts counts = run.telemetry_counts();
  EXPECT_GE(counts.epochs, 100u);
  EXPECT_EQ(counts.lost, 0u);
  EXPECT_EQ(counts.records, counts.epochs * (groups + 1));
}

TEST(RunTelemetry, ABudgetThatALevelDoesNotFitTakesTheLevelBelow) {
  const Problem problem = ising();
  const auto level_with = [&](std::uint64_t budget) {
    RunOptions how = options();
    how.telemetry = {TelemetryLevel::replicas, budget, {}};
    return planned(problem, annealing, how).run->telemetry_header().level;
  };
  EXPECT_EQ(level_with(0), TelemetryLevel::off);
  EXPECT_EQ(level_with(128 * 64 + 127), TelemetryLevel::off);
  EXPECT_EQ(level_with(128 * 64 + 128), TelemetryLevel::summary);
  EXPECT_EQ(level_with(128 * 64 * 42 + 128), TelemetryLevel::replicas);
}

}  // namespace
}  // namespace kiln::run_telemetry_test
