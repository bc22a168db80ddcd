// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What commands do to a run, and that a repeat with their log does it again.
#include "commanded_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

#include "whole_run.hpp"

namespace kiln::test::commanded_run_test {
namespace {

using namespace commands;

TEST(CommandedRun, ARepeatWithTheLogHasTheSameBits) {
  const Problem problem = spins();
  Script script;
  script.at[2] = {CommandKind::inject, {{}, {state_of(problem, 1), state_of(problem, -1)}}};
  script.at[3] = {CommandKind::temperatures, {{5.0, 2.0, 1.0, 0.1}, {}}};
  script.at[4] = {CommandKind::temperatures, {{4.0, 3.0, 2.0, 1.0}, {}}};
  const Finished first = script.play(problem, "parallel-tempering", ladder, options(), 2000);
  ASSERT_EQ(script.outcomes.size(), 3u);
  for (const CommandOutcome& one : script.outcomes) EXPECT_TRUE(one.applied) << one.reason;
  ASSERT_EQ(script.log.size(), 3u);
  EXPECT_LT(script.log[0].at.tick, script.log[1].at.tick);

  const Finished again = repeat(problem, "parallel-tempering", ladder, options(), 2000, script.log);
  test::expect_same_archives(first.archive, again.archive);
  test::expect_same_numbers(first.result, again.result);
  EXPECT_EQ(again.result.commands.applied, 3u);

  const Finished plain = run_to_end(problem, "parallel-tempering", ladder, options(), 2000);
  EXPECT_NE(first.archive.sections().at("batch.accepted"),
            plain.archive.sections().at("batch.accepted"));
  script.log.pop_back();
  const Finished less = repeat(problem, "parallel-tempering", ladder, options(), 2000, script.log);
  EXPECT_NE(first.archive.sections().at("batch.accepted"),
            less.archive.sections().at("batch.accepted"))
      << "a command that is missing in the log is noticed";
}

TEST(CommandedRun, ARepeatOneTickLateIsNoticed) {
  const Problem problem = spins();
  Script script;
  script.at[2] = {CommandKind::inject, {{}, {state_of(problem, 1)}}};
  const Finished first = script.play(problem, "simulated-annealing", {}, options(), 80);
  ASSERT_EQ(script.log.size(), 1u);
  const Finished again = repeat(problem, "simulated-annealing", {}, options(), 80, script.log);
  test::expect_same_archives(first.archive, again.archive);
  ++script.log.front().at.tick;
  const Finished late = repeat(problem, "simulated-annealing", {}, options(), 80, script.log);
  EXPECT_NE(first.archive.sections().at("batch.accepted"),
            late.archive.sections().at("batch.accepted"));
}

TEST(CommandedRun, ARepeatStopsWhereTheRunWasStopped) {
  const Problem problem = spins();
  Script script;
  script.at[3] = {CommandKind::stop, {}};
  const Finished first = script.play(problem, "parallel-tempering", ladder, options(), 2000);
  EXPECT_EQ(first.result.stop, Stop::interrupted);
  const Finished again = repeat(problem, "parallel-tempering", ladder, options(), 2000, script.log);
  test::expect_same_archives(first.archive, again.archive);
  EXPECT_EQ(again.result.stop, Stop::interrupted);
  EXPECT_LT(again.result.work.sweeps, 2000);
}

TEST(CommandedRun, ABetterStateThatIsInjectedIsTheResult) {
  const Problem problem = spins();
  const Finished found = run_to_end(problem, "parallel-tempering", ladder, options(256), 400);
  const Texts hot{{"beta_min", "1e-6"}, {"beta_max", "1e-6"}, {"polish_sweeps", "0"}};
  const Finished without = run_to_end(problem, "simulated-annealing", hot, options(), 64);
  ASSERT_GT(without.result.energy, found.result.energy);
  Script script;
  script.at[1] = {CommandKind::inject, {{}, {found.result.solution}}};
  const Finished with = script.play(problem, "simulated-annealing", hot, options(), 64);
  EXPECT_EQ(with.result.energy, found.result.energy);
  EXPECT_EQ(with.result.solution, found.result.solution);
  EXPECT_TRUE(with.result.verified);
  EXPECT_FALSE(with.result.incumbents.empty());
  EXPECT_EQ(with.result.incumbents.back().energy, found.result.energy);
}

// What the rungs then hold is what those of a run hold that began with these temperatures: sums of
// the former ones are gone. Ladders one by one, and in blocks of 32.
TEST(CommandedRun, TemperaturesThatAreSetAreThoseOfTheRungs) {
  const Problem problem = spins();
  for (const std::int64_t replicas : {64, 128}) {
    Script script;
    script.at[3] = {CommandKind::temperatures, {{50.0, 25.0, 12.5, 6.25}, {}}};
    const Finished set =
        script.play(problem, "parallel-tempering", ladder, options(replicas), 6000);
    ASSERT_TRUE(script.outcomes.front().applied) << script.outcomes.front().reason;
    const Texts list{{"ladder", "list"}, {"betas", "0.02,0.04,0.08,0.16"}};
    const Finished begun = run_to_end(problem, "parallel-tempering", list, options(replicas), 6000);
    EXPECT_EQ(set.result.series.at("beta"), (std::vector<double>{0.02, 0.04, 0.08, 0.16}));
    EXPECT_EQ(set.result.diagnostics.at("adapted"), 1);
    for (std::size_t rung = 0; rung < 4; ++rung) {
      // 16 ladders of 6000 sweeps: the deviation of a mean is below a 50th of that of an energy.
      const double deviation = begun.result.series.at("energy_deviation")[rung];
      EXPECT_NEAR(set.result.series.at("mean_energy")[rung],
                  begun.result.series.at("mean_energy")[rung], 0.1 * deviation)
          << rung;
      EXPECT_NEAR(set.result.series.at("energy_deviation")[rung], deviation, 0.1 * deviation);
    }
    for (std::size_t gap = 0; gap < 3; ++gap) {
      EXPECT_NEAR(set.result.series.at("rejection")[gap], begun.result.series.at("rejection")[gap],
                  0.02);
    }
  }
}

// Both commands are obeyed at one hold, so that the energies before and after are known.
TEST(CommandedRun, AStateTakesThePlaceOfTheWorst) {
  const Problem problem = spins();
  RunOptions as_first = options(40);
  as_first.initial_states = {state_of(problem, 1)};
  SimulatedAnnealing unused;
  kiln::Run fresh(problem, unused, {.sweeps = 160}, as_first, open_backend("cpu", 1));
  const double energy = fresh.batch().read_energies(false).front();

  SimulatedAnnealing schedule;
  const RunOptions run_options = with_ring(options(40));
  kiln::Run run(problem, schedule, {.sweeps = 160}, run_options, open_backend("cpu", 1));
  std::vector<double> before, after;
  std::vector<State> states;
  run_options.commands.ring->post(CommandKind::status, {}, [&](const CommandOutcome&) {
    before = run.batch().read_energies(false);
  });
  run_options.commands.ring->post(
      CommandKind::inject, {{}, {state_of(problem, 1)}}, [&](const CommandOutcome& one) {
        EXPECT_TRUE(one.applied) << one.reason;
        after = run.batch().read_energies(false);
        const auto worst = std::max_element(before.begin(), before.begin() + 40) - before.begin();
        states = run.batch().read_states({worst, worst == 0 ? 1 : 0}, false);
      });
  run.advance_to({.sweeps = 16});
  ASSERT_EQ(before.size(), after.size());
  const auto worst = std::max_element(before.begin(), before.begin() + 40) - before.begin();
  before[static_cast<std::size_t>(worst)] = energy;
  EXPECT_EQ(before, after);
  EXPECT_EQ(states.front(), state_of(problem, 1));
  EXPECT_NE(states.back(), state_of(problem, 1));
}

std::string refusal(const std::string& schedule, const Problem& problem, CommandKind kind,
                    const CommandData& data) {
  Script script;
  script.at[0] = {kind, data};
  script.play(problem, schedule, {}, options(), 64);
  if (script.outcomes.size() != 1) return "no outcome";
  EXPECT_FALSE(script.outcomes.front().applied);
  EXPECT_EQ(script.log.size(), 1u);
  EXPECT_FALSE(script.log.front().applied);
  return script.outcomes.front().reason;
}

TEST(CommandedRun, TellsWhoeverWaitsThoughTheLogFails) {
  RunOptions failing = with_ring(options());
  failing.commands.log = [](const LoggedCommand&) { throw std::runtime_error("no room"); };
  int told = 0;
  failing.commands.ring->post(CommandKind::pause, {}, [&](const CommandOutcome& one) {
    EXPECT_TRUE(one.applied);
    ++told;
  });
  EXPECT_THROW(run_to_end(spins(), "simulated-annealing", {}, failing, 80), std::runtime_error);
  EXPECT_EQ(told, 1);
}

TEST(CommandedRun, KeepsNoDataOfARefusal) {
  const Problem problem = spins();
  Script script;
  script.at[2] = {CommandKind::inject, {{}, {State{std::vector<std::int8_t>(3, 1)}}}};
  script.play(problem, "simulated-annealing", {}, options(), 80);
  ASSERT_EQ(script.log.size(), 1u);
  EXPECT_FALSE(script.log.front().applied);
  EXPECT_TRUE(script.log.front().data.states.empty());
}

TEST(CommandedRun, SaysWhyItRefusesACommand) {
  const Problem problem = spins();
  EXPECT_EQ(refusal("simulated-annealing", problem, CommandKind::resume, {}),
            "the run is not paused, so it goes on anyway");
  EXPECT_EQ(refusal("simulated-annealing", problem, CommandKind::checkpoint, {}),
            "this run keeps no checkpoints");
  EXPECT_EQ(refusal("simulated-annealing", problem, CommandKind::temperatures, {{1.0}, {}}),
            "schedule 'simulated-annealing' takes no temperatures while it runs; "
            "expected a ladder of fixed temperatures, as parallel tempering has");
  EXPECT_EQ(refusal("parallel-tempering", problem, CommandKind::temperatures, {{1.0, -1.0}, {}}),
            "a temperature is not above 0 and finite; expected numbers in the unit of the energy");
  EXPECT_EQ(refusal("parallel-tempering", problem, CommandKind::temperatures, {{1.0}, {}}),
            "parallel-tempering takes one temperature for each of its 8 rungs, and 1 was given; "
            "expected the hottest first");
  EXPECT_EQ(
      refusal("population-annealing", problem, CommandKind::inject, {{}, {state_of(problem, 1)}}),
      "schedule 'population-annealing' takes no states while it runs; expected "
      "simulated annealing or parallel tempering");
  EXPECT_EQ(refusal("simulated-annealing", problem, CommandKind::inject, {}), "no state was given");
  EXPECT_EQ(refusal("simulated-annealing", problem, CommandKind::inject,
                    {{}, {State{std::vector<std::int8_t>(3, 1)}}}),
            "a block of a state has 3 values instead of 60");
}

}  // namespace
}  // namespace kiln::test::commanded_run_test
