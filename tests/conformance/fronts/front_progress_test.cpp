// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_progress.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Comparisons.
KILN_CONFORMANCE_CASE(FrontProgress, exact)

namespace kiln::test::front_progress_test {
namespace {

struct Blocks {
  RunControl control, gate;
};

Blocks launch(Queue& queue, const Blocks& in, double volume, std::uint64_t every, bool open) {
  const DeviceArray<double> value(queue, std::vector<double>{volume});
  DeviceArray<RunControl> control = upload_control(queue, in.control);
  DeviceArray<RunControl> gate = upload_control(queue, in.gate);
  queue.launch(FrontProgress{value.view(), control.data(), gate.data(), every, open});
  return {control.download().front(), gate.download().front()};
}

class FrontProgressKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(FrontProgressKernel);

TEST_P(FrontProgressKernel, OpensTheGateEveryFewTicks) {
  for (const std::uint64_t tick : {0, 1, 4, 5, 9, 10}) {
    Blocks before;
    before.control.tick = tick;
    before.control.step = 123;
    before.control.step_limit = 1000;
    before.control.tick_sweeps = 8;
    before.gate.stop = DeviceStop::target;  // of the tick before
    const Blocks after = launch(queue(), before, 3, 5, true);
    EXPECT_EQ(after.gate.stop == DeviceStop::none, tick % 5 == 0) << tick;
    EXPECT_EQ(after.gate.active(7), tick % 5 == 0);
    EXPECT_FALSE(after.gate.active(8));
    EXPECT_EQ(after.gate.step, 123u);
    EXPECT_EQ(after.gate.step_limit, 1000u);
    EXPECT_EQ(after.control.stop, DeviceStop::none);
    EXPECT_EQ(after.control.best_key, ~0ull) << "the volume is not read yet";
  }
}

TEST_P(FrontProgressKernel, KeepsTheGateShutOnceStopped) {
  Blocks before;
  before.control.stop = DeviceStop::target;
  for (const std::uint64_t tick : {4, 5}) {
    before.control.tick = tick;
    EXPECT_EQ(launch(queue(), before, 3, 5, true).gate.stop, DeviceStop::target);
  }
}

TEST_P(FrontProgressKernel, LetsTheBestKeyFall) {
  Blocks blocks;
  double best = 0;
  for (const double volume : {0.0, 0.25, 0.75, 0.5, 0.75, 2.0}) {
    const bool better = blocks.control.best_key == ~0ull || volume > best;
    blocks.gate.stop = DeviceStop::none;
    blocks = launch(queue(), blocks, volume, 5, false);
    best = std::max(best, volume);
    EXPECT_EQ(exact::from_order_key(blocks.control.best_key), -best);
    EXPECT_EQ(blocks.gate.stop == DeviceStop::none, better) << volume;
  }
  blocks.gate.stop = DeviceStop::none;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(launch(queue(), blocks, nan, 5, false).gate.stop, DeviceStop::step_limit);
  EXPECT_EQ(launch(queue(), blocks, nan, 5, false).control.best_key, blocks.control.best_key);
  EXPECT_EQ(launch(queue(), blocks, -nan, 5, false).control.best_key, blocks.control.best_key);
}

TEST_P(FrontProgressKernel, ReadsNoVolumeBehindAClosedGate) {
  Blocks blocks;
  blocks.gate.stop = DeviceStop::step_limit;
  EXPECT_EQ(launch(queue(), blocks, 7, 5, false).control.best_key, ~0ull);
}

}  // namespace
}  // namespace kiln::test::front_progress_test
