// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/objective_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "kiln/problems/vector_functions/all.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"
#include "vector_function_values.hpp"

// Elementary functions of the device.
KILN_CONFORMANCE_CASE(ObjectiveValues, reordered)

namespace kiln::test::objective_values_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Blocks with the values that their layouts hold.
struct States {
  std::vector<BlockShape> shapes;
  std::vector<std::vector<double>> values;

  std::int64_t slots() const { return shapes.front().slots; }
  /// The variables of a slot, through all blocks.
  Values of(std::int64_t slot) const {
    Values x;
    for (std::size_t b = 0; b < shapes.size(); ++b) {
      for (std::int64_t v = 0; v < shapes[b].variables; ++v) {
        x.push_back(values[b][idx(v * shapes[b].slots + slot)]);
      }
    }
    return x;
  }
};

States draw(const std::vector<BlockShape>& shapes, std::uint64_t seed) {
  States all{shapes, {}};
  for (const BlockShape& shape : shapes) {
    all.values.push_back(decode(shape, encode(shape, random_values(shape, seed++))));
  }
  return all;
}
BlockShape reals(std::int64_t variables, std::int64_t slots, double lower = 0, double upper = 1,
                 Layout layout = Layout::f64) {
  return {BlockKind::real, layout, variables, slots, lower, upper};
}
BlockShape bits(std::int64_t variables, std::int64_t slots, Layout layout) {
  return {BlockKind::binary, layout, variables, slots, 0, 1};
}

struct Computed {
  std::vector<double> value, violation, constraint;  ///< of all columns; those of no slot are -7
  std::vector<std::uint64_t> not_finite;
};

Computed compute(Queue& queue, const VectorFunctionRef& function, std::int64_t objectives,
                 const States& states, std::int64_t replicas, const PointColumns& columns,
                 const RunControl& state = {}, std::int64_t constraints = 0) {
  const std::int64_t width = columns[replicas - 1] + 3;
  DeviceArray<double> value(queue, std::vector<double>(idx(objectives * width), -7));
  DeviceArray<double> violation(queue, std::vector<double>(idx(width), -7));
  DeviceArray<double> constraint(queue, std::vector<double>(idx(constraints * width), -7));
  DeviceArray<std::uint64_t> not_finite(queue, std::vector<std::uint64_t>(idx(replicas), 4));
  const auto control = upload_control(queue, state);
  std::vector<std::unique_ptr<DeviceBlock>> blocks;
  ObjectiveValues kernel;
  kernel.function = function;
  for (std::size_t b = 0; b < states.shapes.size(); ++b) {
    blocks.push_back(std::make_unique<DeviceBlock>(queue, states.shapes[b], states.values[b]));
    kernel.state[kernel.n_blocks++] = blocks.back()->view();
  }
  kernel.replicas = replicas;
  kernel.columns = columns;
  kernel.value = {value.data(), objectives, width, width};
  kernel.violation = violation.view();
  kernel.not_finite = not_finite.view();
  if (constraints > 0) kernel.constraint = {constraint.data(), constraints, width, width};
  kernel.control = control.data();
  queue.launch(kernel);
  return {value.download(), violation.download(), constraint.download(), not_finite.download()};
}

