// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/variation_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"
#include "kolmogorov_smirnov.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(VariationOperator, exact)

namespace kiln::test::variation_operator_test {
namespace {

struct Case {
  BlockShape shape;
  VariationRule rule;
  std::vector<double> parent;         ///< [variable][slot]
  std::vector<std::int32_t> parents;  ///< [4][slots]
  std::uint64_t seed = 1;
  RunControl control = {};
  std::int64_t first_variable = 0, all_variables = 0;
};

/// Slots 2i and 2i + 1 have the parents 2i and 2i + 1; targets of differential are the slots
/// themselves, the others come after them.
Case make_case(const BlockShape& shape, const VariationRule& rule, std::uint64_t seed) {
  // As the layout holds them, which may be in single precision.
  Case all{shape, rule, decode(shape, encode(shape, random_values(shape, seed))), {}, seed};
  const bool own = rule.crossover == Crossover::differential;
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
      const std::int64_t pair = slot / 2 * 2 + row;
      all.parents.push_back(static_cast<std::int32_t>((own ? slot + 7 * row : pair) % shape.slots));
    }
  }
  all.control.step = 12;
  return all;
}

std::vector<double> vary(Queue& queue, const Case& in, std::int64_t groups = 1) {
  const std::int64_t slots = in.shape.slots;
  DeviceBlock parent(queue, in.shape, in.parent);
  const auto sized = idx(in.shape.variables * slots);
  DeviceBlock child(queue, in.shape, std::vector<double>(sized, in.shape.lower));
  const DeviceArray<std::int32_t> parents(queue, in.parents);
  DeviceArray<std::int32_t> work(queue, in.shape.variables * slots);
  const DeviceNames names(queue, make_names(slots, groups, in.seed));
  const auto control = upload_control(queue, in.control);
  VariationOperator kernel;
  kernel.parent = parent.view();
  kernel.child = child.view();
  kernel.parents = {parents.data(), 4, slots, slots};
  kernel.rule = in.rule;
  kernel.draw_ids = names.view();
  kernel.first_variable = in.first_variable;
  kernel.all_variables = in.all_variables;
  kernel.work = {work.data(), in.shape.variables, slots, slots};
  kernel.control = control.data();
  kernel.step_offset = 3;
  queue.launch(kernel);
  return child.values();
}

BlockShape reals(std::int64_t variables, std::int64_t slots, double lower, double upper) {
  return {BlockKind::real, Layout::f64, variables, slots, lower, upper};
}

class VariationOperatorKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(VariationOperatorKernel);

TEST_P(VariationOperatorKernel, CopiesParentsWithoutAnyRule) {
  for (const BlockKind kind : {BlockKind::spin, BlockKind::binary, BlockKind::category,
                               BlockKind::integer, BlockKind::real, BlockKind::permutation}) {
    for (const Layout layout : layouts_of(kind)) {
      BlockShape shape{kind, layout, 9, 64, 0, 8};
      if (kind == BlockKind::spin) shape.lower = -1;
      if (kind == BlockKind::spin || kind == BlockKind::binary) shape.upper = 1;
      const Case in = make_case(shape, {}, 3);
      EXPECT_EQ(vary(queue(), in), in.parent) << to_string(kind);
    }
  }
}

// Far from the bounds the two children have the mean of their parents, and the ratio of their
// distances has the distribution b^(eta + 1) / 2 below 1 and 1 - b^-(eta + 1) / 2 above.
TEST_P(VariationOperatorKernel, SpreadsSimulatedBinaryChildrenByTheFormula) {
  VariationRule rule{.crossover = Crossover::simulated_binary};
  rule.cross_pair = rule.cross_variable = 1;
  rule.cross_index = 5;
  Case in = make_case(reals(4, 4096, -1e9, 1e9), rule, 5);
  for (std::size_t i = 0; i < in.parent.size(); ++i) in.parent[i] = i % 2 == 0 ? 1.0 : 3.0;

  const std::vector<double> child = vary(queue(), in);

  std::vector<double> ratios;
  int first_is_lower = 0;
  for (std::size_t i = 0; i < child.size(); i += 2) {
    ASSERT_NEAR(child[i] + child[i + 1], 4, 1e-12);
    ratios.push_back(std::abs(child[i] - child[i + 1]) / 2);
    first_is_lower += child[i] < child[i + 1] ? 1 : 0;
  }
  const auto law = [](double b) {
    return b <= 1 ? 0.5 * std::pow(b, 6) : 1 - 0.5 * std::pow(b, -6);
  };
  EXPECT_GT(ks_test(ratios, law).p, 1e-3);
  EXPECT_LT(ks_test(ratios, [](double b) { return b <= 1 ? 0.5 * b : 1 - 0.5 / b; }).p, 1e-6);
  EXPECT_NEAR(first_is_lower, 4096, 5 * 45);  // 5 standard deviations of 8192 fair coins
}

