// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/assign_variable.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Copies and counts.
KILN_CONFORMANCE_CASE(AssignVariable, exact)

namespace kiln::test::assign_variable_test {
namespace {

class AssignVariableKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AssignVariableKernel);

struct Assigned {
  std::vector<double> values, before, energy;
  std::vector<std::uint64_t> accepted;
  friend bool operator==(const Assigned&, const Assigned&) = default;
};

struct AssignInputs {
  BlockShape shape;
  std::int64_t variable = 0;
  Assigned state;
  std::vector<std::int32_t> drawn;  ///< empty: on trial
  RunControl control;
  std::uint32_t offset = 0;
};

// What is left after values 0 .. trials - 1 were tried, then the drawn ones taken. The energy of
// candidate i of a slot is 100 i + slot.
Assigned run(Queue& queue, const AssignInputs& inputs, std::int32_t trials) {
  const std::int64_t slots = inputs.shape.slots;
  std::vector<double> energies;
  for (std::int64_t i = 0; i < 20 * slots; ++i) {
    energies.push_back(static_cast<double>(100 * (i / slots) + i % slots));
  }
  DeviceBlock block(queue, inputs.shape, inputs.state.values);
  DeviceArray<double> before(queue, inputs.state.before), energy(queue, inputs.state.energy);
  DeviceArray<std::uint64_t> accepted(queue, inputs.state.accepted);
  const DeviceArray<double> candidates(queue, energies);
  const DeviceArray<std::int32_t> drawn(queue, inputs.drawn);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  AssignVariable kernel;
  kernel.block = block.view();
  kernel.variable = inputs.variable;
  kernel.before = before.view();
  kernel.control = control.data();
  kernel.step_offset = inputs.offset;
  for (kernel.index = 0; kernel.index < trials; ++kernel.index) queue.launch(kernel);
  if (!inputs.drawn.empty()) {
    kernel.drawn = drawn.view();
    kernel.candidates = {candidates.data(), 20, slots, slots};
    kernel.energy = energy.view();
    kernel.accepted = accepted.view();
    queue.launch(kernel);
  }
  return {block.values(), before.download(), energy.download(), accepted.download()};
}

AssignInputs make(const BlockShape& shape, std::int64_t variable) {
  AssignInputs inputs;
  inputs.shape = shape;
  inputs.variable = variable;
  inputs.state = {random_values(shape, 3), std::vector<double>(idx(shape.slots), -9),
                  std::vector<double>(idx(shape.slots), 7),
                  std::vector<std::uint64_t>(idx(shape.slots), 5)};
  return inputs;
}

const BlockShape categories{BlockKind::category, Layout::i32, 3, 32, 0, 4};

std::vector<BlockShape> shapes() {
  std::vector<BlockShape> all;
  for (const BlockShape& base : {BlockShape{BlockKind::spin, Layout::i8, 5, 64, -1, 1},
                                 BlockShape{BlockKind::binary, Layout::i8, 5, 32, 0, 1},
                                 BlockShape{BlockKind::category, Layout::i8, 5, 96, 0, 9},
                                 BlockShape{BlockKind::integer, Layout::i8, 5, 32, -7, 11},
                                 BlockShape{BlockKind::integer, Layout::i8, 5, 288, 4, 4}}) {
    for (const Layout layout : layouts_of(base.kind)) {
      if (layout == Layout::packed32) continue;
      BlockShape shape = base;
      shape.layout = layout;
      all.push_back(shape);
    }
  }
  return all;
}

double value_by_hand(const BlockShape& shape, std::int32_t index) {
  if (shape.kind == BlockKind::spin) return index == 0 ? -1 : 1;
  return shape.lower + index;
}

TEST_P(AssignVariableKernel, GivesAllSlotsTheValueOnTrialAndKeepsTheFirst) {
  for (const BlockShape& shape : shapes()) {
    const auto values = static_cast<std::int32_t>(
        shape.kind == BlockKind::spin ? 2 : shape.upper - shape.lower + 1);
    const AssignInputs inputs = make(shape, 2);
    for (std::int32_t trials = 1; trials <= values; ++trials) {
      const Assigned out = run(queue(), inputs, trials);
      Assigned expected = inputs.state;
      const auto row = expected.values.begin() + 2 * shape.slots;
      std::copy_n(row, shape.slots, expected.before.begin());
      std::fill_n(row, shape.slots, value_by_hand(shape, trials - 1));
      EXPECT_EQ(out, expected) << to_string(shape.kind) << " in " << to_string(shape.layout);
    }
  }
}

TEST_P(AssignVariableKernel, TakesTheDrawnValueWithItsEnergyAndCountsChanges) {
  for (const BlockShape& shape : shapes()) {
    const auto values = static_cast<std::int32_t>(
        shape.kind == BlockKind::spin ? 2 : shape.upper - shape.lower + 1);
    AssignInputs inputs = make(shape, 4);
    for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
      inputs.drawn.push_back(static_cast<std::int32_t>(slot * 7 % values));
    }
    const Assigned out = run(queue(), inputs, values);
    Assigned expected = inputs.state;
    for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
      double& value = expected.values[idx(4 * shape.slots + slot)];
      expected.before[idx(slot)] = value;
      const std::int32_t index = inputs.drawn[idx(slot)];
      if (value != value_by_hand(shape, index)) ++expected.accepted[idx(slot)];
      value = value_by_hand(shape, index);
      expected.energy[idx(slot)] = static_cast<double>(100 * index + slot);
    }
    EXPECT_EQ(out, expected) << to_string(shape.kind) << " in " << to_string(shape.layout);
  }
}

TEST_P(AssignVariableKernel, PutsTheValueBackWhereNothingWasDrawn) {
  AssignInputs inputs = make(categories, 1);
  inputs.drawn.assign(32, -1);
  const Assigned out = run(queue(), inputs, 5);
  EXPECT_EQ(out.values, inputs.state.values);
  EXPECT_EQ(out.energy, inputs.state.energy);
  EXPECT_EQ(out.accepted, inputs.state.accepted);
}

TEST_P(AssignVariableKernel, DoesNothingOnceStoppedOrBeyondTheLimit) {
  AssignInputs inputs = make(categories, 1);
  inputs.drawn.assign(32, 0);
  inputs.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), inputs, 5), inputs.state);
  inputs.control.stop = DeviceStop::none;
  inputs.control.step_limit = 2;
  inputs.offset = 2;
  EXPECT_EQ(run(queue(), inputs, 5), inputs.state);
}

}  // namespace
}  // namespace kiln::test::assign_variable_test