/// Compares with calls on the host; `on_host` has its data there.
template <class Function>
void expect_values(const Computed& got, const Function& on_host, const States& states,
                   std::int64_t replicas, const PointColumns& columns) {
  const auto width = static_cast<std::int64_t>(got.violation.size());
  std::vector<bool> used(idx(width));
  for (std::int64_t slot = 0; slot < replicas; ++slot) {
    const Evaluated expected = evaluate(on_host, states.of(slot));
    const std::int64_t column = columns[slot];
    used[idx(column)] = true;
    Values f;
    double violation = 0;
    for (std::int64_t k = 0; k < on_host.objectives(); ++k) {
      f.push_back(got.value[idx(k * width + column)]);
    }
    for (const double g : expected.g) violation += std::max(g, 0.0);
    expect_near(f, expected.f, double_tolerance, "slot " + std::to_string(slot));
    expect_near({got.violation[idx(column)]}, {violation}, double_tolerance, "violation");
    Values g;
    for (std::int64_t j = 0; j < on_host.constraints(); ++j) {
      g.push_back(got.constraint[idx(j * width + column)]);
    }
    expect_near(g, expected.g, double_tolerance, "constraints");
    ASSERT_EQ(got.not_finite[idx(slot)], 4u);
    if (testing::Test::HasFailure()) return;
  }
  for (std::int64_t column = 0; column < width; ++column) {
    if (used[idx(column)]) continue;
    ASSERT_EQ(got.violation[idx(column)], -7) << "a column of no slot";
    ASSERT_EQ(got.value[idx(column)], -7);
    if (got.constraint.empty()) continue;
    ASSERT_EQ(got.constraint[idx(column)], -7);
  }
}

class ObjectiveValuesKernel : public DeviceTest {
 protected:
  template <class Function>
  void check(const Function& function, const std::vector<BlockShape>& shapes, std::int64_t replicas,
             const PointColumns& columns) {
    const States states = draw(shapes, 3);
    const Computed got = compute(queue(), VectorFunctionRef(function), function.objectives(),
                                 states, replicas, columns, {}, function.constraints());
    expect_values(got, function, states, replicas, columns);
  }
};
KILN_ON_EVERY_BACKEND(ObjectiveValuesKernel);

TEST_P(ObjectiveValuesKernel, HasTheValuesOfZdt) {
  for (const int number : {1, 2, 3, 4, 6}) {
    SCOPED_TRACE("ZDT" + std::to_string(number));
    check(Zdt{number, 30}, {reals(30, 1024)}, 1000, {1000, 1000, 0});
  }
  for (const Layout layout : layouts_of(BlockKind::binary)) {
    check(Zdt{5, 80}, {bits(80, 96, layout)}, 70, {70, 70, 0});
  }
}

TEST_P(ObjectiveValuesKernel, HasTheValuesOfDtlzAndWfg) {
  for (int number = 1; number <= 7; ++number) {
    SCOPED_TRACE("number " + std::to_string(number));
    check(Dtlz{number, 3, 12}, {reals(12, 320)}, 300, {300, 300, 0});
    check(Wfg{number, 3, 4, 8}, {reals(12, 320)}, 300, {300, 300, 0});
  }
  check(Dtlz{2, 10, 19}, {reals(19, 64)}, 50, {50, 50, 0});
  check(Dtlz{2, 3, 12, DtlzConstraints::c2}, {reals(12, 320)}, 300, {300, 300, 0});
  check(Dtlz{4, 5, 14, DtlzConstraints::c3}, {reals(14, 320)}, 300, {300, 300, 0});
}

TEST_P(ObjectiveValuesKernel, WritesToTheColumnsOfGroups) {
  check(Zdt{1, 5}, {reals(5, 96)}, 80, {20, 50, 20});
  check(Zdt{1, 5}, {reals(5, 96)}, 80, {7, 7, 3});
}

TEST_P(ObjectiveValuesKernel, NumbersVariablesThroughBlocksOfAnyLayout) {
  check(Dtlz{2, 3, 9}, {reals(4, 96), reals(1, 96, 0, 1, Layout::f32), reals(4, 96)}, 90,
        {90, 90, 0});
  check(Zdt{5, 60},
        {bits(20, 96, Layout::packed32), bits(15, 96, Layout::i8), bits(5, 96, Layout::packed32),
         bits(20, 96, Layout::i32)},
        90, {90, 90, 0});
  // Numbers of every kind; bounds are no matter of the function.
  check(Zdt{1, 8},
        {reals(1, 96),
         bits(2, 96, Layout::packed32),
         {BlockKind::integer, Layout::i32, 2, 96, 0, 9},
         {BlockKind::category, Layout::i8, 2, 96, 0, 3},
         {BlockKind::permutation, Layout::i32, 1, 96, 0, 0}},
        90, {90, 90, 0});
}

