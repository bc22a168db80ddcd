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
