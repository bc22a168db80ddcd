// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player posts behind a chunk: the summary that a loop has written in its launch, or one
// that the host launches.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "executors/tick_player.hpp"
#include "played_run.hpp"

namespace kiln::test::loop_summary_test {
namespace {

using played_run::advance;
using played_run::PlayedRun;

// Nothing is launched beside the loop: what it hands over and its summary are a part of it.
TEST(LoopSummary, LaunchesAChunkOfTheLoopAtOnce) {
  PlayedRun run(Executor::loop, 64);
  advance(run, 2, {30e-6, 30e-6});
  for (int i = 0; i < 20; ++i) {
    const Counters before = run.queue.counters();
    const std::uint64_t handed_over = run.handed_over;
    run.play(run.player->chunk({run.first, 2, 0.1, 1e8}));
    const Counters used = run.queue.counters() - before;
    EXPECT_EQ(used.launches, 0u);
    EXPECT_EQ(used.graph_launches, 1u);
    EXPECT_EQ(run.handed_over - handed_over, 1u);
  }
}

// A loop that does not begin is one, too.
TEST(LoopSummary, SummarisesALoopOfAStoppedRun) {
  PlayedRun run(Executor::loop, 64);
  advance(run, 1, {30e-6, 30e-6});
  run.stop_at = run.control.tick + 1;
  const std::uint64_t loops = run.queue.loops;
  for (int i = 0; i < 4; ++i) run.play(run.player->chunk({run.first, 1, 0.1, 1e8}));
  EXPECT_EQ(run.queue.loops, loops + 4);
  EXPECT_EQ(run.control.tick, run.stop_at);
}

// Ticks behind a loop are not in its summary: the host launches another one.
TEST(LoopSummary, SummarisesTheTicksBehindALoop) {
  PlayedRun run(Executor::loop, 64);
  advance(run, 2, {30e-6, 30e-6});
  const std::int64_t count = run.player->chunk({run.first, 2, 0.1, 1e8}) + 1;
  const std::uint64_t loops = run.queue.loops, launches = run.queue.counters().launches;
  run.play(count);
  EXPECT_EQ(run.queue.loops, loops + 1);
  EXPECT_EQ(run.queue.counters().launches, launches + 2);
}

// The host looks at a chunk when the next one has been launched.
TEST(LoopSummary, KeepsTwoSummariesApart) {
  PlayedRun run(Executor::loop, 64);
  advance(run, 1, {30e-6, 30e-6});
  std::deque<std::uint64_t> ticks;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t count = run.player->chunk({run.first, 1, 0.1, 1e8});
    run.player->play(run.first, count, true);
    run.player->hand_over();
    run.first += static_cast<std::uint64_t>(count);
    ticks.push_back(run.control.tick);
    if (ticks.size() < 2) continue;
    EXPECT_EQ(run.queue.wait_summary().control.tick, ticks.front());
    ticks.pop_front();
  }
}

}  // namespace
}  // namespace kiln::test::loop_summary_test
