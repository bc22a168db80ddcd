// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/track_best.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Comparisons and copies.
KILN_CONFORMANCE_CASE(TrackBest, exact)

namespace kiln::test::track_best_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class TrackBestKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(TrackBestKernel);

struct Tracked {
  std::vector<BlockShape> shapes;
  std::int64_t replicas = 0;
  std::vector<std::vector<double>> state, best;   // per block
  std::vector<double> energy, best_energy;        // [slots]
  std::vector<std::uint64_t> best_step;           // [slots]
  std::vector<std::int32_t> replica_of, rung_of;  // [slots], or empty
  RunControl control;

  std::size_t slots() const { return energy.size(); }
};

Tracked run(Queue& queue, Tracked t) {
  std::vector<DeviceBlock> state, best;
  TrackBest kernel;
  for (std::size_t b = 0; b < t.shapes.size(); ++b) {
    state.emplace_back(queue, t.shapes[b], t.state[b]);
    best.emplace_back(queue, t.shapes[b], t.best[b]);
    kernel.state[b] = state[b].view();
    kernel.best[b] = best[b].view();
  }
  const DeviceArray<double> energy(queue, t.energy);
  DeviceArray<double> best_energy(queue, t.best_energy);
  DeviceArray<std::uint64_t> best_step(queue, t.best_step);
  DeviceArray<std::uint32_t> improved(queue, std::vector<std::uint32_t>(t.slots() / 32, ~0u));
  DeviceArray<RunControl> control = upload_control(queue, t.control);
  kernel.n_blocks = static_cast<std::int32_t>(t.shapes.size());
  kernel.replicas = t.replicas;
  kernel.energy = energy.view();
  kernel.best_energy = best_energy.view();
  kernel.best_step = best_step.view();
  kernel.improved = improved.view();
  const DeviceArray<std::int32_t> replica_of(queue, t.replica_of);
  const DeviceArray<std::int32_t> rung_of(queue, t.rung_of);
  kernel.replica_of = replica_of.view();
  kernel.rung_of = rung_of.view();
  kernel.control = control.data();
  queue.launch(kernel);
  for (std::size_t b = 0; b < best.size(); ++b) {
    t.best[b] = best[b].values();
    EXPECT_EQ(state[b].values(), t.state[b]) << "the current state was written";
  }
  t.best_energy = best_energy.download();
  t.best_step = best_step.download();
  t.control = control.download().front();
  return t;
}

// The rule, one replica at a time.
Tracked plain(Tracked t) {
  if (t.control.stop != DeviceStop::none) return t;
  for (std::size_t slot = 0; slot < idx(t.replicas); ++slot) {
    if (!t.replica_of.empty() && t.best_energy[slot] == t.control.wanted) {
      const std::uint64_t found =
          idx(t.replica_of[slot]) * (std::uint64_t{1} << 32) + idx(t.rung_of[slot]);
      t.control.finder = std::min(t.control.finder, found);
    }
    if (!(t.energy[slot] < t.best_energy[slot])) continue;
    if (t.energy[slot] == -exact::infinity()) continue;
    t.best_energy[slot] = t.energy[slot];
    t.best_step[slot] = t.control.step;
    t.control.best_key = std::min(t.control.best_key, exact::order_key(t.energy[slot]));
    for (std::size_t b = 0; b < t.shapes.size(); ++b) {
      for (std::size_t i = slot; i < t.best[b].size(); i += t.slots()) {
        t.best[b][i] = t.state[b][i];
      }
    }
  }
  return t;
}

void expect_same(const Tracked& got, const Tracked& expected) {
  EXPECT_EQ(bits_of(got.best_energy), bits_of(expected.best_energy));
  EXPECT_EQ(got.best_step, expected.best_step);
  EXPECT_EQ(got.best, expected.best);
  EXPECT_EQ(got.control.best_key, expected.control.best_key);
  EXPECT_EQ(got.control.finder, expected.control.finder);
}

// All replicas start with energy 0 and best energy 0; the best states differ from the current ones.
Tracked level(const std::vector<BlockShape>& shapes, std::int64_t replicas) {
  Tracked t;
  t.shapes = shapes;
  t.replicas = replicas;
  const std::size_t slots = idx(shapes.front().slots);
  for (std::size_t b = 0; b < shapes.size(); ++b) {
    t.state.push_back(random_values(shapes[b], 2 * b + 1));
    t.best.push_back(random_values(shapes[b], 2 * b + 2));
  }
  t.energy.assign(slots, 0);
  t.best_energy.assign(slots, 0);
  t.best_step.assign(slots, 4);
  t.control.step = 77;
  return t;
}

const BlockShape spins{BlockKind::spin, Layout::packed32, 5, 32};

TEST_P(TrackBestKernel, KeepsTheStateOfAReplicaThatImproved) {
  Tracked t = level({spins}, 32);
  t.energy[3] = -1;

  const Tracked out = run(queue(), t);

  EXPECT_EQ(out.best_energy[3], -1.0);
  EXPECT_EQ(out.best_step[3], 77u);
  EXPECT_EQ(out.control.best_key, exact::order_key(-1));
  for (std::size_t v = 0; v < 5; ++v) {
    EXPECT_EQ(out.best[0][v * 32 + 3], t.state[0][v * 32 + 3]);
    EXPECT_EQ(out.best[0][v * 32 + 4], t.best[0][v * 32 + 4]);
  }
  expect_same(out, plain(t));
}

