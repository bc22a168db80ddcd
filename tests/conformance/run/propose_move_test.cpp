// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/propose_move.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "kiln/device/exact_math.hpp"

#include "backends/backends.hpp"
#include "backends/backends_moves.hpp"
#include "backends/conformance_case.hpp"
#include "backends/cpu_queue.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(ProposeMove, exact)

namespace kiln::test::propose_move_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class ProposeMoveKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ProposeMoveKernel);

// What the header says, for the words of a draw.
double plain_real(const BlockShape& shape, double before, const Words4& words) {
  const bool bounded = shape.lower != -infinity;
  const double range = bounded ? shape.upper - shape.lower : 4.0;
  const double scale = exact::exp(-20.0 * 0.6931471805599453 * ((words[1] + 0.5) / 4294967296.0));
  double x = before + (2.0 * ((words[0] + 0.5) / 4294967296.0) - 1.0) * scale * range;
  if (!bounded) return x;
  if (x < shape.lower) x = 2.0 * shape.lower - x;
  if (x > shape.upper) x = 2.0 * shape.upper - x;
  return std::max(x, shape.lower);
}

double plain_value(const BlockShape& shape, double before, const Words4& words) {
  if (shape.kind == BlockKind::spin) return -before;
  if (shape.kind == BlockKind::binary) return 1 - before;
  if (shape.kind == BlockKind::real) return plain_real(shape, before, words);
  // One of the other values, counted from the lowest.
  std::vector<double> others;
  for (double v = shape.lower; v <= shape.upper; ++v) {
    if (v != before) others.push_back(v);
  }
  return others.empty() ? before : others[(words[0] * others.size()) >> 32];
}

MoveState plain_move(const MoveInputs& inputs) {
  MoveState s = inputs.state;
  const BlockShape& shape = inputs.shape;
  for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
    const Words4 words =
        draw_quad({inputs.names.key[idx(slot)], inputs.control.step + inputs.offset,
                   inputs.names.replica[idx(slot)], RngDomain::propose, 0},
                  inputs.attempt);
    const auto at = [&](std::int64_t v) -> double& {
      return s.values[idx(v * shape.slots + slot)];
    };
    if (shape.kind == BlockKind::permutation) {
      const std::uint64_t n = idx(shape.variables);
      const auto a = static_cast<std::int32_t>((words[0] * n) >> 32);
      const auto b = static_cast<std::int32_t>((words[1] * n) >> 32);
      s.first[idx(slot)] = std::min(a, b);
      s.second[idx(slot)] = std::max(a, b);
      for (std::int64_t i = std::min(a, b), j = std::max(a, b); i < j; ++i, --j) {
        std::swap(at(i), at(j));
      }
      continue;
    }
    double& value = at(inputs.variable);
    s.first[idx(slot)] = static_cast<std::int32_t>(inputs.variable);
    s.before[idx(slot)] = value;
    value = plain_value(shape, value, words);
  }
  s.values = decode(shape, encode(shape, s.values));
  return s;
}

TEST_P(ProposeMoveKernel, FlipsSpinsAndBits) {
  MoveInputs spin = make_move({BlockKind::spin, Layout::i8, 3, 32, -1, 1}, 1);
  spin.variable = 1;
  spin.state.values.assign(96, 1.0);
  MoveInputs bit = make_move({BlockKind::binary, Layout::f64, 1, 32, 0, 1}, 1);
  bit.state.values.assign(32, 0.0);

  const MoveState flipped = propose(queue(), spin);

  EXPECT_EQ(std::count(flipped.values.begin() + 32, flipped.values.begin() + 64, -1.0), 32);
  EXPECT_EQ(std::count(flipped.values.begin(), flipped.values.end(), -1.0), 32);
  EXPECT_EQ(flipped.before, std::vector<double>(32, 1.0));
  EXPECT_EQ(flipped.first, std::vector<std::int32_t>(32, 1));
  EXPECT_EQ(propose(queue(), bit).values, std::vector<double>(32, 1.0));
}

