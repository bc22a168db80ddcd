// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/end_tick.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"
#include "backends/device_best_log.hpp"

// Comparisons, copies and counts of integers.
KILN_CONFORMANCE_CASE(EndTick, exact)

namespace kiln::test::end_tick_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Tick {
  std::vector<BlockShape> shapes;
  std::int64_t replicas = 0;
  std::vector<double> energy, best_energy;  // [slots]
  RunControl control;
  std::uint64_t sweeps = 3;
  bool held = false;  // by the host
};

struct Left {
  std::vector<std::vector<double>> best;  // per block
  std::vector<double> best_energy;
  std::vector<std::uint64_t> best_step;
  RunControl control;
  std::vector<std::vector<std::uint64_t>> log;
};

// One launch, or the two kernels that it stands for; of three ticks, the last with energies that
// are one less.
Left run(Queue& queue, const Tick& tick, bool apart) {
  std::vector<DeviceBlock> state, best;
  TrackBest kernel;
  for (std::size_t b = 0; b < tick.shapes.size(); ++b) {
    state.emplace_back(queue, tick.shapes[b], random_values(tick.shapes[b], 2 * b + 1));
    best.emplace_back(queue, tick.shapes[b], random_values(tick.shapes[b], 2 * b + 2));
    kernel.state[b] = state[b].view();
    kernel.best[b] = best[b].view();
  }
  const std::size_t slots = tick.energy.size();
  DeviceArray<double> energy(queue, tick.energy);
  DeviceArray<double> best_energy(queue, tick.best_energy);
  DeviceArray<std::uint64_t> best_step(queue, std::vector<std::uint64_t>(slots, 4));
  DeviceArray<std::uint32_t> improved(queue, std::vector<std::uint32_t>(slots / 32, ~0u));
  DeviceArray<RunControl> control = upload_control(queue, tick.control);
  kernel.n_blocks = static_cast<std::int32_t>(tick.shapes.size());
  kernel.replicas = tick.replicas;
  kernel.energy = energy.view();
  kernel.best_energy = best_energy.view();
  kernel.best_step = best_step.view();
  kernel.improved = improved.view();
  DeviceBestLog log(queue, static_cast<std::int64_t>(slots));
  kernel.replica_of = log.replica_of.view();
  kernel.rung_of = log.rung_of.view();
  kernel.control = control.data();
  const DeviceArray<std::uint32_t> hold(queue, std::vector<std::uint32_t>{tick.held ? 1u : 0u});
  const AdvanceTick advance{control.data(), tick.sweeps, log.view(), hold.data()};
  for (int i = 0; i < 3; ++i) {
    if (i == 2) {
      std::vector<double> less = tick.energy;
      for (double& one : less) one -= 1;
      energy.upload(less);
    }
    if (apart) {
      queue.launch(kernel);
      queue.launch(advance);
    } else {
      queue.launch(EndTick{kernel, advance});
    }
  }
  Left left;
  for (const DeviceBlock& block : best) left.best.push_back(block.values());
  left.best_energy = best_energy.download();
  left.best_step = best_step.download();
  left.control = control.download().front();
  left.log = log.numbers(left.control);
  return left;
}

void expect_same(const Left& got, const Left& expected) {
  EXPECT_EQ(got.best, expected.best);
  EXPECT_EQ(bits_of(got.best_energy), bits_of(expected.best_energy));
  EXPECT_EQ(got.best_step, expected.best_step);
  EXPECT_EQ(got.control.tick, expected.control.tick);
  EXPECT_EQ(got.control.step, expected.control.step);
  EXPECT_EQ(got.control.tick_sweeps, expected.control.tick_sweeps);
  EXPECT_EQ(got.control.stop, expected.control.stop);
  EXPECT_EQ(got.control.ticket, 0u);
  expect_same_notes(got.control, expected.control);
  EXPECT_EQ(got.log, expected.log);
}

