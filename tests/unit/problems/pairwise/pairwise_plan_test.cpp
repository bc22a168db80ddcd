// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "kiln/problems/pairwise.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"
#include "pairwise/pairwise_objective.hpp"
#include "pairwise/slice_rows.hpp"

namespace kiln::problems::pairwise_plan_test {
namespace {

using test::random_ising;

Ising ring(std::int32_t n, double weight = 1) {
  Ising model;
  model.n = n;
  model.fields.assign(static_cast<std::size_t>(n), 0.0);
  for (std::int32_t i = 0; i + 1 < n; ++i) model.couplings.push_back({i, i + 1, weight});
  model.couplings.push_back({0, n - 1, weight});
  return model;
}

Ising pair(double weight, double field = 0) {
  Ising model;
  model.n = 2;
  model.fields = {field, 0};
  model.couplings = {{0, 1, weight}};
  return model;
}

double weight_of(const PairwisePlan& plan, std::size_t entry) {
  return plan.weights_f64.empty() ? static_cast<double>(plan.entries[entry].weight)
                                  : plan.weights_f64[entry];
}

// What every plan must keep to, whatever the model.
void expect_sound(const Ising& model, const PairwisePlan& plan) {
  const auto n_sites = static_cast<std::size_t>(plan.n_sites());
  ASSERT_EQ(n_sites % 4, 0u);
  std::vector<std::int32_t> variables;
  for (const std::int32_t v : plan.variable) {
    if (v >= 0) variables.push_back(v);
  }
  std::sort(variables.begin(), variables.end());
  std::vector<std::int32_t> all(static_cast<std::size_t>(model.n));
  std::iota(all.begin(), all.end(), 0);
  ASSERT_EQ(variables, all) << "every variable has one site";

  ASSERT_EQ(plan.class_begin.size(), static_cast<std::size_t>(plan.n_classes) + 1);
  EXPECT_EQ(plan.class_begin.front(), 0);
  EXPECT_EQ(plan.class_begin.back() * 4, plan.n_sites());
  std::vector<int> class_of(n_sites);
  for (std::size_t c = 0; c + 1 < plan.class_begin.size(); ++c) {
    ASSERT_LT(plan.class_begin[c], plan.class_begin[c + 1]);
    for (std::int32_t s = 4 * plan.class_begin[c]; s < 4 * plan.class_begin[c + 1]; ++s) {
      class_of[static_cast<std::size_t>(s)] = static_cast<int>(c);
    }
  }

  ASSERT_EQ(plan.row_begin.size(), n_sites + 1);
  ASSERT_EQ(plan.base.size(), n_sites);
  ASSERT_EQ(plan.field.size(), n_sites);
  std::multiset<std::tuple<std::int32_t, std::int32_t, double>> edges;
  for (std::size_t site = 0; site < n_sites; ++site) {
    const auto begin = static_cast<std::size_t>(plan.row_begin[site]);
    const auto end = static_cast<std::size_t>(plan.row_begin[site + 1]);
    EXPECT_EQ((end - begin) % 2, 0u) << "rows have an even number of entries";
    const std::int32_t v = plan.variable[site];
    EXPECT_EQ(plan.field[site], v < 0 ? 0 : model.fields[static_cast<std::size_t>(v)]);
    double sum = 0;  // in the order of the row, as the kernels add
    for (std::size_t e = begin; e < end; ++e) {
      const std::uint32_t other = plan.entries[e].site;
      const double weight = weight_of(plan, e);
      sum += weight;
      if (other == site) {
        EXPECT_EQ(weight, 0.0) << "a filler";
        continue;
      }
      ASSERT_GE(v, 0) << "a site without a variable has no neighbours";
      EXPECT_TRUE(plan.sequential || class_of[site] != class_of[other]) << "an inner edge";
      edges.emplace(v, plan.variable[other], weight);
    }
    EXPECT_EQ(plan.base[site], plan.field[site] + sum);
  }
  std::multiset<std::tuple<std::int32_t, std::int32_t, double>> wanted;
  for (const Edge& e : model.couplings) {
    wanted.emplace(e.u, e.v, e.weight);
    wanted.emplace(e.v, e.u, e.weight);
  }
  EXPECT_EQ(edges, wanted);
}

TEST(PairwisePlan, KeepsEveryModel) {
  for (const std::int32_t n : {1, 2, 7, 8, 9, 31, 32, 33, 100}) {
    for (const std::uint32_t share : {0u, 1u, 4u, 16u}) {
      for (const double unit : {1.0, 1e6, 0.1}) {
        SCOPED_TRACE(testing::Message() << n << " variables, share " << share << ", unit " << unit);
        const Ising model = random_ising(n, share, 5, unit);
        expect_sound(model, plan_pairwise(model));
      }
    }
  }
}

TEST(PairwisePlan, ColorsAnEvenRingWithTwoClasses) {
  const PairwisePlan plan = plan_pairwise(ring(40));
  EXPECT_FALSE(plan.sequential);
  EXPECT_EQ(plan.n_classes, 2);
  EXPECT_EQ(plan.class_begin, (std::vector<std::int32_t>{0, 5, 10}));
  EXPECT_EQ(plan.n_sites(), 40);
}

TEST(PairwisePlan, FillsUpTheLastQuadOfAClass) {
  const PairwisePlan plan = plan_pairwise(ring(42));  // 21 + 21
  EXPECT_EQ(plan.n_sites(), 48);
  EXPECT_EQ(std::count(plan.variable.begin(), plan.variable.end(), -1), 6);
}

TEST(PairwisePlan, WalksDenseAndTinyModelsInTheirOwnOrder) {
  for (const Ising& model : {random_ising(40, 16, 3), random_ising(6, 8, 3)}) {
    const PairwisePlan plan = plan_pairwise(model);
    EXPECT_TRUE(plan.sequential);
    EXPECT_EQ(plan.n_classes, 1);
    for (std::int32_t v = 0; v < model.n; ++v) {
      EXPECT_EQ(plan.variable[static_cast<std::size_t>(v)], v);
    }
  }
}

TEST(PairwisePlan, DependsOnTheModelAlone) {
  const Ising model = random_ising(100, 2, 5);
  const PairwisePlan a = plan_pairwise(model), b = plan_pairwise(model);
  EXPECT_EQ(a.variable, b.variable);
  EXPECT_EQ(a.row_begin, b.row_begin);
}

TEST(PairwisePlan, PutsHighDegreesFirst) {
  Ising star = ring(40);
  star.couplings.clear();
  for (std::int32_t v = 0; v < 40; ++v) {
    if (v < 17) star.couplings.push_back({v, 17, 1});
    if (v > 17) star.couplings.push_back({17, v, 1});
  }
  EXPECT_EQ(plan_pairwise(star).variable.front(), 17);
}

TEST(PairwisePlan, ChoosesTheNarrowestExactArithmetic) {
  struct Case {
    Ising model;
    Arithmetic arithmetic;
    bool integral;
  };
  for (const Case& c :
       {Case{pair(1), Arithmetic::narrow, true}, Case{pair(-16383), Arithmetic::narrow, true},
        Case{pair(16384), Arithmetic::medium, true},
        Case{pair(10000, 6383), Arithmetic::narrow, true},
        Case{pair(10000, -6384), Arithmetic::medium, true},
        Case{pair(8388608), Arithmetic::medium, true}, Case{pair(8388609), Arithmetic::wide, true},
        Case{pair(8388608, 1), Arithmetic::wide, true}, Case{pair(0x1p52), Arithmetic::wide, true},
        Case{pair(0x1p53), Arithmetic::wide, false}, Case{pair(0.5), Arithmetic::wide, false},
        Case{pair(1, 0.5), Arithmetic::wide, false}}) {
    const PairwisePlan plan = plan_pairwise(c.model);
    EXPECT_EQ(plan.arithmetic, c.arithmetic) << c.model.couplings[0].weight;
    EXPECT_EQ(plan.integral, c.integral) << c.model.couplings[0].weight;
    EXPECT_EQ(plan.weights_f64.empty(), c.arithmetic != Arithmetic::wide);
    EXPECT_EQ(slice_rows(plan).sites.empty(), c.arithmetic == Arithmetic::wide);
  }
}

// The entry that fills up an odd row is no neighbour.
TEST(PairwisePlan, CountsNeighborsAndLooksForFields) {
  const PairwisePlan free = plan_pairwise(ring(41));
  EXPECT_EQ(free.longest_row, 2);
  EXPECT_FALSE(free.has_fields);
  Ising three = ring(41);
  three.couplings.push_back({3, 20, 1});
  three.fields[40] = -0.5;
  EXPECT_EQ(plan_pairwise(three).longest_row, 3);
  EXPECT_TRUE(plan_pairwise(three).has_fields);
}

TEST(PairwisePlan, AddsUpWhatLimitsTheArithmetic) {
  Ising model = ring(8, -3);
  model.fields[2] = -5;
  const PairwisePlan plan = plan_pairwise(model);
  EXPECT_EQ(plan.max_coupling_sum, 6);
  EXPECT_EQ(plan.total_sum, 8 * 6 + 5);
}

TEST(IntegerScale, IsTheSmallestPowerOfTwoThatMakesIntegers) {
  EXPECT_EQ(integer_scale(pair(3)), 1);
  EXPECT_EQ(integer_scale(pair(0)), 1);
  EXPECT_EQ(integer_scale(pair(0.5)), 2);
  EXPECT_EQ(integer_scale(pair(0.5, 0.25)), 4);
  EXPECT_EQ(integer_scale(pair(1, 0x1p-20)), 0x1p20);
}

TEST(IntegerScale, IsZeroWhereThereIsNone) {
  EXPECT_EQ(integer_scale(pair(0.1)), 0);
  EXPECT_EQ(integer_scale(pair(1, 0x1p-21)), 0);
  EXPECT_EQ(integer_scale(pair(0x1p52)), 1) << "both ends together make 2^53";
  EXPECT_EQ(integer_scale(pair(0x1p52, 1)), 0);
  EXPECT_EQ(integer_scale(pair(0x1p52, 0.5)), 0);
  EXPECT_EQ(integer_scale(pair(0x1p51, 0.5)), 0) << "scaled, the sum is too large";
  EXPECT_EQ(integer_scale(pair(0x1p50, 0.5)), 2);
  EXPECT_EQ(integer_scale(pair(1e308, 1e308)), 0);
}

// Two runs of an objective read the same arrays: nothing is made again.
TEST(PairwiseObjective, KeepsWhatRunsReadInPlace) {
  const auto queue = test::cpu_queue();
  for (const Ising& model : {random_ising(300, 16, 3), ring(4000)}) {
    const auto objective = make_pairwise_objective("twice", model, BlockKind::spin);
    const auto first = objective->bind(*queue), second = objective->bind(*queue);
    const PairwiseView& a = first->as<PairwiseModelled>()->pairwise_model();
    const PairwiseView& b = second->as<PairwiseModelled>()->pairwise_model();
    EXPECT_EQ(a.entries.data, b.entries.data);
    EXPECT_EQ(a.slices.terms.data, b.slices.terms.data);
    EXPECT_EQ(a.weights_f64.data, b.weights_f64.data);
  }
}

}  // namespace
}  // namespace kiln::problems::pairwise_plan_test