TEST_P(VariationOperatorKernel, KeepsSimulatedBinaryChildrenWithinBounds) {
  VariationRule rule{.crossover = Crossover::simulated_binary};
  rule.cross_variable = 1;
  rule.cross_index = 0.5;
  const Case in = make_case(reals(8, 1024, -1, 1), rule, 7);
  int moved = 0;
  const std::vector<double> child = vary(queue(), in);
  for (std::size_t i = 0; i < child.size(); ++i) {
    ASSERT_GE(child[i], -1);
    ASSERT_LE(child[i], 1);
    moved += child[i] != in.parent[i] ? 1 : 0;
  }
  EXPECT_NEAR(moved, 0.9 * 8192, 5 * std::sqrt(512 * 0.09) * 16);  // pairs are crossed, or not
}

// The distribution function of the step is what the formula's u is, solved for u.
TEST_P(VariationOperatorKernel, MutatesByThePolynomial) {
  VariationRule rule;
  rule.mutation = Mutation::polynomial;
  rule.mutate = 1;
  rule.mutate_index = 3;
  Case in = make_case(reals(4, 4096, 0, 10), rule, 9);
  in.parent.assign(in.parent.size(), 2.5);
  const auto law = [](double y) {
    const double q = (y - 2.5) / 10;
    if (q <= -0.25) return 0.0;
    if (q < 0) return (std::pow(1 + q, 4) - std::pow(0.75, 4)) / (2 * (1 - std::pow(0.75, 4)));
    if (q >= 0.75) return 1.0;
    return 1 - (std::pow(1 - q, 4) - std::pow(0.25, 4)) / (2 * (1 - std::pow(0.25, 4)));
  };
  EXPECT_GT(ks_test(vary(queue(), in), law).p, 1e-3);

  in.rule.mutate = 0.1;
  int moved = 0;
  for (const double x : vary(queue(), in)) moved += x != 2.5 ? 1 : 0;
  EXPECT_NEAR(moved, 1638, 5 * 39);
}

TEST_P(VariationOperatorKernel, AddsDifferencesOfParents) {
  VariationRule rule{.crossover = Crossover::differential};
  rule.cross_pair = rule.cross_variable = 1;
  rule.scale = 0.5;
  Case in = make_case(reals(3, 32, -1, 1), rule, 2);
  for (double& x : in.parent) x = std::round(x * 8) / 8;  // so that sums are exact
  const std::vector<double> all = vary(queue(), in);
  in.rule.cross_variable = 0;
  const std::vector<double> one = vary(queue(), in);
  for (std::size_t slot = 0; slot < 32; ++slot) {
    int taken = 0;
    for (std::size_t v = 0; v < 3; ++v) {
      const auto of = [&](std::size_t row) {
        return in.parent[v * 32 + idx(in.parents[row * 32 + slot])];
      };
      double expected = of(1) + 0.5 * (of(2) - of(3));
      if (std::abs(expected) > 1) expected = 0.5 * (of(0) + (expected > 0 ? 1 : -1));
      EXPECT_EQ(all[v * 32 + slot], expected);
      const double x = one[v * 32 + slot];
      EXPECT_TRUE(x == expected || x == of(0));
      taken += x != of(0) ? 1 : 0;
    }
    EXPECT_LE(taken, 1) << "one variable is taken at least, with CR = 0 no other";
  }
}

TEST_P(VariationOperatorKernel, ExchangesAndResetsBits) {
  for (const Layout layout : {Layout::packed32, Layout::i8}) {
    BlockShape shape{BlockKind::binary, layout, 200, 64, 0, 1};
    VariationRule rule{.crossover = Crossover::uniform};
    rule.cross_pair = 1;
    Case in = make_case(shape, rule, 4);
    for (std::size_t i = 0; i < in.parent.size(); ++i) in.parent[i] = static_cast<double>(i % 2);
    int exchanged = 0;
    const std::vector<double> child = vary(queue(), in);
    for (std::size_t i = 0; i < child.size(); i += 2) {
      ASSERT_EQ(child[i] + child[i + 1], 1) << "what one child gives the other gets";
      exchanged += child[i] == 1 ? 1 : 0;
    }
    EXPECT_NEAR(exchanged, 3200, 5 * 40);

    in.rule = {};
    in.rule.mutation = Mutation::reset;
    in.rule.mutate = 0.05;
    int flipped = 0;
    const std::vector<double> mutated = vary(queue(), in);
    for (std::size_t i = 0; i < mutated.size(); ++i) flipped += mutated[i] != in.parent[i] ? 1 : 0;
    EXPECT_NEAR(flipped, 640, 5 * 25);
  }
}

