// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that are held between two ticks: bits, order, distance in ticks, and pauses.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kiln/commands/command_ring.hpp"
#include "kiln/kiln.hpp"

#include "commanded_run.hpp"
#include "schedule_example.hpp"
#include "whole_run.hpp"

namespace kiln::test::held_run_test {
namespace {

using namespace commands;

TEST(HeldRun, HoldsLeaveTheBitsOfEverySchedule) {
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (entry->few_evaluations) continue;  // each of them waits for models
    SCOPED_TRACE(entry->name);
    const Problem problem = test::example_of(*entry, registry);
    constexpr std::int64_t sweeps = 45;
    const Finished plain = run_to_end(problem, entry->name, {}, options(0), sweeps);
    RunOptions held = with_ring(options(0));
    std::uint64_t posted = 0;
    const Observer disturb([&](const ReportPoint&) {
      for (const CommandKind kind :
           {CommandKind::pause, CommandKind::status, CommandKind::resume}) {
        posted += held.commands.ring->post(kind) == CommandRing::Post::taken ? 1 : 0;
      }
    });
    const Finished again = run_to_end(problem, entry->name, {}, held, sweeps, {disturb});
    // What kernels use on the way follows the launch after a hold.
    const std::string scratch = "scratch.pool.scratch";
    test::expect_same_archives(
        plain.archive, again.archive,
        plain.archive.sections().contains(scratch) ? std::set{scratch} : std::set<std::string>{});
    test::expect_same_numbers(plain.result, again.result);
    EXPECT_GT(again.result.commands.applied, 0u);
    EXPECT_EQ(again.result.commands.refused, 0u);
    // The last ones came when the run had ended.
    EXPECT_LE(posted - again.result.commands.applied, 6u);
  }
}

TEST(HeldRun, AlsoWhereTicksWaitForTheHost) {
  const Problem problem = make_problem(
      make_host_objective("host", Space({{BlockKind::integer, 6, 0, 9}}), [](StateSpan state) {
        double sum = 0;
        for (const std::int32_t x : std::get<std::span<const std::int32_t>>(state[0])) sum += x;
        return sum;
      }));
  const Finished plain = run_to_end(problem, "simulated-annealing", {}, options(8), 40);
  RunOptions held = with_ring(options(8));
  const Observer disturb(
      [&](const ReportPoint&) { held.commands.ring->post(CommandKind::status); });
  const Finished again = run_to_end(problem, "simulated-annealing", {}, held, 40, {disturb});
  test::expect_same_archives(plain.archive, again.archive);
  EXPECT_GE(again.result.commands.applied, 10u);
}

/// Says which tick is under way.
class Ticking final : public Schedule {
 public:
  std::string name() const override { return "ticking"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override { return {}; }
  void allocate(AllocateContext&) override {}
  void enqueue(TickContext& run) override {
    const RunControl& control = *run.control();
    if (control.stop != DeviceStop::none) return;
    begun.store(control.tick + 1, std::memory_order_relaxed);
    // Senders see it before this tick looks whether it is to hold. A processor may else look first.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  std::atomic<std::uint64_t> begun{0};
};

// From two threads, of all kinds that this schedule answers: each once, in the order of its sender,
// and at the end of the tick that it came in or of the next one.
TEST(HeldRun, AMillionCommandsOfTwoSenders) {
  constexpr std::uint64_t each = 500000;
  const Problem problem = spins(8);
  Ticking schedule;
  RunOptions run_options = with_ring(options(32));
  run_options.report_interval_s = 1e6;
  std::uint64_t checkpoints = 0, logged = 0;
  run_options.commands.checkpoint = [&] { ++checkpoints; };
  run_options.commands.log = [&](const LoggedCommand&) { ++logged; };
  CommandRing& ring = *run_options.commands.ring;
  kiln::Run run(problem, schedule, {.sweeps = std::int64_t{1} << 50}, run_options,
                open_backend("cpu", 1));

  struct Sender {
    std::vector<std::uint64_t> told_order, applied_at, seen, refusals;
  };
  Sender senders[2];
  std::atomic<int> done{0};
  std::vector<std::jthread> threads;
  for (std::uint64_t s = 0; s < 2; ++s) {
    threads.emplace_back([&, s](const std::stop_token& stop) {
      Sender& own = senders[s];
      own.applied_at.assign(each, 0);
      own.seen.assign(each, 0);
      own.told_order.assign(each, 0);
      std::mt19937_64 draw(s + 1);
      for (std::uint64_t i = 0; i < each; ++i) {
        Command command;
        command.kind = static_cast<CommandKind>(std::vector<int>{1, 2, 3, 5}[draw() % 4]);
        command.sequence = i;
        const auto told = [&own, i](const CommandOutcome& one) {
          own.told_order[i] = one.order + 1;
          own.applied_at[i] = one.at.tick;
        };
        ASSERT_EQ(ring.post_waiting(sealed(command), stop, {}, told), CommandRing::Post::taken);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // as in Ticking::enqueue()
        own.seen[i] = schedule.begun.load(std::memory_order_relaxed);
      }
      // A pause of the last commands would have no end.
      if (++done < 2) return;
      ring.post_waiting(sealed({.kind = CommandKind::resume}), stop);
      ring.post_waiting(sealed({.kind = CommandKind::stop}), stop);
    });
  }
  const Result result = run.advance();
  threads.clear();

  EXPECT_EQ(result.stop, Stop::interrupted);
  const CommandCounts counts = ring.counts();
  EXPECT_EQ(counts.applied + counts.refused, 2 * each + 2);
  EXPECT_GT(counts.refused, 0u) << "a run that goes on cannot resume";
  EXPECT_GT(checkpoints, each / 10);
  EXPECT_GT(logged, each);
  std::vector<bool> orders(2 * each + 2);
  for (const Sender& one : senders) {
    for (std::uint64_t i = 0; i < each; ++i) {
      ASSERT_GT(one.told_order[i], i > 0 ? one.told_order[i - 1] : 0) << i;
      ASSERT_FALSE(orders[one.told_order[i] - 1]);
      orders[one.told_order[i] - 1] = true;
      // Another sender's pause holds the run where it is.
      ASSERT_LE(one.applied_at[i], one.seen[i] + 1) << i;
    }
  }
}

TEST(HeldRun, APauseTakesNoTimeOfTheRunAndEndsByResume) {
  const Problem problem = spins();
  RunOptions run_options = with_ring(options());
  run_options.report_interval_s = 0.01;
  std::atomic<bool> paused{false};
  std::vector<bool> shown;
  const Observer look([&](const ReportPoint& point) {
    if (!shown.empty() && shown.back() == point.paused) return;
    shown.push_back(point.paused);
    if (point.paused) paused = true;
  });
  std::jthread user([&](const std::stop_token& stop) {
    run_options.commands.ring->post(CommandKind::pause);
    while (!paused && !stop.stop_requested()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    run_options.commands.ring->post(CommandKind::resume);
  });
  SimulatedAnnealing schedule;
  kiln::Run run(problem, schedule, {.time_limit_s = 0.2}, run_options, open_backend("cpu", 1));
  const auto begin = std::chrono::steady_clock::now();
  const Result result = run.advance({look});
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_GE(all.count(), 0.55);
  EXPECT_LE(result.time.run_s, all.count() - 0.35);
  EXPECT_EQ(result.commands, (CommandCounts{2, 0}));
  EXPECT_NE(std::ranges::find(shown, true), shown.end());
  EXPECT_FALSE(shown.back());
}

TEST(HeldRun, AnInterruptionEndsAPause) {
  const Problem problem = spins();
  const RunOptions run_options = with_ring(options());
  run_options.commands.ring->post(CommandKind::pause);
  std::stop_source stop;
  const Observer look([&](const ReportPoint& point) {
    if (point.paused) stop.request_stop();
  });
  SimulatedAnnealing schedule;
  kiln::Run run(problem, schedule, {.sweeps = 1000000}, run_options, open_backend("cpu", 1));
  const Result result = run.advance({look}, stop.get_token());
  EXPECT_EQ(result.stop, Stop::interrupted);
  // The next call is none of a paused run.
  EXPECT_EQ(run.advance_to({.sweeps = 200}).stop, Stop::sweep_limit);
}

TEST(HeldRun, ACommandThatCannotBeReadIsCountedAndTheRunGoesOn) {
  const Problem problem = spins();
  RunOptions run_options = with_ring(options());
  Command damaged = sealed({.kind = CommandKind::stop});
  damaged.checksum ^= 1;
  Command newer = sealed({.version = 2, .kind = CommandKind::stop});
  std::vector<std::string> reasons;
  for (const Command& one : {damaged, newer}) {
    run_options.commands.ring->post(
        one, {}, [&](const CommandOutcome& outcome) { reasons.push_back(outcome.reason); });
  }
  const Finished finished = run_to_end(problem, "simulated-annealing", {}, run_options, 64);
  EXPECT_EQ(finished.result.work.sweeps, 64);
  EXPECT_EQ(finished.result.commands, (CommandCounts{0, 2}));
  EXPECT_EQ(reasons, (std::vector<std::string>{"its checksum is wrong",
                                               "it has version 2; this run reads version 1"}));
}

TEST(HeldRun, ACheckpointHasTheBitsOfTheTick) {
  const Problem problem = spins();
  const std::unique_ptr<Schedule> made =
      builtin_registry().schedule("parallel-tempering").make(ladder);
  RunOptions run_options = with_ring(options());
  kiln::Run* running = nullptr;
  Archive kept;
  HoldPoint at;
  run_options.commands.checkpoint = [&] { running->save(kept); };
  kiln::Run run(problem, *made, {.sweeps = 60}, run_options, open_backend("cpu", 1));
  running = &run;
  bool posted = false;
  const Observer look([&](const ReportPoint& point) {
    if (posted || point.sweeps < 20) return;
    posted = true;
    run_options.commands.ring->post(CommandKind::checkpoint, {},
                                    [&](const CommandOutcome& one) { at = one.at; });
  });
  run.advance({look});
  ASSERT_GT(at.sweeps, 0);
  ASSERT_LT(at.sweeps, 60);
  Archive end, same;
  run.save(end);
  const auto other = builtin_registry().schedule("parallel-tempering").make(ladder);
  kiln::Run again(problem, *other, {.sweeps = 60}, options(), open_backend("cpu", 1));
  again.load(kept);
  again.advance();
  again.save(same);
  test::expect_same_archives(end, same);
}

}  // namespace
}  // namespace kiln::test::held_run_test