TEST_P(TrackBestKernel, KeepsTheEarlierOfTwoThatTie) {
  Tracked t = level({spins}, 32);
  t.energy[0] = -0.0;  // equal to the best, 0.0

  const Tracked out = run(queue(), t);

  expect_same(out, t);
  EXPECT_EQ(out.control.best_key, ~0ull);
}

TEST_P(TrackBestKernel, NeverTakesWhatIsNotANumber) {
  Tracked t = level({spins}, 32);
  t.best_energy.assign(32, infinity);
  t.energy.assign(32, not_a_number);
  t.energy[1] = infinity;
  t.energy[2] = 1e308;
  t.energy[3] = -infinity;

  const Tracked out = run(queue(), t);

  expect_same(out, plain(t));
  EXPECT_EQ(out.best_energy[0], infinity);
  EXPECT_EQ(out.best_energy[1], infinity);
  EXPECT_EQ(out.best_energy[2], 1e308);
}

TEST_P(TrackBestKernel, NeverTakesPadding) {
  for (const std::int64_t replicas : {1, 2, 31, 33, 63}) {
    BlockShape shape = spins;
    shape.slots = 64;
    Tracked t = level({shape}, replicas);
    t.energy.assign(64, -5);

    const Tracked out = run(queue(), t);

    expect_same(out, plain(t));
    EXPECT_EQ(out.best_energy[63], 0.0);
  }
}

TEST_P(TrackBestKernel, DoesNothingOnceStopped) {
  Tracked t = level({spins}, 32);
  t.energy.assign(32, -5);
  t.control.stop = DeviceStop::target;

  expect_same(run(queue(), t), t);
}

TEST_P(TrackBestKernel, LetsTheBestOfAllReplicasFallOnly) {
  Tracked t = level({spins}, 32);
  t.energy[9] = -3;
  t.control.best_key = exact::order_key(-4);

  EXPECT_EQ(run(queue(), t).control.best_key, exact::order_key(-4));
}

// By the best energies that were there before the launch; the first replica is not in the first
// slot, and padding has the wanted energy, too.
TEST_P(TrackBestKernel, FindsTheFirstReplicaWithTheWantedEnergy) {
  BlockShape shape = spins;
  shape.slots = 2048;
  Tracked t = level({shape}, 2040);
  t.best_energy.assign(2048, -6);
  for (int slot = 2047; slot >= 0; --slot) t.replica_of.push_back(slot);
  for (int slot = 0; slot < 2048; ++slot) t.rung_of.push_back(slot % 9);
  t.control.wanted = -7;
  expect_same(run(queue(), t), plain(t));
  EXPECT_EQ(run(queue(), t).control.finder, BestLog::no_finder);
  for (const std::size_t slot : {40u, 1100u, 1500u, 2045u}) t.best_energy[slot] = -7;
  t.energy[1500] = -8;  // improves in this very launch
  t.energy[3] = -7;     // comes to it only now

  const RunControl found = run(queue(), t).control;

  EXPECT_EQ(BestLog::rung_of(found.finder), 1500 % 9);
  EXPECT_EQ(BestLog::replica_of(found.finder), 547);
  expect_same(run(queue(), t), plain(t));
  t.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), t).control.finder, BestLog::no_finder);
}

std::vector<BlockShape> all_layouts(std::int64_t variables, std::int64_t slots) {
  return {{BlockKind::spin, Layout::packed32, variables, slots, -1, 1},
          {BlockKind::binary, Layout::packed32, variables + 1, slots, 0, 1},
          {BlockKind::spin, Layout::i8, 3, slots, -1, 1},
          {BlockKind::category, Layout::i8, variables, slots, 0, 100},
          {BlockKind::integer, Layout::i32, 1, slots, -70000, 70000},
          {BlockKind::permutation, Layout::i32, variables, slots, 0, 0},
          {BlockKind::integer, Layout::f32, variables, slots, -9, 9},
          {BlockKind::real, Layout::f64, variables, slots, -1, 1}};
}

TEST_P(TrackBestKernel, CopiesEveryLayoutUnderTheMask) {
  for (const std::int64_t replicas : {1, 2, 31, 32, 33, 100, 257, 1025}) {
    for (const std::int64_t variables : {1, 33}) {
      Tracked t = level(all_layouts(variables, (replicas + 31) / 32 * 32), replicas);
      TestRandom random(idx(replicas));
      for (double& energy : t.energy) energy = static_cast<double>(random.between(-2, 2));
      if (replicas == 257) t.energy.assign(t.slots(), -1);  // all improve
      SCOPED_TRACE(replicas);
      expect_same(run(queue(), t), plain(t));
    }
  }
}

}  // namespace
}  // namespace kiln::test::track_best_test