TEST_P(VariationOperatorKernel, ResetsCategoriesToAllOthersAlike) {
  VariationRule rule;
  rule.mutation = Mutation::reset;
  rule.mutate = 1;
  Case in = make_case({BlockKind::category, Layout::i8, 100, 96, 0, 3}, rule, 4);
  in.parent.assign(in.parent.size(), 2.0);
  int count[4] = {};
  for (const double x : vary(queue(), in)) ++count[static_cast<int>(x)];
  EXPECT_EQ(count[2], 0);
  for (const int value : {0, 1, 3}) EXPECT_NEAR(count[value], 3200, 5 * 47);
}

/// Order crossover from its definition, for a stretch that is known.
std::vector<double> cross_by_order(const std::vector<double>& own, const std::vector<double>& other,
                                   std::size_t first, std::size_t last) {
  const std::size_t n = own.size();
  std::vector<double> child = own, rest;
  for (std::size_t i = 1; i <= n; ++i) {
    const double value = other[(last + i) % n];
    const auto begin = own.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = own.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    if (std::find(begin, end, value) == end) rest.push_back(value);
  }
  for (std::size_t i = 0; i < rest.size(); ++i) child[(last + 1 + i) % n] = rest[i];
  return child;
}

TEST_P(VariationOperatorKernel, CrossesPermutationsByOrder) {
  VariationRule rule{.crossover = Crossover::order};
  rule.cross_pair = 1;
  const std::size_t n = 9, slots = 64;
  const Case in = make_case({BlockKind::permutation, Layout::i32, 9, 64, 0, 8}, rule, 6);
  const std::vector<double> child = vary(queue(), in);
  int crossed = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    std::vector<double> own, other, got;
    for (std::size_t i = 0; i < n; ++i) {
      own.push_back(in.parent[i * slots + slot]);
      other.push_back(in.parent[i * slots + (slot ^ 1)]);
      got.push_back(child[i * slots + slot]);
    }
    bool found = false;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a; b < n; ++b) found |= got == cross_by_order(own, other, a, b);
    }
    EXPECT_TRUE(found) << "slot " << slot;
    crossed += got != own ? 1 : 0;
  }
  EXPECT_GT(crossed, 40);
}

TEST_P(VariationOperatorKernel, TurnsStretchesRound) {
  VariationRule rule;
  rule.mutation = Mutation::inversion;
  rule.mutate = 1;
  const std::size_t n = 20, slots = 96;
  Case in = make_case({BlockKind::permutation, Layout::i32, 20, 96, 0, 19}, rule, 6);
  for (std::size_t i = 0; i < in.parent.size(); ++i) in.parent[i] = static_cast<double>(i / slots);
  const std::vector<double> child = vary(queue(), in);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    std::vector<double> got;
    for (std::size_t i = 0; i < n; ++i) got.push_back(child[i * slots + slot]);
    std::size_t first = 0, last = n - 1;
    while (first < n && got[first] == static_cast<double>(first)) ++first;
    while (last > 0 && got[last] == static_cast<double>(last)) --last;
    for (std::size_t i = first; i < n && i <= last; ++i) {
      ASSERT_EQ(got[i], static_cast<double>(first + last - i)) << slot;
    }
  }
  in.first_variable = 20;
  EXPECT_NE(vary(queue(), in), child) << "another block of permutations turns others";
}

TEST_P(VariationOperatorKernel, MatchesCpuForEveryKindAndRule) {
  for (const BlockKind kind : {BlockKind::spin, BlockKind::binary, BlockKind::category,
                               BlockKind::integer, BlockKind::real, BlockKind::permutation}) {
    for (const Layout layout : layouts_of(kind)) {
      for (const Crossover crossover :
           {Crossover::none, Crossover::uniform, Crossover::simulated_binary,
            Crossover::differential, Crossover::order}) {
        const bool number = kind == BlockKind::real || kind == BlockKind::integer;
        if (crossover >= Crossover::simulated_binary && !number &&
            !(crossover == Crossover::order && kind == BlockKind::permutation)) {
          continue;
        }
        if (crossover == Crossover::order && number) continue;
        BlockShape shape{kind, layout, 13, 96, 0, 12};
        if (kind == BlockKind::spin) shape.lower = -1;
        if (kind == BlockKind::spin || kind == BlockKind::binary) shape.upper = 1;
        VariationRule rule;
        rule.crossover = crossover;
        rule.mutation = kind == BlockKind::permutation ? Mutation::inversion
                        : number                       ? Mutation::polynomial
                                                       : Mutation::reset;
        rule.mutate = 0.3;
        const Case in = make_case(shape, rule, 11);
        const std::vector<double> here = vary(queue(), in, 3);
        EXPECT_EQ(bits_of(here), bits_of(vary(cpu_queue(), in, 3))) << to_string(kind);
        EXPECT_NE(bits_of(here), bits_of(in.parent));
        for (const double x : here) ASSERT_TRUE(x >= shape.lower && x <= shape.upper);
        if (kind != BlockKind::integer) continue;
        for (const double x : here) ASSERT_EQ(x, std::round(x));
      }
    }
  }
}