TEST_P(ObjectiveValuesKernel, PacksKnapsacks) {
  constexpr std::int32_t items = 50, sacks = 3;
  TestRandom random(5);
  std::vector<double> profit, weight;
  for (int i = 0; i < items * sacks; ++i) {
    profit.push_back(static_cast<double>(random.between(10, 100)));
    weight.push_back(static_cast<double>(random.between(10, 100)));
  }
  const std::vector<double> capacity{1250, 1400, 1550};
  const DeviceArray<double> profits(queue(), profit), weights(queue(), weight);
  const DeviceArray<double> capacities(queue(), capacity);
  const Knapsack there{profits.data(), weights.data(), capacities.data(), items, sacks};
  const Knapsack here{profit.data(), weight.data(), capacity.data(), items, sacks};
  const PointColumns columns{600, 600, 0};
  for (const Layout layout : layouts_of(BlockKind::binary)) {
    const States states = draw({bits(30, 608, layout), bits(20, 608, Layout::packed32)}, 8);
    const Computed got =
        compute(queue(), VectorFunctionRef(there), sacks, states, 600, columns, {}, sacks);
    expect_values(got, here, states, 600, columns);
    const auto fits = std::count(got.violation.begin(), got.violation.end(), 0.0);
    EXPECT_GT(fits, 20);
    EXPECT_LT(fits, 580);
  }
}

TEST_P(ObjectiveValuesKernel, CountsNanAndStoresWhatIsNotFinite) {
  States states = draw({reals(3, 32)}, 1);
  const auto x = [&](std::int64_t v, std::int64_t slot) -> double& {
    return states.values[0][idx(v * 32 + slot)];
  };
  x(0, 3) = nan;
  x(1, 5) = nan;
  x(0, 7) = inf;  // f2 = g (1 - sqrt(inf))
  x(0, 9) = -1;   // the root of a negative number
  const Computed got = compute(queue(), VectorFunctionRef(Zdt{1, 3}), 2, states, 32, {32, 32, 0});
  const std::size_t width = got.violation.size();
  for (std::size_t slot = 0; slot < 32; ++slot) {
    const bool has_nan = slot == 3 || slot == 5 || slot == 9;
    EXPECT_EQ(got.not_finite[slot], has_nan ? 5u : 4u) << slot;
    EXPECT_EQ(std::isnan(got.value[width + slot]), has_nan) << slot;
    EXPECT_EQ(std::isnan(got.value[slot]), slot == 3);
    EXPECT_EQ(got.violation[slot], 0);
  }
  EXPECT_EQ(got.value[7], inf);
  EXPECT_EQ(got.value[width + 7], -inf);
}

TEST_P(ObjectiveValuesKernel, CountsNanInViolations) {
  States states = draw({reals(4, 32)}, 1);
  states.values[0][2 * 32 + 6] = nan;
  const Dtlz function{2, 2, 4, DtlzConstraints::c2};
  const Computed got = compute(queue(), VectorFunctionRef(function), 2, states, 32, {32, 32, 0});
  for (std::size_t slot = 0; slot < 32; ++slot) {
    EXPECT_EQ(std::isnan(got.violation[slot]), slot == 6);
    EXPECT_EQ(got.not_finite[slot], slot == 6 ? 5u : 4u);
  }
}

TEST_P(ObjectiveValuesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Computed got = compute(queue(), VectorFunctionRef(Zdt{1, 5}), 2, draw({reals(5, 32)}, 1),
                               30, {30, 30, 0}, stopped);
  EXPECT_EQ(got.value, std::vector<double>(got.value.size(), -7));
  EXPECT_EQ(got.violation, std::vector<double>(got.violation.size(), -7));
  EXPECT_EQ(got.not_finite, std::vector<std::uint64_t>(30, 4));
}

}  // namespace
}  // namespace kiln::test::objective_values_test
