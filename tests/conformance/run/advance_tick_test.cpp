// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/advance_tick.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/executors/hold_flag.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "backends/device_best_log.hpp"

// Integers and comparisons.
KILN_CONFORMANCE_CASE(AdvanceTick, exact)

namespace kiln::test::advance_tick_test {
namespace {

class AdvanceTickKernel : public DeviceTest {
 protected:
  RunControl advanced(const RunControl& before, std::uint64_t sweeps, int times = 1) const {
    DeviceArray<RunControl> control = upload_control(queue(), before);
    for (int i = 0; i < times; ++i) queue().launch(AdvanceTick{control.data(), sweeps});
    return control.download().front();
  }
};
KILN_ON_EVERY_BACKEND(AdvanceTickKernel);

TEST_P(AdvanceTickKernel, CountsTheSweepsOfATick) {
  const RunControl after = advanced({}, 7, 3);

  EXPECT_EQ(after.tick, 3u);
  EXPECT_EQ(after.step, 21u);
  EXPECT_EQ(after.stop, DeviceStop::none);
  EXPECT_EQ(after.best_key, ~0ull);
}

TEST_P(AdvanceTickKernel, StopsAtTheStepLimitAndCountsTheLastTickAsFarAsItWent) {
  RunControl before;
  before.step_limit = 20;

  EXPECT_EQ(advanced(before, 7, 2).stop, DeviceStop::none);
  for (const int ticks : {3, 4, 9}) {
    const RunControl after = advanced(before, 7, ticks);
    EXPECT_EQ(after.tick, 3u);
    EXPECT_EQ(after.step, 20u);
    EXPECT_EQ(after.stop, DeviceStop::step_limit);
  }
  before.step_limit = 7;
  EXPECT_EQ(advanced(before, 7).stop, DeviceStop::step_limit);
}

// By a flag as another thread sets it, in the memory of the device.
TEST_P(AdvanceTickKernel, HoldsAtTheEndOfATickWhereTheHostAsksForIt) {
  const std::unique_ptr<HoldFlag> flag = queue().make_hold_flag();
  DeviceArray<RunControl> control = upload_control(queue(), {});
  const AdvanceTick advance{control.data(), 7, {}, flag->word()};
  queue().launch(advance);
  EXPECT_EQ(control.download().front().stop, DeviceStop::none);

  std::jthread([&] { flag->request(); }).join();
  // A copy on another stream: it comes at some time, and nothing waits for it.
  std::uint64_t ticks = 1;
  for (; control.download().front().stop == DeviceStop::none && ticks < 100000; ++ticks) {
    queue().launch(advance);
  }
  const RunControl held = control.download().front();
  EXPECT_EQ(held.stop, DeviceStop::held);
  EXPECT_EQ(held.tick, ticks);
  EXPECT_EQ(held.step, 7 * ticks);
  queue().launch(advance);
  EXPECT_EQ(control.download().front().tick, ticks) << "what was enqueued behind does nothing";

  flag->clear();
  RunControl on = held;
  on.stop = DeviceStop::none;
  control.upload({on});
  for (int i = 0; i < 20; ++i) queue().launch(advance);
  EXPECT_EQ(control.download().front().stop, DeviceStop::none);
  EXPECT_EQ(control.download().front().tick, ticks + 20);
}

TEST_P(AdvanceTickKernel, IsNotHeldWhereItStopsForGood) {
  const DeviceArray<std::uint32_t> word(queue(), std::vector<std::uint32_t>{1});
  const auto stop = [&](const RunControl& before) {
    DeviceArray<RunControl> control = upload_control(queue(), before);
    queue().launch(AdvanceTick{control.data(), 7, {}, word.data()});
    return control.download().front().stop;
  };
  EXPECT_EQ(stop({}), DeviceStop::held);
  RunControl limited;
  limited.step_limit = 7;
  EXPECT_EQ(stop(limited), DeviceStop::step_limit);
  RunControl found;
  found.has_target = 1;
  found.best_key = exact::order_key(-1.0);
  EXPECT_EQ(stop(found), DeviceStop::target);
}

struct TargetCase {
  double best;
  double target;
  DeviceStop stop;
};

TEST_P(AdvanceTickKernel, StopsAtOrBelowTheTarget) {
  constexpr DeviceStop none = DeviceStop::none, target = DeviceStop::target;
  for (const TargetCase& c : {TargetCase{-10, -10, target},
                              {-10.5, -10, target},
                              {-9.5, -10, none},
                              {0, 0, target},
                              {1e-300, 0, none},
                              {-1e-300, 0, target},
                              {5, 6, target},
                              {6, 5, none},
                              {-0.0, 0.0, target},
                              {0.0, -0.0, target}}) {
    RunControl before;
    before.has_target = 1;
    before.target = c.target;
    before.best_key = exact::order_key(c.best);
    EXPECT_EQ(advanced(before, 1).stop, c.stop) << c.best << " against " << c.target;
    before.has_target = 0;
    EXPECT_EQ(advanced(before, 1).stop, none) << c.best << " without a target";
  }
}

TEST_P(AdvanceTickKernel, HasNoBestAtTheStart) {
  RunControl before;
  before.has_target = 1;
  before.target = 1e308;

  EXPECT_EQ(advanced(before, 1).stop, DeviceStop::none);
}

TEST_P(AdvanceTickKernel, NamesTheTargetFirstWhereBothAreReached) {
  RunControl before;
  before.has_target = 1;
  before.best_key = exact::order_key(-1);
  before.step_limit = 3;

  const RunControl after = advanced(before, 5);

  EXPECT_EQ(after.stop, DeviceStop::target);
  EXPECT_EQ(after.step, 3u);
}

TEST_P(AdvanceTickKernel, ChangesNothingOnceStopped) {
  RunControl before;
  before.tick = 4;
  before.step = 9;
  before.stop = DeviceStop::target;

  const RunControl after = advanced(before, 5, 2);

  EXPECT_EQ(after.tick, 4u);
  EXPECT_EQ(after.step, 9u);
  EXPECT_EQ(after.stop, DeviceStop::target);
}

// Of 400 ticks that all improve those are noted that come a 32nd later than the one before, and the
// finder that TrackBest leaves belongs to the note of the tick before.
TEST_P(AdvanceTickKernel, NotesImprovementsAThirtySecondApart) {
  DeviceBestLog log(queue(), 1);
  DeviceArray<RunControl> control = upload_control(queue(), {});
  std::vector<std::vector<std::uint64_t>> wanted;
  double next = 0;
  RunControl now;
  for (int tick = 1; tick <= 400; ++tick) {
    now.best_key = exact::order_key(-tick / 8.0);
    if (now.wanted == now.wanted) {
      now.finder = BestLog::finder_of(1000 - tick, tick % 7);
      wanted.back()[2] = idx(1000 - tick);
      wanted.back()[3] = idx(tick % 7);
    }
    control.upload({now});
    queue().launch(AdvanceTick{control.data(), 5, log.view()});
    if (tick >= next) {
      wanted.push_back({now.best_key, idx(5 * tick), ~0ull, 0});
      next = tick + 1 + std::floor(tick / 32.0);
    }
    now = control.download().front();
    ASSERT_EQ(log.numbers(now), wanted) << tick;
  }
  EXPECT_EQ(wanted.size(), 101u);
}

TEST_P(AdvanceTickKernel, NotesNothingThatIsNoImprovementAndKeepsANoteWithoutAFinder) {
  DeviceBestLog log(queue(), 1);
  RunControl now;
  now.best_key = now.noted_key = exact::order_key(3);
  const std::vector<std::pair<double, std::size_t>> steps{{3, 0}, {4, 0}, {2, 1}, {2, 1}, {-2, 2}};
  for (const auto& [energy, notes] : steps) {
    now.best_key = exact::order_key(energy);
    DeviceArray<RunControl> control = upload_control(queue(), now);
    queue().launch(AdvanceTick{control.data(), 1, log.view()});
    now = control.download().front();
    ASSERT_EQ(log.numbers(now).size(), notes) << energy;
  }
  EXPECT_EQ(log.numbers(now)[0][2], ~0ull) << "nobody was found";
  EXPECT_EQ(now.wanted, -2);
}

TEST_P(AdvanceTickKernel, CountsBeyond32Bits) {
  RunControl before;
  before.step = 0xFFFFFFFFull;
  before.tick = 0xFFFFFFFFull;

  const RunControl after = advanced(before, 2);

  EXPECT_EQ(after.step, 0x100000001ull);
  EXPECT_EQ(after.tick, 0x100000000ull);
}

}  // namespace
}  // namespace kiln::test::advance_tick_test