TEST_P(VariationOperatorKernel, NamesDrawsBySlotAndStep) {
  VariationRule rule;
  rule.mutation = Mutation::reset;
  rule.mutate = 1;
  Case in = make_case(reals(2, 64, 0, 1), rule, 3);
  const std::vector<double> first = vary(queue(), in), of_groups = vary(queue(), in, 2);
  for (std::size_t slot = 0; slot < 32; ++slot) EXPECT_EQ(first[slot], of_groups[slot]);
  ++in.control.step;
  const std::vector<double> later = vary(queue(), in);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], later[i]);
}

/// The same parents in blocks of some variables of them, one after the other.
std::vector<double> vary_in_parts(Queue& queue, const Case& in,
                                  const std::vector<std::int64_t>& parts) {
  std::vector<double> children;
  std::int64_t first = 0;
  for (const std::int64_t variables : parts) {
    Case part = in;
    part.shape.variables = variables;
    part.first_variable = first;
    part.all_variables = in.shape.variables;
    const auto begin = in.parent.begin() + first * in.shape.slots;
    part.parent.assign(begin, begin + variables * in.shape.slots);
    const std::vector<double> of_part = vary(queue, part);
    children.insert(children.end(), of_part.begin(), of_part.end());
    first += variables;
  }
  return children;
}

TEST_P(VariationOperatorKernel, DrawsForBlocksAsForOneOfAllTheirVariables) {
  for (const Crossover crossover :
       {Crossover::uniform, Crossover::simulated_binary, Crossover::differential}) {
    VariationRule rule;
    rule.crossover = crossover;
    rule.mutation = Mutation::polynomial;
    rule.mutate = 0.3;
    rule.cross_variable = 0.2;
    const Case in = make_case(reals(13, 96, 0, 1), rule, 7);
    const std::vector<double> whole = vary(queue(), in);
    EXPECT_EQ(bits_of(vary_in_parts(queue(), in, {5, 8})), bits_of(whole));
    EXPECT_EQ(bits_of(vary_in_parts(queue(), in, {1, 4, 7, 1})), bits_of(whole));
  }
  VariationRule rule{.crossover = Crossover::uniform};
  rule.mutation = Mutation::reset;
  rule.mutate = 0.1;
  const Case in = make_case({BlockKind::binary, Layout::packed32, 40, 64, 0, 1}, rule, 2);
  EXPECT_EQ(vary_in_parts(queue(), in, {11, 29}), vary(queue(), in));
}

// With CR = 0 a target takes one variable, of all blocks together.
TEST_P(VariationOperatorKernel, ForcesOneVariableOfAllBlocks) {
  VariationRule rule{.crossover = Crossover::differential};
  rule.cross_pair = 1;
  rule.cross_variable = 0;
  const Case in = make_case(reals(10, 4096, 0, 1), rule, 5);
  const std::vector<double> child = vary_in_parts(queue(), in, {3, 7});
  std::vector<int> changed(10);
  for (std::size_t slot = 0; slot < 4096; ++slot) {
    int of_slot = 0;
    for (std::size_t v = 0; v < 10; ++v) {
      const bool differs = child[v * 4096 + slot] != in.parent[v * 4096 + slot];
      of_slot += differs ? 1 : 0;
      changed[v] += differs ? 1 : 0;
    }
    ASSERT_EQ(of_slot, 1) << slot;
  }
  for (const int count : changed) EXPECT_NEAR(count, 409.6, 5 * 19.2);
}

TEST_P(VariationOperatorKernel, LeavesSlotsWithoutParentsAloneAndStops) {
  for (const Layout layout : {Layout::packed32, Layout::i8}) {
    Case in = make_case({BlockKind::binary, layout, 5, 64, 0, 1}, {}, 3);
    in.parent.assign(in.parent.size(), 1.0);
    in.parents[33] = -1;
    const std::vector<double> child = vary(queue(), in);
    for (std::size_t i = 0; i < child.size(); ++i) EXPECT_EQ(child[i], i % 64 == 33 ? 0 : 1);
    in.control.stop = DeviceStop::target;
    EXPECT_EQ(vary(queue(), in), std::vector<double>(child.size(), 0.0));
  }
}

}  // namespace
}  // namespace kiln::test::variation_operator_test
