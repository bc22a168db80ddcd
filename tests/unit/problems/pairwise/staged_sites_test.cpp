// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The stages of sweeps by planes, against what a sweep needs of its order.
#include "pairwise/staged_sites.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/problems/generators.hpp"

#include "backends/backends.hpp"
#include "models/models.hpp"
#include "pairwise/group_rows.hpp"

namespace kiln::test::staged_sites_test {
namespace {

using problems::GroupRows;
using problems::PairwisePlan;
using problems::StagedSites;

Ising ising_of(const Graph& graph) {
  Ising model;
  model.n = graph.n_vertices;
  model.fields.assign(idx(model.n), 0.0);
  model.couplings = graph.edges;
  return model;
}

struct Staged {
  explicit Staged(const Ising& model)
      : plan(problems::plan_pairwise(model)),
        rows(problems::group_rows(plan)),
        sites(problems::staged_sites(plan, rows)),
        class_of(plan.variable.size(), -1),
        stage_of(plan.variable.size(), -1) {
    for (std::size_t c = 0; c + 1 < plan.class_begin.size(); ++c) {
      for (std::int32_t s = 4 * plan.class_begin[c]; s < 4 * plan.class_begin[c + 1]; ++s) {
        class_of[idx(s)] = static_cast<int>(c);
      }
    }
    for (std::size_t stage = 0; stage + 1 < sites.begin.size(); ++stage) {
      for (std::int32_t at = sites.begin[stage]; at < sites.begin[stage + 1]; ++at) {
        int& of = stage_of.at(sites.sites[idx(at)].site);
        EXPECT_EQ(of, -1) << "site " << sites.sites[idx(at)].site << " comes twice";
        of = static_cast<int>(stage);
      }
    }
  }

  // Of `size` sites for each class or stage.
  static std::int64_t rounds(const std::vector<int>& of, std::size_t n, std::int64_t size) {
    std::vector<std::int64_t> counts(n, 0);
    for (const int number : of) counts.at(idx(number)) += 1;
    std::int64_t all = 0;
    for (const std::int64_t count : counts) all += (count + size - 1) / size;
    return all;
  }
  std::int64_t rounds_of_classes(std::int64_t size) const {
    std::vector<int> of;
    for (std::size_t s = 0; s < class_of.size(); ++s) {
      if (plan.variable[s] >= 0) of.push_back(class_of[s]);
    }
    return rounds(of, idx(plan.n_classes), size);
  }
  std::int64_t rounds_of_stages(std::int64_t size) const {
    std::vector<int> of;
    for (const int stage : stage_of) {
      if (stage >= 0) of.push_back(stage);
    }
    return rounds(of, idx(plan.n_classes), size);
  }

  PairwisePlan plan;
  GroupRows rows;
  StagedSites sites;
  std::vector<int> class_of, stage_of;
};

// A variable comes once, after its neighbours of earlier classes and before those of later ones.
void expect_same_sweep(const Ising& model) {
  const Staged of(model);
  ASSERT_EQ(of.sites.sites.size(), idx(model.n));
  ASSERT_EQ(of.sites.begin.size(), idx(of.plan.n_classes) + 1);
  std::vector<std::size_t> site_of(idx(model.n));
  for (std::size_t s = 0; s < of.plan.variable.size(); ++s) {
    if (of.plan.variable[s] >= 0) site_of[idx(of.plan.variable[s])] = s;
  }
  for (const Edge& edge : model.couplings) {
    const std::size_t a = site_of[idx(edge.u)], b = site_of[idx(edge.v)];
    EXPECT_EQ(of.class_of[a] < of.class_of[b], of.stage_of[a] < of.stage_of[b])
        << "variables " << edge.u << " and " << edge.v;
    EXPECT_NE(of.stage_of[a], of.stage_of[b]);
  }
  for (const StagedSite& site : of.sites.sites) {
    const GroupSite& row = of.rows.sites.at(site.site);
    EXPECT_EQ(site.first_group, row.first_group);
    EXPECT_EQ(site.variable, row.variable);
    EXPECT_EQ(site.counts & 0xFFu, row.n_negative);
    EXPECT_EQ(site.counts >> 8 & 0xFFu, row.n_positive);
    EXPECT_EQ(static_cast<std::int32_t>(site.counts) >> 16, row.start_and_even);
  }
  EXPECT_LE(of.rounds_of_stages(64), of.rounds_of_classes(64));
}

TEST(StagedSites, MakeTheSameSweep) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    expect_same_sweep(sparse(300, 9, one_of({-1, 1}, seed), constant(0), seed));
    expect_same_sweep(sparse(1000, 20, constant(1), constant(0), seed));
    expect_same_sweep(sparse(61, 5, one_of({-3, 2}, seed), one_of({-1, 0, 4}, seed), seed));
  }
  expect_same_sweep(lattice({50, 40}, one_of({-1, 1}, 3), constant(0)));
  for (const char* name : {"G1", "G14", "G22", "G43", "G35"}) {
    expect_same_sweep(ising_of(problems::gset(name)));
  }
}

// The fewest rounds that any order could have are ceil(n / 64).
TEST(StagedSites, TakeFewerRoundsThanClasses) {
  struct Expected {
    const char* name;
    std::int64_t of_classes, of_stages;  // rounds of 64 sites
  };
  for (const Expected& want : {Expected{"G22", 38, 32}, {"G35", 35, 32}, {"G14", 18, 14}}) {
    SCOPED_TRACE(want.name);
    const Ising model = ising_of(problems::gset(want.name));
    const Staged of(model);
    EXPECT_EQ(of.rounds_of_classes(64), want.of_classes);
    EXPECT_LE(of.rounds_of_stages(64), want.of_stages);
    EXPECT_GE(of.rounds_of_stages(64), (model.n + 63) / 64);
  }
}

// Lanes of a warp read the terms of four or eight sites place by place.
TEST(StagedSites, LieInDifferentBanks) {
  const Staged of(ising_of(problems::gset("G22")));
  std::int64_t same = 0;
  for (std::size_t i = 0; i + 1 < of.sites.sites.size(); ++i) {
    same += of.sites.sites[i].site % 2 == of.sites.sites[i + 1].site % 2;
  }
  EXPECT_LT(same, 100);  // of 2000; half of them in a random order
}

TEST(StagedSites, AreMissingWherePlanesAre) {
  const auto empty = [](const Ising& model) { return Staged(model).sites.sites.empty(); };
  EXPECT_TRUE(empty(sparse(100, 4, constant(300), constant(0), 1)));  // sums beyond 255
  EXPECT_TRUE(empty(lattice({200, 200}, constant(1), constant(0))));  // too many variables
  EXPECT_FALSE(empty(lattice({100, 100}, constant(1), constant(0))));
}

}  // namespace
}  // namespace kiln::test::staged_sites_test
