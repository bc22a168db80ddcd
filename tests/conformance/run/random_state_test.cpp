// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/random_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(RandomState, exact)

namespace kiln::test::random_state_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class RandomStateKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(RandomStateKernel);

struct DrawInputs {
  BlockShape shape;
  std::int64_t first_variable = 0;
  std::vector<std::int32_t> rung;  // [slots]
  std::vector<std::uint32_t> active_rungs;
  HostNames names;
  RunControl control;
  DrawNaming naming = DrawNaming::words;
  std::vector<double> before;  // [variable][slot]
  std::vector<double> box;     // [2][variable], bounds of each variable; empty: those of the shape
};

DrawInputs make_inputs(const BlockShape& shape, std::int64_t groups = 2) {
  DrawInputs inputs;
  inputs.shape = shape;
  inputs.names = make_names(shape.slots, groups, idx(shape.variables));
  for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
    inputs.rung.push_back(static_cast<std::int32_t>(slot % 3));
  }
  inputs.before.assign(idx(shape.variables * shape.slots), 1.0);
  inputs.control.step = 11;
  return inputs;
}

std::vector<double> run(Queue& queue, const DrawInputs& inputs) {
  DeviceBlock block(queue, inputs.shape, inputs.before);
  const DeviceArray<std::int32_t> rung(queue, inputs.rung);
  const DeviceArray<std::uint32_t> active_rungs(queue, inputs.active_rungs);
  const DeviceNames names(queue, inputs.names);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  const DeviceArray<double> box(queue, inputs.box);
  StateBlock view = block.view();
  if (!inputs.box.empty()) view.box = box.data();
  queue.launch(RandomState{view, inputs.first_variable, rung.view(), active_rungs.view(),
                           names.view(), control.data(), inputs.naming});
  return block.values();
}

double plain_value(const BlockShape& shape, std::uint32_t word) {
  switch (shape.kind) {
    case BlockKind::spin:
      return word >= 0x80000000u ? -1 : 1;
    case BlockKind::binary:
      return word >= 0x80000000u ? 1 : 0;
    case BlockKind::real: {
      const double low = shape.lower == -infinity ? -2 : shape.lower;
      const double high = shape.upper == infinity ? 2 : shape.upper;
      return low + (high - low) * ((word + 0.5) / 4294967296.0);
    }
    default: {
      const auto span = static_cast<std::uint64_t>(shape.upper - shape.lower) + 1;
      return shape.lower + static_cast<double>((word * span) >> 32);
    }
  }
}

// What the header says, slot by slot.
std::vector<double> plain_states(const DrawInputs& inputs) {
  const BlockShape& shape = inputs.shape;
  std::vector<double> values = inputs.before;
  for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
    if (!inputs.active_rungs.empty() && inputs.active_rungs[idx(inputs.rung[idx(slot)])] == 0)
      continue;
    const DrawName name{inputs.names.key[idx(slot)], inputs.control.step,
                        inputs.names.replica[idx(slot)], RngDomain::initial_state, 0};
    const auto at = [&](std::int64_t v) -> double& { return values[idx(v * shape.slots + slot)]; };
    const auto word = [&](std::int64_t v) -> std::uint32_t {
      const auto index = static_cast<std::uint32_t>(inputs.first_variable + v);
      if (inputs.naming == DrawNaming::words || shape.layout != Layout::packed32) {
        return draw_word(name, index);
      }
      const DrawName plane{name.key, name.step, name.replica / 32, RngDomain::initial_planes, 0};
      return draw_word(plane, index) << (31 - name.replica % 32);
    };
    if (shape.kind != BlockKind::permutation) {
      for (std::int64_t v = 0; v < shape.variables; ++v) {
        BlockShape own = shape;
        if (!inputs.box.empty()) {
          own.lower = inputs.box[idx(v)], own.upper = inputs.box[idx(shape.variables + v)];
        }
        at(v) = plain_value(own, word(v));
      }
      continue;
    }
    for (std::int64_t v = 0; v < shape.variables; ++v) at(v) = static_cast<double>(v);
    for (std::int64_t v = shape.variables - 1; v > 0; --v) {
      const std::uint64_t places = idx(v) + 1;
      std::swap(at(v), at(static_cast<std::int64_t>((word(v) * places) >> 32)));
    }
  }
  // What the layout keeps of it: f32 rounds.
  return decode(shape, encode(shape, values));
}

std::vector<BlockShape> shapes() {
  constexpr Layout any = Layout::i8;
  std::vector<BlockShape> all;
  for (const BlockShape& base : {BlockShape{BlockKind::spin, any, 0, 0, -1, 1},
                                 BlockShape{BlockKind::binary, any, 0, 0, 0, 1},
                                 BlockShape{BlockKind::category, any, 0, 0, 0, 6},
                                 BlockShape{BlockKind::integer, any, 0, 0, -100, 27},
                                 BlockShape{BlockKind::integer, any, 0, 0, 5, 5},
                                 BlockShape{BlockKind::real, any, 0, 0, -1.5, 2.25},
                                 BlockShape{BlockKind::real, any, 0, 0, -infinity, infinity},
                                 BlockShape{BlockKind::permutation, any, 0, 0, 0, 0}}) {
    for (const Layout layout : layouts_of(base.kind)) {
      BlockShape shape = base;
      shape.layout = layout;
      all.push_back(shape);
    }
  }
  return all;
}

TEST_P(RandomStateKernel, MatchesTheDefinition) {
  for (BlockShape shape : shapes()) {
    for (const std::int64_t variables : {1, 2, 31, 32, 33, 100}) {
      for (const std::int64_t slots : {32, 96, 288}) {
        shape.variables = variables;
        shape.slots = slots;
        DrawInputs inputs = make_inputs(shape, slots / 32);
        inputs.first_variable = variables % 5;
        EXPECT_EQ(run(queue(), inputs), plain_states(inputs))
            << to_string(shape.kind) << " in " << to_string(shape.layout) << ", " << variables
            << " variables, " << slots << " slots";
      }
    }
  }
}