// A third of the energies improve, and some are not finite.
Tick tick_of(std::vector<BlockShape> shapes, std::int64_t replicas) {
  Tick tick;
  tick.replicas = replicas;
  for (std::int64_t slot = 0; slot < shapes.front().slots; ++slot) {
    tick.energy.push_back(static_cast<double>(slot * 7919 % 101));
    tick.best_energy.push_back(static_cast<double>(slot * 104729 % 151));
    if (slot % 31 == 0) tick.energy.back() = slot % 2 == 0 ? infinity : -infinity;
  }
  tick.shapes = std::move(shapes);
  tick.control.step = 77;
  return tick;
}

class EndTickKernel : public DeviceTest {
 protected:
  void check(const Tick& tick) const {
    expect_same(run(queue(), tick, false), run(cpu_queue(), tick, true));
  }
};
KILN_ON_EVERY_BACKEND(EndTickKernel);

TEST_P(EndTickKernel, GivesTheBitsOfItsTwoKernels) {
  for (const std::int64_t slots : {32, 256, 288, 4000}) {
    check(tick_of({{BlockKind::spin, Layout::packed32, 70, slots}}, slots - 5));
    check(tick_of({{BlockKind::spin, Layout::packed32, 33, slots},
                   {BlockKind::integer, Layout::i8, 3, slots},
                   {BlockKind::integer, Layout::i32, 2, slots},
                   {BlockKind::real, Layout::f32, 5, slots},
                   {BlockKind::real, Layout::f64, 1, slots}},
                  slots));
  }
}

TEST_P(EndTickKernel, GivesThemForManyVariables) {
  check(tick_of({{BlockKind::spin, Layout::packed32, 5000, 64}}, 64));
}

// Blocks of a GPU that share rows, up to 4096 slots.
TEST_P(EndTickKernel, GivesThemForLongColumns) {
  for (const std::int64_t slots : {32, 288, 2112, 4096, 4128}) {
    check(tick_of({{BlockKind::spin, Layout::packed32, 1025, slots}}, slots - 5));
    check(tick_of({{BlockKind::spin, Layout::packed32, 2000, slots},
                   {BlockKind::integer, Layout::i8, 40, slots},
                   {BlockKind::real, Layout::f64, 3, slots}},
                  slots));
  }
}

TEST_P(EndTickKernel, StopsAtTheTargetThatTheTickReaches) {
  Tick tick = tick_of({{BlockKind::spin, Layout::packed32, 9, 32 * 1056}}, 32 * 1056);
  tick.control.has_target = 1;
  tick.control.target = 0;
  const Left left = run(queue(), tick, false);
  EXPECT_EQ(left.control.stop, DeviceStop::target);
  EXPECT_EQ(left.control.step, 80u) << "the second launch does nothing";
  check(tick);
  tick.control.target = -2;
  EXPECT_EQ(run(queue(), tick, false).control.stop, DeviceStop::none);
}

TEST_P(EndTickKernel, IsHeldAtItsEndAndRestsThen) {
  Tick tick = tick_of({{BlockKind::spin, Layout::packed32, 9, 32 * 1056}}, 32 * 1056);
  tick.held = true;
  const Left left = run(queue(), tick, false);
  EXPECT_EQ(left.control.stop, DeviceStop::held);
  EXPECT_EQ(left.control.tick, tick.control.tick + 1);
  check(tick);
  tick.control.step_limit = tick.control.step + tick.sweeps;
  EXPECT_EQ(run(queue(), tick, false).control.stop, DeviceStop::step_limit);
}

TEST_P(EndTickKernel, StopsAtTheLimitAndRestsThen) {
  Tick tick = tick_of({{BlockKind::spin, Layout::packed32, 9, 512}}, 512);
  tick.control.step_limit = 80;
  EXPECT_EQ(run(queue(), tick, false).control.stop, DeviceStop::step_limit);
  check(tick);
  tick.control.stop = DeviceStop::step_limit;
  EXPECT_EQ(run(queue(), tick, false).best_energy, tick.best_energy);
  check(tick);
  tick.control.stop = DeviceStop::none;
  tick.control.tick_sweeps = 2;
  check(tick);
}

}  // namespace
}  // namespace kiln::test::end_tick_test
