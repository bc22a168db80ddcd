// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/advance_tick.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace kiln::advance_tick_test {
namespace {

RunControl after(RunControl control, std::uint64_t sweeps) {
  AdvanceTick{&control, sweeps}();
  return control;
}

TEST(AdvanceTick, CountsTicksAndSweeps) {
  const RunControl control = after(after({}, 8), 8);
  EXPECT_EQ(control.tick, 2u);
  EXPECT_EQ(control.step, 16u);
  EXPECT_EQ(control.stop, DeviceStop::none);
}

TEST(AdvanceTick, CountsOnlyTheSweepsUpToTheLimit) {
  RunControl control;
  control.step_limit = 13;
  control = after(after(control, 8), 8);
  EXPECT_EQ(control.step, 13u);
  EXPECT_EQ(control.stop, DeviceStop::step_limit);
}

TEST(AdvanceTick, DoesNotCountSweepsBeyondALimitThatIsPassed) {
  RunControl control;
  control.step = 16;
  control.step_limit = 8;
  control = after(control, 8);
  EXPECT_EQ(control.step, 16u);
  EXPECT_EQ(control.stop, DeviceStop::step_limit);
}

TEST(AdvanceTick, StopsAtTheTarget) {
  RunControl control;
  control.has_target = 1;
  control.target = -5;
  EXPECT_EQ(after(control, 8).stop, DeviceStop::none) << "nothing was found yet";
  control.best_key = exact::order_key(-4.5);
  EXPECT_EQ(after(control, 8).stop, DeviceStop::none);
  control.best_key = exact::order_key(-5);
  EXPECT_EQ(after(control, 8).stop, DeviceStop::target);
}

TEST(AdvanceTick, PrefersTheTargetToTheLimit) {
  RunControl control;
  control.has_target = 1;
  control.best_key = exact::order_key(-1);
  control.step_limit = 8;
  EXPECT_EQ(after(control, 8).stop, DeviceStop::target);
}

TEST(AdvanceTick, LeavesAStoppedRunAlone) {
  RunControl control;
  control.stop = DeviceStop::target;
  EXPECT_EQ(after(control, 8).tick, 0u);
  EXPECT_EQ(after(control, 8).step, 0u);
}

}  // namespace
}  // namespace kiln::advance_tick_test
