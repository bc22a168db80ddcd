// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What kiln bench commands makes of the answers of a run, by a run whose times are known.
#include "bench/commands/single_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kiln::test::single_commands_test {
namespace {

using namespace kiln::cli;

/// A run whose ticks take `tick_s`: it restarts `restart_s` after an answer, notices a command
/// `notice_s` after it was sent, ends its tick, and answers `way_s` later.
struct KnownRun {
  double tick_s, restart_s, notice_s, way_s;
  std::vector<SentSingle> all = {};
  std::vector<double> held_s = {};

  void send(int commands) {
    std::minstd_rand random(7);
    std::uniform_real_distribution<double> waits(0, 4e-3);
    for (int i = 0; i < commands; ++i) {
      SentSingle one;
      one.wait_s = i % 4 == 0 ? 2e-6 : waits(random);
      const double noticed = one.wait_s + notice_s - restart_s;
      one.ticks = std::max(1.0, std::ceil(noticed / tick_s));
      const double held = restart_s + one.ticks * tick_s - one.wait_s;
      one.answered_s = held + way_s;
      held_s.push_back(held);
      all.push_back(one);
    }
  }
};

double ninety_nine(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() * 99 / 100];
}

TEST(SingleCommands, BoundTheTimeToTheHoldFromAbove) {
  for (const double tick_s : {3e-6, 30e-6, 400e-6}) {
    KnownRun run{tick_s, 12e-6, 9e-6, 25e-6};
    run.send(2000);
    const HoldTimes sent = hold_times(run.all);
    EXPECT_NEAR(sent.tick_s, tick_s, 0.01 * tick_s);
    const double truth = ninety_nine(run.held_s), bound = ninety_nine(sent.held_s);
    // The slope of waits over rounded ticks, or a tick that is left out, is off by more.
    EXPECT_GE(bound, truth - 2e-6) << tick_s;
    EXPECT_LE(bound, truth + run.way_s + 0.02 * tick_s + 5e-6) << tick_s;
    ASSERT_EQ(sent.answered_s.size(), run.all.size());
    EXPECT_DOUBLE_EQ(ninety_nine(sent.answered_s), truth + run.way_s);
  }
}

// The bound grows with what the run takes to notice.
TEST(SingleCommands, SeeARunThatNoticesLate) {
  KnownRun soon{30e-6, 12e-6, 9e-6, 25e-6}, late = soon;
  late.notice_s = 500e-6;
  soon.send(2000);
  late.send(2000);
  EXPECT_GT(ninety_nine(hold_times(late.all).held_s),
            ninety_nine(hold_times(soon.all).held_s) + 450e-6);
}

}  // namespace
}  // namespace kiln::test::single_commands_test
