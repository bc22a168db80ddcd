// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/pairwise_family.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backends/cpu_queue.hpp"
#include "models/models_family.hpp"
#include "models/small_models.hpp"
#include "pairwise/pairwise_family_objective.hpp"

namespace kiln::pairwise_family_test {
namespace {

using test::complaint;

PairwiseFamily triangle() {
  PairwiseFamily family;
  family.base = {3, {0, 0, 1}, {{0, 1, 1}}, 2};
  family.term = {3, {1, 0, 0}, {{0, 1, -1}, {1, 2, 2}}, 0.5};
  family.target = 2;
  return family;
}

TEST(PairwiseFamily, IsVerifiedAtTheTarget) {
  const Problem problem = make_pairwise_family(triangle(), "triangle");
  const State state = {std::vector<std::int8_t>{1, -1, -1}};
  // A = 2 - 1 - 1 = 0, B = 0.5 + 1 + 1 + 2 = 4.5
  EXPECT_EQ(problem.solution.verify(spans_of(state)), 9);
  EXPECT_EQ(problem.identity.family, "pairwise_family");
  EXPECT_FALSE(problem.units.integral) << "an offset is not a whole number";
  EXPECT_EQ(problem.units.energy_of_stored.offset, 3);
}

TEST(PairwiseFamily, LaysOutTheUnionOfBothGraphs) {
  const PairwiseFamily family = triangle();
  const problems::PairwiseFamilyPlan plan = problems::plan_pairwise_family(family);
  EXPECT_EQ(plan.entries.size(), 4u) << "two couplings, seen from both ends";
  EXPECT_EQ(plan.variable, (std::vector<std::int32_t>{0, 1, 2, -1}));
  EXPECT_EQ(plan.row_begin, (std::vector<std::int64_t>{0, 1, 3, 4, 4}));
  EXPECT_EQ(plan.entries[0].variable, 1);
  EXPECT_EQ(plan.entries[0].base, 1);
  EXPECT_EQ(plan.entries[0].term, -1);
  EXPECT_EQ(plan.entries[2].base, 0);
  EXPECT_EQ(plan.entries[2].term, 2);
  EXPECT_EQ(plan.field[0].term, 1);
  EXPECT_EQ(plan.field[2].base, 1);
}

// A ring and a field: rows for counting have the order of the plan, and A may have them where B
// does not.
TEST(PairwiseFamily, LaysOutSmallIntegersForCounting) {
  const auto planned = [](double coupling, double field) {
    return problems::plan_pairwise_family(
        test::family_of(test::ring(40, test::constant(coupling), test::constant(0)),
                        test::isolated_spins(std::vector<double>(40, field))));
  };
  const problems::PairwiseFamilyPlan plan = planned(-3, 2);
  EXPECT_EQ(plan.n_classes, 2);
  EXPECT_EQ(plan.class_begin, (std::vector<std::int32_t>{0, 5, 10}));
  EXPECT_EQ(plan.max_neighbors, 2);
  EXPECT_TRUE(plan.has_fields);
  EXPECT_FALSE(planned(1, 0).has_fields);
  EXPECT_EQ(plan.base_groups.max_sum, 7) << "3 + 3, and the own bit where that is even";
  EXPECT_EQ(plan.term_groups.max_sum, 3);
  ASSERT_EQ(plan.base_groups.sites.size(), plan.variable.size());
  ASSERT_EQ(plan.term_groups.sites.size(), plan.variable.size());
  for (std::size_t site = 0; site < plan.variable.size(); ++site) {
    EXPECT_EQ(plan.base_groups.sites[site].variable, plan.variable[site]);
    EXPECT_EQ(plan.term_groups.sites[site].n_positive, 0) << "B has no couplings";
  }
  EXPECT_TRUE(planned(0.5, 2).base_groups.sites.empty());
  EXPECT_TRUE(planned(64, 2).base_groups.sites.empty());
  EXPECT_EQ(planned(60, 2).base_groups.max_sum, 121);
  EXPECT_TRUE(planned(-3, 128).term_groups.sites.empty());
}

TEST(PairwiseFamily, WalksADenseFamilyInOrder) {
  const problems::PairwiseFamilyPlan plan = problems::plan_pairwise_family(triangle());
  EXPECT_TRUE(plan.sequential);
  EXPECT_TRUE(plan.base_groups.sites.empty());
}

TEST(PairwiseFamily, MakesMembers) {
  const Ising member = problems::member_of(triangle(), 1);
  EXPECT_EQ(member.fields, (std::vector<double>{1, 0, 1}));
  ASSERT_EQ(member.couplings.size(), 1u) << "0 - 1 cancels";
  EXPECT_EQ(member.couplings[0].weight, 2);
  EXPECT_EQ(member.offset, 2.5);
}

TEST(PairwiseFamily, StoresIntegersOfBothByOneScale) {
  PairwiseFamily family = triangle();
  family.base.couplings[0].weight = 0.5;
  family.term.fields[0] = 0.25;
  EXPECT_EQ(problems::integer_scale(family), 4);
  const Problem problem = make_pairwise_family(family);
  EXPECT_EQ(problem.scale(), 4);
  EXPECT_TRUE(problem.objective->offers<Parametric>());
  EXPECT_EQ(problem.objective->parameter_range().target, 2);
}

TEST(PairwiseFamily, RefusesWhatIsNoFamily) {
  PairwiseFamily family = triangle();
  family.term.n = 4;
  family.term.fields.clear();
  EXPECT_EQ(complaint([&] { make_pairwise_family(family, "f"); }),
            "problem.size: f: the model A has 3 spins, and the model B has 4");
  family = triangle();
  family.target = std::numeric_limits<double>::infinity();
  EXPECT_EQ(complaint([&] { make_pairwise_family(family, "f"); }),
            "problem.value: f: a value of lambda is not a finite number");
  family = triangle();
  family.target = 1e300;
  family.term.fields[0] = 1e10;
  EXPECT_NE(complaint([&] { make_pairwise_family(family, "f"); }).find("too large"),
            std::string::npos);
  EXPECT_NE(complaint([&] { make_pairwise_family({}, "f"); }).find("at least one variable"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::pairwise_family_test
