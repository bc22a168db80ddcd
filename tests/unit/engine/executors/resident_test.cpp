// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose launches make several ticks: what a launch may hold, and when `auto` takes them.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "kiln/errors.hpp"

#include "executors/tick_player.hpp"
#include "played_run.hpp"

namespace kiln::test::resident_test {
namespace {

using played_run::advance;
using played_run::expect_whole;
using played_run::PlayedRun;
using played_run::TickTimes;

constexpr played_run::Setting merges{.merges = true};

TEST(Resident, MakesEachTickAndEndsEachEpochOnce) {
  for (const Executor executor : {Executor::resident, Executor::automatic}) {
    for (const std::uint64_t epoch : {2, 4, 64, 512}) {
      for (const std::uint64_t interval : {0, 1, 3, 8, 10, 512}) {
        for (const double tick_s : {3e-6, 30e-6, 150e-6, 2e-3}) {
          if (executor == Executor::resident && interval % 2 == 1) continue;
          SCOPED_TRACE(std::string(to_string(executor)) + " " + std::to_string(epoch) + " " +
                       std::to_string(interval) + " " + std::to_string(tick_s));
          PlayedRun run(executor, epoch, {.merges = true, .interval = interval});
          advance(run, 2, {tick_s, 0.9 * tick_s, 0.8 * tick_s});
          expect_whole(run, epoch);
          EXPECT_EQ(run.enqueued, run.first);
          EXPECT_EQ(run.wrong_places, 0u);
          EXPECT_EQ(run.skipped_begins, 0u);
          const bool merged = interval % 2 == 0 &&
                              (executor == Executor::resident ? tick_s < 2e-3 : tick_s < 200e-6);
          if (merged) {
            EXPECT_GE(run.merged, run.first / 4);
          }
        }
      }
    }
  }
}

// Where a run is cut, the next chunk begins anywhere.
TEST(Resident, BeginsAnywhere) {
  std::mt19937_64 random(6);
  for (const std::uint64_t epoch : {2, 16, 128}) {
    for (const std::uint64_t interval : {0, 4, 6, 64}) {
      PlayedRun run(Executor::resident, epoch, {.merges = true, .interval = interval});
      advance(run, 1, {20e-6, 0, 20e-6});
      for (int i = 0; i < 300; ++i) run.play(1 + static_cast<std::int64_t>(random() % 3000));
      expect_whole(run, epoch);
      EXPECT_EQ(run.wrong_places, 0u);
      EXPECT_EQ(run.skipped_begins, 0u);
      EXPECT_GT(run.merged, 0u);
    }
  }
}

TEST(Resident, KeepsALaunchToTwoMilliseconds) {
  for (const double tick_s : {0.3e-6, 2e-6, 30e-6, 150e-6, 900e-6}) {
    PlayedRun run(Executor::resident, 8192, merges);
    advance(run, 3, {tick_s, 0, tick_s});
    EXPECT_LE(static_cast<double>(run.longest) * tick_s, 2e-3) << tick_s;
    EXPECT_GE(static_cast<double>(run.longest) * tick_s, std::min(1e-3, 8191 * tick_s)) << tick_s;
  }
}

TEST(Resident, AsksOtherExecutorsForOneTick) {
  for (const Executor executor : {Executor::stream, Executor::graph, Executor::loop}) {
    PlayedRun run(executor, 64, merges);
    advance(run, 1, {30e-6, 30e-6, 30e-6});
    EXPECT_EQ(run.asked, 1) << to_string(executor);
    EXPECT_EQ(run.merged, 0u) << to_string(executor);
  }
}

// All ticks that are enqueued behind a stop do nothing, those of the same launch included.
TEST(Resident, StopsWithinALaunch) {
  PlayedRun run(Executor::resident, 64, merges);
  run.stop_at = 40001;
  advance(run, 1.5, {30e-6, 0, 30e-6});
  EXPECT_EQ(run.control.tick, 40001u);
  EXPECT_EQ(run.enqueued, run.first);
}

TEST(Resident, LaunchesSeldom) {
  for (const double tick_s : {8e-6, 30e-6, 90e-6, 180e-6}) {
    PlayedRun run(Executor::resident, 64, merges);
    advance(run, 2, {tick_s, 0, tick_s});
    const std::uint64_t before = run.launches();
    double seconds = 0;
    while (seconds < 5) {
      const std::int64_t count = run.player->chunk({run.first, 2 + seconds, 0.1, 1e8});
      run.play(count);
      seconds += tick_s * static_cast<double>(count);
    }
    EXPECT_GE(seconds / static_cast<double>(run.launches() - before), 0.01) << tick_s;
  }
}

std::string refusal_of(std::uint64_t epoch, const played_run::Setting& setting) {
  try {
    PlayedRun(Executor::resident, epoch, setting);
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "executor.resident");
    EXPECT_EQ(error.fix_steps().steps().front().code, FixCode::use_executor);
    return error.message();
  }
  return "none";
}

TEST(Resident, IsRefusedBeforeTheFirstTick) {
  EXPECT_EQ(refusal_of(64, merges), "none");
  EXPECT_EQ(refusal_of(64, {.merges = true, .interval = 4}), "none");
  const std::string message = "executor resident does not apply to this run: ";
  EXPECT_EQ(refusal_of(64, {}).substr(0, message.size() + 10), message + "one by one");
  EXPECT_EQ(refusal_of(64, {.merges = true, .interval = 3}).substr(0, message.size()), message);
  EXPECT_EQ(refusal_of(1, merges).substr(0, message.size() + 13), message + "its telemetry");
}

// Later that would lose what the run has found.
TEST(Resident, IsNotRefusedWhenTicksBecomeOthers) {
  bool single = false;
  PlayedRun run(Executor::resident, 64, {.merges = true, .single = &single});
  advance(run, 1, {30e-6, 0, 30e-6});
  run.player->drop();
  single = true;
  run.touch_and_capture();
  const std::uint64_t merged = run.merged;
  advance(run, 1, {30e-6, 0, 30e-6});
  expect_whole(run, 64);
  EXPECT_EQ(run.merged, merged);
  EXPECT_EQ(run.player->choice().executor, Executor::resident);
}

struct Trial {
  TickTimes times;
  Executor chosen;
};

TEST(Resident, IsChosenWhereItIsFaster) {
  const Trial trials[] = {
      {{30e-6, 28e-6, 20e-6}, Executor::resident}, {{30e-6, 33e-6, 29.6e-6}, Executor::resident},
      {{30e-6, 33e-6, 29.8e-6}, Executor::graph},  {{30e-6, 28e-6, 27.9e-6}, Executor::loop},
      {{30e-6, 28e-6, 29e-6}, Executor::loop},     {{30e-6, 29.9e-6, 40e-6}, Executor::graph}};
  for (const auto& [times, chosen] : trials) {
    PlayedRun run(Executor::automatic, 64, merges);
    advance(run, 3, times, 3);
    const ExecutorChoice choice = run.player->choice();
    EXPECT_EQ(choice.executor, chosen) << choice.reason;
    EXPECT_DOUBLE_EQ(choice.graph_tick_s, times.graph);
    EXPECT_DOUBLE_EQ(choice.loop_tick_s, times.loop);
    EXPECT_DOUBLE_EQ(choice.resident_tick_s, times.resident);
    const std::uint64_t merged = run.merged, loops = run.queue.loops;
    run.play(1 << 14);
    EXPECT_EQ(run.merged > merged, chosen == Executor::resident);
    EXPECT_EQ(run.queue.loops > loops, chosen == Executor::loop);
    expect_whole(run, 64);
  }
}

TEST(Resident, SaysWhatWasMeasured) {
  PlayedRun all(Executor::automatic, 64, merges),
      no_loop(Executor::automatic, 64, {.loops = false, .merges = true}),
      neither(Executor::automatic, 64, {.loops = false}), brief(Executor::automatic, 64, merges),
      briefer(Executor::automatic, 64, merges);
  advance(all, 3, {30e-6, 28e-6, 20e-6});
  advance(no_loop, 3, {30e-6, 0, 20e-6});
  advance(neither, 3, {30e-6, 0, 20e-6});
  advance(brief, 0.85, {30e-6, 28e-6, 20e-6});
  advance(briefer, 0.3, {30e-6, 28e-6, 20e-6});
  EXPECT_EQ(all.player->choice().reason,
            "a tick took 20 us by resident, 28 us by loop and 30 us by graph");
  EXPECT_EQ(no_loop.player->choice().reason, "a tick took 20 us by resident and 30 us by graph");
  EXPECT_EQ(no_loop.player->choice().executor, Executor::resident);
  EXPECT_EQ(neither.player->choice().reason, "no loops here");
  EXPECT_EQ(neither.player->choice().executor, Executor::graph);
  EXPECT_EQ(brief.player->choice().reason, "a tick took 28 us by loop and 30 us by graph");
  EXPECT_EQ(brief.player->choice().executor, Executor::loop);
  EXPECT_GT(brief.merged, 0u) << "ends while resident graphs are measured";
  EXPECT_EQ(briefer.player->choice().reason, "the run ended before the loop was measured");
}

// Chunks of three ticks are too short for graphs of several, and begin anywhere.
TEST(Resident, IsNotMeasuredByTicksOfAnotherExecutor) {
  for (const double tick_s : {25e-6, 26e-6, 27e-6, 28e-6, 29e-6, 30e-6, 31e-6, 32e-6}) {
    PlayedRun run(Executor::automatic, 64, merges);
    advance(run, 0.3, {tick_s, 0.9 * tick_s, 0.5 * tick_s}, 0, 3);
    EXPECT_EQ(run.asked_for_several, 1u);
    EXPECT_EQ(run.player->choice().resident_tick_s, 0);
    EXPECT_EQ(run.wrong_places, 0u);
    expect_whole(run, 64);
  }
}

// One tick of each run finds that out.
TEST(Resident, IsTriedOnceWhereItDoesNotApply) {
  for (const std::uint64_t interval : {0, 1, 5}) {
    PlayedRun run(Executor::automatic, 64, {.merges = interval > 0, .interval = interval});
    advance(run, 3, {30e-6, 28e-6, 20e-6});
    EXPECT_EQ(run.player->choice().reason, "a tick took 28 us by loop and 30 us by graph");
    EXPECT_EQ(run.player->choice().executor, Executor::loop);
    EXPECT_EQ(run.asked_for_several, 1u);
    EXPECT_EQ(run.merged, 0u);
    expect_whole(run, 64);
  }
}

}  // namespace
}  // namespace kiln::test::resident_test