TEST_P(ProposeMoveKernel, RefusesStatesOf32ToAWord) {
  const MoveInputs packed = make_move({BlockKind::spin, Layout::packed32, 3, 32, -1, 1}, 1);
  EXPECT_EQ(code_of([&] { propose(queue(), packed); }), "kernel.packed");
}

TEST_P(ProposeMoveKernel, MatchesTheDefinition) {
  for (BlockShape shape : move_shapes()) {
    for (const std::int64_t variables : {1, 2, 33, 100}) {
      for (const std::int64_t slots : {32, 96, 288}) {
        shape.variables = variables;
        shape.slots = slots;
        MoveInputs inputs = make_move(shape, slots / 32);
        inputs.variable = variables - 1;
        inputs.attempt = 7 + static_cast<std::uint32_t>(variables);
        inputs.offset = 2;
        inputs.control.step = (3ull << 32) - 1;
        const MoveState got = propose(queue(), inputs), expected = plain_move(inputs);
        EXPECT_EQ(got, expected) << to_string(shape.kind) << " in " << to_string(shape.layout)
                                 << ", " << variables << " variables";
      }
    }
  }
}

TEST_P(ProposeMoveKernel, ReachesAllOtherValuesAlikeAndNeverTheSame) {
  const BlockShape shape{BlockKind::category, Layout::i8, 1, 40000, 0, 4};
  MoveInputs inputs = make_move(shape, 1);
  inputs.state.values.assign(40000, 2.0);

  std::map<double, int> counts;
  for (const double value : propose(queue(), inputs).values) ++counts[value];

  EXPECT_EQ(counts.size(), 4u);
  EXPECT_EQ(counts.count(2.0), 0u);
  // 10,000 of each expected, standard deviation 87: 5 of them, about 2e-6 for all four.
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10000, 435) << value;
}

// A symmetric proposal leaves the uniform law as it is: P(a -> b) = P(b -> a) for equal steps.
TEST_P(ProposeMoveKernel, StepsUpAndDownAlikeAndStaysInTheInterval) {
  MoveInputs inputs = make_move({BlockKind::real, Layout::f64, 1, 40000, 2, 5}, 1);
  inputs.state.values.assign(40000, 3.5);
  int up = 0;
  for (const double value : propose(queue(), inputs).values) up += value > 3.5 ? 1 : 0;
  EXPECT_NEAR(up, 20000, 500);  // 5 standard deviations of 100: 6e-7
  for (const double edge : {2.0, 5.0}) {
    inputs.state.values.assign(40000, edge);
    for (const double value : propose(queue(), inputs).values) {
      ASSERT_GE(value, 2.0);
      ASSERT_LE(value, 5.0);
    }
  }
}

TEST_P(ProposeMoveKernel, ReversesAStretchOfAnOrdering) {
  const MoveInputs inputs = make_move({BlockKind::permutation, Layout::i32, 50, 96, 0, 0}, 1);

  MoveState moved = propose(queue(), inputs);

  for (std::size_t slot = 0; slot < 96; ++slot) {
    ASSERT_LE(moved.first[slot], moved.second[slot]);
    for (std::int32_t i = moved.first[slot], j = moved.second[slot]; i < j; ++i, --j) {
      std::swap(moved.values[idx(i) * 96 + slot], moved.values[idx(j) * 96 + slot]);
    }
  }
  EXPECT_EQ(moved.values, inputs.state.values);
}

TEST_P(ProposeMoveKernel, DoesNothingOnceStoppedOrBeyondTheLimit) {
  MoveInputs inputs = make_move({BlockKind::spin, Layout::i8, 3, 32, -1, 1}, 1);
  inputs.control.stop = DeviceStop::target;
  EXPECT_EQ(propose(queue(), inputs), inputs.state);
  inputs.control.stop = DeviceStop::none;
  inputs.control.step_limit = inputs.control.step + 1;
  inputs.offset = 1;
  EXPECT_EQ(propose(queue(), inputs), inputs.state);
}

}  // namespace
}  // namespace kiln::test::propose_move_test
