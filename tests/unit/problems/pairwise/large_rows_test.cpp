// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Models that are larger than the blocks in which they are laid out, on one thread and on several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "kiln/host_threads.hpp"
#include "kiln/problems/generators.hpp"

#include "pairwise/group_rows.hpp"
#include "pairwise/median_of_sites.hpp"
#include "pairwise/neighbors.hpp"
#include "pairwise/slice_rows.hpp"

namespace kiln::problems::large_rows_test {
namespace {

constexpr std::int32_t n_large = 300'000;  // five blocks of sites

Ising of_graph(Graph graph) { return {graph.n_vertices, {}, std::move(graph.edges), 0.0}; }

// Sparse, with hubs, weights of several bits, fields, and variables without a coupling.
Ising uneven() {
  std::mt19937_64 random(3);
  Graph graph{n_large, {}};
  for (int k = 0; k < 600'000; ++k) {
    const auto u = static_cast<std::int32_t>(random() % (k % 40 == 0 ? 3 : n_large - 1000));
    const auto v = static_cast<std::int32_t>(random() % (n_large - 1000));
    if (u != v) graph.edges.push_back({u, v, static_cast<double>(random() % 13) - 6});
  }
  canonicalize(graph);
  Ising model = of_graph(std::move(graph));
  for (std::int32_t v = 0; v < model.n; ++v) {
    model.fields.push_back(static_cast<double>(random() % 5) - 2);
  }
  return model;
}

std::vector<Ising> large_models() { return {of_graph(torus_pm1(600, 500, 1)), uneven()}; }

bool same_site(const GroupSite& a, const GroupSite& b) {
  return a.first_group == b.first_group && a.n_negative == b.n_negative &&
         a.n_positive == b.n_positive && a.variable == b.variable &&
         a.start_and_even == b.start_and_even;
}
bool same_slice(const SliceSite& a, const SliceSite& b) {
  return a.first_term == b.first_term && a.first_run == b.first_run && a.base == b.base &&
         a.n_runs == b.n_runs && a.n_planes == b.n_planes;
}
bool same_entry(const PairEntry& a, const PairEntry& b) {
  return a.site == b.site && a.weight == b.weight;
}

void expect_same(const GroupRows& a, const GroupRows& b) {
  EXPECT_EQ(a.max_sum, b.max_sum);
  EXPECT_EQ(a.one_plane, b.one_plane);
  EXPECT_TRUE(std::ranges::equal(a.sites, b.sites, same_site));
  EXPECT_EQ(a.terms, b.terms);
}

TEST(LargeRows, DoNotDependOnThreads) {
  for (const Ising& model : large_models()) {
    PairwisePlan alone;
    GroupPair groups_alone;
    SliceRows slices_alone;
    {
      const HostThreads one(1);
      alone = plan_pairwise(model);
      groups_alone = group_pair(alone);
      slices_alone = slice_rows(alone);
    }
    for (const int threads : {2, 5}) {
      const HostThreads several(threads);
      const PairwisePlan plan = plan_pairwise(model);
      EXPECT_EQ(plan.variable, alone.variable);
      EXPECT_EQ(plan.class_begin, alone.class_begin);
      EXPECT_EQ(plan.row_begin, alone.row_begin);
      EXPECT_TRUE(std::ranges::equal(plan.entries, alone.entries, same_entry));
      EXPECT_EQ(plan.base, alone.base);
      EXPECT_EQ(plan.field, alone.field);
      EXPECT_EQ(plan.total_sum, alone.total_sum);
      const GroupPair groups = group_pair(plan);
      expect_same(groups.whole, groups_alone.whole);
      expect_same(groups.half, groups_alone.half);
      const SliceRows slices = slice_rows(plan);
      EXPECT_EQ(slices.max_local, slices_alone.max_local);
      EXPECT_TRUE(std::ranges::equal(slices.sites, slices_alone.sites, same_slice));
      EXPECT_EQ(slices.runs, slices_alone.runs);
      EXPECT_EQ(slices.terms, slices_alone.terms);
    }
  }
}

// The couplings that rows hold, as the views describe them; each pair and weight once for each row.
using Couplings = std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, std::int64_t>>;

Couplings couplings_of(const Ising& model, bool twice) {
  Couplings all;
  for (const Edge& e : model.couplings) {
    if (e.weight == 0) continue;
    all.push_back({{e.u, e.v}, static_cast<std::int64_t>(e.weight)});
    if (twice) all.push_back(all.back());
  }
  std::ranges::sort(all);
  return all;
}

Couplings couplings_of(const GroupRows& rows, std::int32_t n) {
  Couplings all;
  std::uint32_t next = 0;
  for (const GroupSite& row : rows.sites) {
    EXPECT_EQ(row.first_group, next);
    std::map<std::int32_t, std::int64_t> weights;
    for (; next < row.first_group + row.n_negative + std::uint32_t{row.n_positive}; ++next) {
      const std::int64_t sign = next < row.first_group + row.n_negative ? -1 : 1;
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t term = rows.terms[4 * next + k];
        const auto other = static_cast<std::int32_t>(term & ((1u << group_plane_shift) - 1));
        if (other < n) weights[other] += sign << (term >> group_plane_shift);
      }
    }
    for (const auto& [other, weight] : weights) {
      all.push_back({std::minmax(row.variable, other), weight});
    }
  }
  EXPECT_EQ(std::size_t{4} * next, rows.terms.size());
  std::ranges::sort(all);
  return all;
}

Couplings couplings_of(const SliceRows& rows, const PairwisePlan& plan) {
  Couplings all;
  for (std::size_t site = 0; site + 1 < rows.sites.size(); ++site) {
    const SliceSite& row = rows.sites[site];
    std::int64_t term = row.first_term;
    std::map<std::int32_t, std::int64_t> weights;
    for (std::int64_t r = row.first_run; r < row.first_run + row.n_runs; ++r) {
      const SliceRun run = slice_run(rows.runs[static_cast<std::size_t>(r)]);
      for (std::uint32_t k = 0; k < run.n_terms; ++k, ++term) {
        const std::uint32_t other = rows.terms[static_cast<std::size_t>(term)];
        weights[plan.variable[other]] += std::int64_t{run.negative ? -1 : 1} << run.plane;
      }
    }
    EXPECT_EQ(term, rows.sites[site + 1].first_term);
    EXPECT_EQ(row.first_run + row.n_runs, rows.sites[site + 1].first_run);
    for (const auto& [other, weight] : weights) {
      all.push_back({std::minmax(plan.variable[site], other), weight});
    }
  }
  std::ranges::sort(all);
  return all;
}

TEST(LargeRows, HoldEachCoupling) {
  const HostThreads several(3);
  for (const Ising& model : large_models()) {
    const PairwisePlan plan = plan_pairwise(model);
    const GroupPair groups = group_pair(plan);
    const Couplings twice = couplings_of(model, true);
    EXPECT_EQ(couplings_of(groups.whole, model.n), twice);
    EXPECT_EQ(couplings_of(groups.half, model.n), couplings_of(model, false));
    EXPECT_EQ(couplings_of(slice_rows(plan), plan), twice);
  }
}

template <class Index>
void expect_neighbors(const Ising& model) {
  std::vector<std::vector<std::pair<std::int32_t, double>>> expected(
      static_cast<std::size_t>(model.n));
  for (const Edge& e : model.couplings) {
    expected[static_cast<std::size_t>(e.u)].emplace_back(e.v, e.weight);
    expected[static_cast<std::size_t>(e.v)].emplace_back(e.u, e.weight);
  }
  const Neighbors<Index> lists(model.couplings, model.n);
  std::vector<std::pair<std::int32_t, double>> found;
  for (std::int32_t v = 0; v < model.n; ++v) {
    found.clear();
    lists.for_each(v, [&](std::int32_t u, double weight) { found.emplace_back(u, weight); });
    ASSERT_EQ(found, expected[static_cast<std::size_t>(v)]) << v;
    ASSERT_EQ(lists.degree(v), std::ssize(found));
  }
}

TEST(LargeRows, ListNeighborsInTheOrderOfTheCouplings) {
  for (const int threads : {1, 4}) {
    const HostThreads limit(threads);
    for (const Ising& model : large_models()) {
      expect_neighbors<std::uint32_t>(model);
      expect_neighbors<std::uint64_t>(model);
    }
  }
  expect_neighbors<std::uint32_t>(Ising{5, {}, {}, 0.0});
  expect_neighbors<std::uint32_t>(Ising{5, {}, {{1, 4, 2.0}}, 0.0});
}

TEST(MedianOfSites, IsTheUpperMedianOfFewAndOfManyValues) {
  std::mt19937_64 random(9);
  for (const std::int64_t n : {1, 2, 7, 1000, 300'000}) {
    for (const std::uint64_t distinct : {1u, 2u, 60u, 70u, 1000000u}) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; ++i) {
        values.push_back(static_cast<double>(random() % distinct) - (i % 5 == 3 ? 1e7 : 0));
      }
      const auto median = median_of_sites(n, [&](std::size_t site) { return values[site]; });
      std::erase_if(values, [](double value) { return value < 0; });
      std::ranges::sort(values);
      EXPECT_EQ(median, values[values.size() / 2]) << n << " of " << distinct;
    }
  }
  EXPECT_EQ(median_of_sites(3, [](std::size_t) { return -1.0; }), std::nullopt);
}

}  // namespace
}  // namespace kiln::problems::large_rows_test
