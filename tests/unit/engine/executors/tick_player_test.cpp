// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player enqueues, by a queue that executes captures in its own way: each tick once and in
// order, each epoch at its end, and nothing after a stop where the device repeats ticks.
#include "executors/tick_player.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "kiln/errors.hpp"

#include "played_run.hpp"

namespace kiln::test::tick_player_test {
namespace {

using played_run::advance;
using played_run::expect_whole;
using played_run::PlayedRun;

TEST(TickPlace, SaysWhereAMultipleMayBe) {
  for (std::uint64_t modulus : {1, 2, 8, 64, 0}) {
    for (std::uint64_t number = 0; number < (modulus == 0 ? 100 : modulus); ++number) {
      for (std::uint64_t ticks = 1; ticks < 20; ++ticks) {
        bool expected = false;
        for (std::uint64_t tick = number; tick < 5000; tick += modulus == 0 ? 5000 : modulus) {
          expected |= tick % ticks == 0;
        }
        EXPECT_EQ((TickPlace{number, modulus}.may_be_multiple_of(ticks)), expected)
            << number << " modulo " << modulus << ", " << ticks;
        std::uint64_t until = 1;
        const auto after = [&] {
          const std::uint64_t then = number + until;
          return TickPlace{modulus == 0 ? then : then % modulus, modulus};
        };
        while (!after().may_be_multiple_of(ticks)) ++until;
        EXPECT_EQ((TickPlace{number, modulus}.until_multiple_of(ticks)), until)
            << number << " modulo " << modulus << ", " << ticks;
      }
    }
  }
}

TEST(TickPlayer, EnqueuesEachTickAndEachEpochOnce) {
  for (const Executor executor : {Executor::graph, Executor::loop, Executor::automatic}) {
    for (const std::uint64_t epoch : {1, 4, 64, 512}) {
      for (const double tick_s : {3e-6, 30e-6, 150e-6, 2e-3}) {
        SCOPED_TRACE(std::string(to_string(executor)) + " " + std::to_string(epoch) + " " +
                     std::to_string(tick_s));
        PlayedRun run(executor, epoch);
        advance(run, 2, {tick_s, 0.9 * tick_s});
        expect_whole(run, epoch);
        EXPECT_EQ(run.enqueued, run.first);
        EXPECT_EQ(run.wrong_places, 0u);
        if (tick_s < 1e-3) {
          EXPECT_GE(run.known_places, run.first / 2);
        }
      }
    }
  }
}

// Where a run is cut, the next chunk begins anywhere.
TEST(TickPlayer, BeginsAnywhere) {
  std::mt19937_64 random(5);
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    for (const std::uint64_t epoch : {2, 16, 128}) {
      PlayedRun run(executor, epoch);
      advance(run, 1, {20e-6, 20e-6});
      for (int i = 0; i < 300; ++i) run.play(1 + static_cast<std::int64_t>(random() % 3000));
      expect_whole(run, epoch);
      EXPECT_EQ(run.wrong_places, 0u);
    }
  }
}

TEST(TickPlayer, EnqueuesFewTicksAfterAStop) {
  PlayedRun loop(Executor::loop, 64), graph(Executor::graph, 64);
  loop.stop_at = graph.stop_at = 40000;
  advance(loop, 1.5, {30e-6, 30e-6});
  advance(graph, 1.5, {30e-6, 30e-6});
  EXPECT_EQ(loop.control.tick, 40000u);
  EXPECT_EQ(graph.control.tick, 40000u);
  // An iteration has up to 512 ticks of about a millisecond together.
  EXPECT_LE(loop.enqueued, 40000u + 1e-3 / 30e-6 * 2);
  EXPECT_EQ(graph.enqueued, graph.first);
}

// At most one launch for 10 ms, 90 ms where the device repeats ticks, once ticks are known, with
// what a chunk hands over to the host: a chunk takes 100 ms, and is one launch of a loop.
TEST(TickPlayer, LaunchesSeldom) {
  struct Floor {
    Executor executor;
    double s;
  };
  for (const Floor floor : {Floor{Executor::graph, 0.01}, Floor{Executor::loop, 0.09}}) {
    for (const double tick_s : {8e-6, 30e-6, 90e-6, 180e-6, 700e-6}) {
      SCOPED_TRACE(std::string(to_string(floor.executor)) + " " + std::to_string(tick_s));
      PlayedRun run(floor.executor, 64);
      advance(run, 2, {tick_s, tick_s});
      const std::uint64_t before = run.launches(), first = run.first;
      double seconds = 0;
      while (seconds < 5) {
        const std::int64_t count = run.player->chunk({run.first, 2 + seconds, 0.1, 1e8});
        run.play(count);
        seconds += tick_s * static_cast<double>(count);
      }
      const auto launches = static_cast<double>(run.launches() - before);
      EXPECT_GE(seconds / launches, floor.s) << run.first - first << " ticks";
    }
  }
}

// The records of telemetry bound a chunk, to a number that is no multiple of the ticks of a graph.
TEST(TickPlayer, LaunchesSeldomInBoundedChunks) {
  constexpr double tick_s = 31.7e-6;
  constexpr std::int64_t max_ticks = 1650;
  PlayedRun run(Executor::graph, 64);
  advance(run, 2, {tick_s, tick_s});
  const std::uint64_t before = run.launches();
  double seconds = 0;
  while (seconds < 5) {
    const std::int64_t count = run.player->chunk({run.first, 2 + seconds, 0.1, 1e8, max_ticks});
    ASSERT_LE(count, max_ticks);
    run.play(count);
    seconds += tick_s * static_cast<double>(count);
  }
  EXPECT_GE(seconds / static_cast<double>(run.launches() - before), 0.01);
}

TEST(TickPlayer, ChoosesTheFaster) {
  PlayedRun faster(Executor::automatic, 64), slower(Executor::automatic, 64),
      equal(Executor::automatic, 64);
  advance(faster, 2, {30e-6, 28e-6});
  advance(slower, 2, {30e-6, 33e-6});
  advance(equal, 2, {30e-6, 29.9e-6});
  EXPECT_EQ(faster.player->choice().executor, Executor::loop);
  EXPECT_EQ(faster.player->choice().reason, "a tick took 28 us by loop and 30 us by graph");
  EXPECT_DOUBLE_EQ(faster.player->choice().graph_tick_s, 30e-6);
  EXPECT_DOUBLE_EQ(faster.player->choice().loop_tick_s, 28e-6);
  EXPECT_EQ(slower.player->choice().executor, Executor::graph);
  EXPECT_EQ(equal.player->choice().executor, Executor::graph) << "within a percent";
}

// Commands act sooner there, which is worth a percent.
TEST(TickPlayer, ChoosesTheLoopForARunThatIsTold) {
  PlayedRun equal(Executor::automatic, 64, {.is_told = true}),
      slower(Executor::automatic, 64, {.is_told = true});
  advance(equal, 2, {30e-6, 30.2e-6});
  advance(slower, 2, {30e-6, 30.4e-6});
  EXPECT_EQ(equal.player->choice().executor, Executor::loop);
  EXPECT_EQ(slower.player->choice().executor, Executor::graph);
}

// Where a graph follows a loop the host waits in the launch, and sees the end of a chunk late.
TEST(TickPlayer, DoesNotCountTheChangeToTheLoop) {
  PlayedRun run(Executor::automatic, 64);
  advance(run, 2, {30e-6, 28e-6}, 3);
  EXPECT_EQ(run.player->choice().executor, Executor::loop);
  EXPECT_DOUBLE_EQ(run.player->choice().loop_tick_s, 28e-6);
}

TEST(TickPlayer, SaysWhyItDidNotChoose) {
  PlayedRun brief(Executor::automatic, 64), long_ticks(Executor::automatic, 64),
      refused(Executor::automatic, 64, {.loops = false});
  advance(brief, 0.05, {30e-6, 30e-6});
  advance(long_ticks, 2, {1e-3, 1e-3});
  advance(refused, 2, {30e-6, 30e-6});
  EXPECT_EQ(brief.player->choice().reason, "the run ended before the loop was measured");
  EXPECT_EQ(long_ticks.player->choice().reason,
            "a tick takes 1 ms, beside which its launches do not count");
  EXPECT_EQ(refused.player->choice().reason, "no loops here");
  for (const PlayedRun* run : {&brief, &long_ticks, &refused}) {
    EXPECT_EQ(run->player->choice().executor, Executor::graph);
  }
  EXPECT_THROW(PlayedRun(Executor::loop, 64, {.loops = false}), InvalidArgument);
}

// Or to 10 ms, if that is more.
TEST(TickPlayer, KeepsToTheIntervalOfReports) {
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    for (const double interval_s : {0.0, 0.02, 0.05}) {
      PlayedRun run(executor, 64);
      advance(run, 1, {30e-6, 30e-6});
      const std::int64_t count = run.player->chunk({run.first, 1, interval_s, 1e8});
      const double ratio = 30e-6 * static_cast<double>(count) / std::max(interval_s, 0.01);
      EXPECT_LE(ratio, 1.5) << interval_s;
      EXPECT_GE(ratio, 0.5) << interval_s;
    }
  }
}

// Two chunks are under way when a limit comes.
TEST(TickPlayer, KeepsToATimeLimit) {
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    PlayedRun run(executor, 64);
    advance(run, 1, {30e-6, 30e-6});
    for (const double left_s : {0.05, 1e-3, 1e-4, 0.0, -1.0}) {
      const std::int64_t count = run.player->chunk({run.first, 1, 0.1, left_s / 2});
      EXPECT_LE(static_cast<double>(count) * 30e-6, std::max(left_s / 2, 30e-6)) << left_s;
      EXPECT_GE(count, 1);
    }
  }
}

}  // namespace
}  // namespace kiln::test::tick_player_test
