// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "kiln/executors/repeats_ticks.hpp"
#include "kiln/kernels/exchange/ladder_tick.hpp"

#include "backends/backends.hpp"
#include "ladder_ticks.hpp"

namespace kiln::test::ladder_ticks {
namespace {

class LadderTickRepeats : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderTickRepeats);

// Rounds of adaptation, full records and several blocks of ladders lie within a launch.
TEST_P(LadderTickRepeats, GivesTheBitsOfItsParts) {
  for (const Ising& model : models()) {
    for (const std::int64_t rungs : {4, 6, 8, 16}) {
      for (const std::int64_t blocks : {1, 3}) {
        for (const std::uint32_t ticks : {2u, 7u, 40u}) {
          check(queue(), {model, rungs, blocks}, 3, ticks);
        }
      }
    }
  }
  const Ising model = sparse(64, 4, one_of({-1, 1}, 20), constant(0), 21);
  for (const std::int64_t blocks : {33, 132, 200}) check(queue(), {model, 8, blocks}, 2, 11);
}

TEST_P(LadderTickRepeats, GivesThemForSeveralSweepsUntilTheRunStops) {
  const Ising model = sparse(64, 5, one_of({-1, 1}, 22), one_of({-1, 0}, 23), 24);
  for (const std::int64_t blocks : {1, 2}) {
    for (const std::uint32_t sweeps : {1u, 5u}) {
      Case shape{model, 8, blocks, sweeps};
      shape.best_first = true;
      check(queue(), shape, 4, 9);
      shape.cadence.interval = 3;
      shape.control.step = 3;
      shape.control.tick_sweeps = sweeps > 1 ? sweeps - 1 : 0;
      check(queue(), shape, 4, 9);
      shape.control.step_limit = 17 * sweeps + 2;
      check(queue(), shape, 4, 9);
    }
    Case shape{ring(24, constant(-1), constant(0)), 8, blocks};
    shape.control.has_target = 1;
    shape.control.target = -20;
    for (const bool held : {false, true}) shape.held = held, check(queue(), shape, 6, 10);
  }
}

// The tables of the last sweep of a tick are not those of the first one of the next.
TEST_P(LadderTickRepeats, GivesThemForSweepsOfOtherBetas) {
  const Ising model = sparse(64, 4, one_of({-1, 1}, 20), constant(0), 21);
  for (const std::int64_t blocks : {1, 3}) {
    for (const std::uint32_t sweeps : {1u, 3u}) {
      Case shape{model, 8, blocks, sweeps};
      shape.cools = true;
      check(queue(), shape, 3, 7);
    }
  }
}

TEST_P(LadderTickRepeats, SaysWhetherADeviceRepeatsTicks) {
  std::string refusal;
  const bool gpu = queue().can_capture();
  Ticking fits(queue(), {sparse(64, 4, one_of({-1, 1}, 20), constant(0), 21), 8, 2});
  EXPECT_EQ(can_repeat(queue(), fits.tick(), refusal), gpu) << refusal;
  EXPECT_EQ(refusal, gpu ? "" : "backend cpu makes ticks one by one");
  if (!gpu) return;
  const auto refusal_of = [&](const Case& shape) {
    Ticking data(queue(), shape);
    EXPECT_FALSE(can_repeat(queue(), data.tick(), refusal));
    return refusal;
  };
  const Ising small = ring(40, constant(1), constant(0));
  EXPECT_EQ(refusal_of({small, 32, 2}),
            "a multiprocessor keeps ladders of 4, 8 or 16 rungs, and these have 32");
  EXPECT_NE(refusal_of({small, 4, 300}).find("9600 ladders take 300 multiprocessors"),
            std::string::npos);
  EXPECT_NE(
      refusal_of({ring(3400, constant(1), constant(0)), 16, 1}).find("bytes of shared memory"),
      std::string::npos);
  EXPECT_EQ(refusal_of({ring(6000, constant(1), constant(0)), 16, 1})
                .find("32 ladders of 16 rungs of 6000 variables do not fit into the shared memory"),
            0u);
  EXPECT_NE(refusal_of({small, 7, 1}).find("is several launches"), std::string::npos);
  EXPECT_EQ(refusal_of({star(140, 30, one_of({-1, 1}, 16)), 8, 1}),
            "|h| + sum |J| of a variable is 64 or more, in units of the smallest step");
}

}  // namespace
}  // namespace kiln::test::ladder_ticks