TEST_P(RandomStateKernel, DrawsOnlyTheRungsThatAreAskedFor) {
  for (BlockShape shape : shapes()) {
    shape.variables = 9;
    shape.slots = 64;
    DrawInputs inputs = make_inputs(shape);
    inputs.active_rungs = {0, 1, 0};
    EXPECT_EQ(run(queue(), inputs), plain_states(inputs)) << to_string(shape.layout);
    inputs.active_rungs = {0, 0, 0};
    EXPECT_EQ(run(queue(), inputs), inputs.before) << to_string(shape.layout);
  }
}

TEST_P(RandomStateKernel, GivesOrderingsForPermutations) {
  for (const std::int64_t n : {1, 2, 33, 127}) {
    const BlockShape shape{BlockKind::permutation, Layout::i32, n, 64, 0, 0};
    const std::vector<double> values = run(queue(), make_inputs(shape));
    for (std::int64_t slot = 0; slot < 64; ++slot) {
      std::vector<double> order;
      for (std::int64_t v = 0; v < n; ++v) order.push_back(values[idx(v * 64 + slot)]);
      std::sort(order.begin(), order.end());
      for (std::int64_t v = 0; v < n; ++v) ASSERT_EQ(order[idx(v)], static_cast<double>(v));
    }
  }
}

TEST_P(RandomStateKernel, CoversAllIntegersOf32Bits) {
  DrawInputs inputs = make_inputs({BlockKind::integer, Layout::i32, 40, 96, -0x1p31, 0x1p31 - 1});

  const std::vector<double> values = run(queue(), inputs);

  EXPECT_EQ(values, plain_states(inputs));
  EXPECT_LT(*std::min_element(values.begin(), values.end()), -2.1e9);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 2.1e9);
}

TEST_P(RandomStateKernel, StaysInsideTheBounds) {
  const BlockShape shape{BlockKind::real, Layout::f64, 257, 288, 3, 4};
  for (const double value : run(queue(), make_inputs(shape))) {
    ASSERT_GT(value, 3);
    ASSERT_LT(value, 4);
  }
}

TEST_P(RandomStateKernel, DrawsFromTheIntervalOfEachReal) {
  DrawInputs inputs = make_inputs({BlockKind::real, Layout::f64, 3, 96, -5, 15});
  inputs.first_variable = 2;
  inputs.box = {-5, 0, -infinity, 10, 15, infinity};
  EXPECT_EQ(run(queue(), inputs), plain_states(inputs));
}

TEST_P(RandomStateKernel, NamesDrawsByTheStep) {
  DrawInputs inputs = make_inputs({BlockKind::spin, Layout::packed32, 33, 32});
  const std::vector<double> first = run(queue(), inputs);
  inputs.control.step += 1ull << 32;
  const std::vector<double> second = run(queue(), inputs);

  EXPECT_EQ(second, plain_states(inputs));
  EXPECT_NE(first, second);
}

TEST_P(RandomStateKernel, DrawsPackedWordsByPlanes) {
  for (const BlockKind kind : {BlockKind::spin, BlockKind::binary}) {
    for (const std::int64_t slots : {32, 1024, 1056}) {
      DrawInputs inputs = make_inputs({kind, Layout::packed32, 103, slots}, slots / 32);
      inputs.naming = DrawNaming::planes;
      inputs.first_variable = 5;
      const std::vector<double> in_order = run(queue(), inputs);
      EXPECT_EQ(in_order, plain_states(inputs)) << slots << " slots";
      inputs.active_rungs = {0, 1, 1};
      EXPECT_EQ(run(queue(), inputs), plain_states(inputs)) << "some rungs";
      // Slots of other groups and replicas in one word.
      std::rotate(inputs.names.key.begin(), inputs.names.key.begin() + 7, inputs.names.key.end());
      std::ranges::reverse(inputs.names.replica);
      inputs.active_rungs.clear();
      const std::vector<double> mixed = run(queue(), inputs);
      EXPECT_EQ(mixed, plain_states(inputs)) << slots << " slots, not in order";
      EXPECT_NE(mixed, in_order);
      inputs.active_rungs = {1, 0, 1};
      EXPECT_EQ(run(queue(), inputs), plain_states(inputs)) << "some rungs, not in order";
    }
  }
}

TEST_P(RandomStateKernel, DrawsOtherLayoutsByWordsWhateverTheNaming) {
  DrawInputs inputs = make_inputs({BlockKind::spin, Layout::i8, 33, 64});
  const std::vector<double> by_words = run(queue(), inputs);
  inputs.naming = DrawNaming::planes;
  EXPECT_EQ(run(queue(), inputs), by_words);
}

TEST_P(RandomStateKernel, DoesNothingOnceStoppedOrAtTheLimit) {
  for (const Layout layout : {Layout::packed32, Layout::i8}) {
    DrawInputs inputs = make_inputs({BlockKind::spin, layout, 33, 32});
    inputs.control.stop = DeviceStop::target;
    EXPECT_EQ(run(queue(), inputs), inputs.before);
    inputs.control.stop = DeviceStop::none;
    inputs.control.step_limit = inputs.control.step;
    EXPECT_EQ(run(queue(), inputs), inputs.before);
  }
  DrawInputs order = make_inputs({BlockKind::permutation, Layout::i32, 9, 32, 0, 0});
  order.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), order), order.before);
}

}  // namespace
}  // namespace kiln::test::random_state_test
