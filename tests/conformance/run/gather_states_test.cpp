// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/gather_states.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Copies.
KILN_CONFORMANCE_CASE(GatherStates, exact)

namespace kiln::test::gather_states_test {
namespace {

class GatherStatesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(GatherStatesKernel);

struct Gathering {
  BlockShape from, to;
  std::vector<double> from_values, to_values;  // canonical, [variable][slot]
  std::vector<std::int32_t> source, rung_of;
  std::vector<std::uint32_t> active_rungs;
  RunControl control;
};

// Written from the header alone.
std::vector<double> expected(const Gathering& g) {
  std::vector<double> out = g.to_values;
  for (std::int64_t slot = 0; slot < g.to.slots; ++slot) {
    const auto s = idx(slot);
    if (!g.active_rungs.empty() && g.active_rungs[idx(g.rung_of[s])] == 0) continue;
    const std::int64_t source = g.source.empty() ? slot : g.source[s];
    if (source < 0) continue;
    for (std::int64_t v = 0; v < g.to.variables; ++v) {
      out[idx(v * g.to.slots + slot)] = g.from_values[idx(v * g.from.slots + source)];
    }
  }
  return out;
}

std::vector<double> gathered(Queue& queue, const Gathering& g) {
  DeviceBlock from(queue, g.from, g.from_values);
  DeviceBlock to(queue, g.to, g.to_values);
  const DeviceArray<std::int32_t> source(queue, g.source), rung_of(queue, g.rung_of);
  const DeviceArray<std::uint32_t> active_rungs(queue, g.active_rungs);
  const DeviceArray<RunControl> control(queue, std::vector<RunControl>{g.control});
  queue.launch(GatherStates{from.view(), to.view(), source.view(), rung_of.view(),
                            active_rungs.view(), control.data()});
  EXPECT_EQ(from.values(), g.from_values) << "the source was written";
  return to.values();
}

Gathering random_gathering(BlockKind kind, Layout layout, std::int64_t variables,
                           std::int64_t from_slots, std::int64_t to_slots) {
  Gathering g;
  g.from = {kind, layout, variables, from_slots, 0, 100};
  if (kind == BlockKind::spin) g.from.lower = -1, g.from.upper = 1;
  if (kind == BlockKind::binary) g.from.upper = 1;
  g.to = g.from;
  g.to.slots = to_slots;
  g.from_values = random_values(g.from, 1);
  g.to_values = random_values(g.to, 2);
  TestRandom random(idx(from_slots + to_slots));
  for (std::int64_t slot = 0; slot < to_slots; ++slot) {
    g.source.push_back(static_cast<std::int32_t>(random.between(-1, from_slots - 1)));
    g.rung_of.push_back(static_cast<std::int32_t>(random.between(0, 2)));
  }
  return g;
}

TEST_P(GatherStatesKernel, CopiesChosenSlotsInEveryLayout) {
  for (const BlockKind kind : {BlockKind::spin, BlockKind::binary, BlockKind::category,
                               BlockKind::permutation, BlockKind::real}) {
    for (const Layout layout : layouts_of(kind)) {
      for (const std::int64_t variables : {1, 2, 31, 33}) {
        for (const std::int64_t slots : {32, 64, 288}) {
          SCOPED_TRACE(std::string(to_string(kind)) + " " + to_string(layout));
          Gathering g = random_gathering(kind, layout, variables, slots, 64);
          if (layout == Layout::f32) g.from_values = decode(g.from, encode(g.from, g.from_values));
          if (layout == Layout::f32) g.to_values = decode(g.to, encode(g.to, g.to_values));
          EXPECT_EQ(gathered(queue(), g), expected(g));
          g.active_rungs = {1, 0, 1};
          EXPECT_EQ(gathered(queue(), g), expected(g));
        }
      }
    }
  }
}

TEST_P(GatherStatesKernel, TakesTheSameSlotWithoutSources) {
  Gathering g = random_gathering(BlockKind::spin, Layout::packed32, 7, 64, 64);
  g.source.clear();
  EXPECT_EQ(gathered(queue(), g), g.from_values);
  g.active_rungs = {0, 1, 0};
  const std::vector<double> out = gathered(queue(), g);
  EXPECT_EQ(out, expected(g));
  EXPECT_NE(out, g.from_values);
}

// Slots that are copied from are left alone: then source and target may be one.
TEST_P(GatherStatesKernel, WorksInPlaceWhereNoSourceIsATarget) {
  for (const Layout layout : {Layout::packed32, Layout::i8}) {
    Gathering g = random_gathering(BlockKind::spin, layout, 33, 288, 288);
    g.to_values = g.from_values;
    TestRandom random(5);
    for (std::size_t slot = 0; slot < g.source.size(); ++slot) {  // even ones from odd ones
      const bool taken = slot % 2 == 0 && random.unit() < 0.7;
      g.source[slot] = taken ? static_cast<std::int32_t>(2 * random.between(0, 143) + 1) : -1;
    }
    DeviceBlock block(queue(), g.from, g.from_values);
    const DeviceArray<std::int32_t> source(queue(), g.source);
    const DeviceArray<RunControl> control(queue(), std::vector<RunControl>{g.control});
    queue().launch(GatherStates{block.view(), block.view(), source.view(), {}, {}, control.data()});
    EXPECT_EQ(block.values(), expected(g));
  }
}

TEST_P(GatherStatesKernel, LeavesEverythingAloneWhereNothingIsChosenOrOnceStopped) {
  Gathering g = random_gathering(BlockKind::spin, Layout::packed32, 7, 64, 32);
  Gathering stopped = g;
  stopped.control.stop = DeviceStop::target;
  EXPECT_EQ(gathered(queue(), stopped), g.to_values);
  g.source.assign(g.source.size(), -1);
  EXPECT_EQ(gathered(queue(), g), g.to_values);
  Gathering empty = random_gathering(BlockKind::real, Layout::f64, 0, 32, 32);
  EXPECT_TRUE(gathered(queue(), empty).empty());
}

}  // namespace
}  // namespace kiln::test::gather_states_test
