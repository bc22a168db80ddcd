// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows for counting on a GPU, read as GroupSite says, against energy changes in plain loops.
#include "pairwise/group_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "backends/backends.hpp"
#include "models/models.hpp"

namespace kiln::test::group_rows_test {
namespace {

using problems::GroupRows;
using problems::PairwisePlan;

constexpr std::int64_t center = std::int64_t{1} << 20;

// Bits of variables: 1 where the spin is down.
std::vector<int> random_bits(std::int32_t n, std::uint64_t seed) {
  TestRandom random(seed);
  std::vector<int> bits;
  for (std::int32_t v = 0; v < n; ++v) bits.push_back(static_cast<int>(random.between(0, 1)));
  return bits;
}

// Half the energy change of a flip, by the counts of a row.
std::int64_t counted_change(const GroupRows& rows, std::size_t site, std::vector<int> bits) {
  const GroupSite& row = rows.sites[site];
  const int own = bits[idx(row.variable)];
  const int even = row.start_and_even & 1;
  bits.push_back(0);  // of the filler
  std::int64_t u = center + (row.start_and_even >> 1) + even * own;
  for (std::uint32_t g = 0; g < row.n_negative + std::uint32_t{row.n_positive}; ++g) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t term = rows.terms[4 * (row.first_group + g) + k];
      const std::uint32_t variable = term & ((1u << group_plane_shift) - 1);
      const std::int64_t worth = std::int64_t{bits[variable]} << (term >> group_plane_shift);
      u += g < row.n_negative ? -worth : worth;
    }
  }
  if (own == 1) u = 2 * center - 1 - u;
  return 2 * (u - center) + 1 + even;
}

// -s_i (h_i + sum_j J_ij s_j).
std::int64_t direct_change(const Ising& model, std::int32_t variable,
                           const std::vector<int>& bits) {
  const auto spin = [&](std::int32_t v) { return 1 - 2 * bits[idx(v)]; };
  double field = model.fields.empty() ? 0 : model.fields[idx(variable)];
  for (const Edge& e : model.couplings) {
    if (e.u == variable) field += e.weight * spin(e.v);
    if (e.v == variable) field += e.weight * spin(e.u);
  }
  return static_cast<std::int64_t>(-spin(variable) * field);
}

void expect_changes(const Ising& model) {
  const PairwisePlan plan = problems::plan_pairwise(model);
  const GroupRows rows = problems::group_rows(plan);
  ASSERT_EQ(rows.sites.size(), plan.variable.size());
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const std::vector<int> bits = random_bits(model.n, seed);
    for (std::size_t site = 0; site < rows.sites.size(); ++site) {
      const std::int32_t variable = rows.sites[site].variable;
      ASSERT_EQ(variable, plan.variable[site]);
      if (variable < 0) continue;
      const std::int64_t change = counted_change(rows, site, bits);
      EXPECT_EQ(change, direct_change(model, variable, bits)) << site;
      EXPECT_LE(std::abs(change), rows.max_sum);
    }
  }
}

TEST(GroupRows, CountEnergyChanges) {
  expect_changes(sparse(50, 4, one_of({-1, 1}, 1), constant(0), 2));
  expect_changes(sparse(50, 5, one_of({-7, -2, 1, 3}, 3), one_of({-4, 0, 5}, 4), 5));
  expect_changes(star(300, 3, one_of({-1, 1}, 6)));
  expect_changes(dense(40, one_of({-1, 1}, 7), one_of({-3, 2}, 8)));
  expect_changes(ring(30, constant(-1), constant(0)));
}

// Minus the sum of half the energy changes, where each coupling stands at one of its sites.
void expect_energies(const Ising& model) {
  const PairwisePlan plan = problems::plan_pairwise(model);
  const GroupRows rows = problems::group_rows(plan, problems::RowPart::half);
  for (const std::uint64_t seed : {4u, 5u, 6u}) {
    const std::vector<int> bits = random_bits(model.n, seed);
    const auto spin = [&](std::int32_t v) { return 1 - 2 * bits[idx(v)]; };
    double energy = 0;
    for (std::int32_t v = 0; v < model.n; ++v) energy += model.fields[idx(v)] * spin(v);
    for (const Edge& e : model.couplings) energy += e.weight * spin(e.u) * spin(e.v);
    std::int64_t counted = 0;
    for (std::size_t site = 0; site < rows.sites.size(); ++site) {
      if (rows.sites[site].variable >= 0) counted -= counted_change(rows, site, bits);
    }
    EXPECT_EQ(static_cast<double>(counted), energy);
  }
  std::int32_t n_even = 0;
  for (const GroupSite& row : rows.sites) {
    n_even += row.variable >= 0 && (row.start_and_even & 1) != 0 ? 1 : 0;
  }
  EXPECT_EQ(rows.n_even, n_even);
}

TEST(GroupRows, AddUpEnergiesByHalves) {
  expect_energies(sparse(50, 4, one_of({-1, 1}, 9), constant(0), 10));
  expect_energies(sparse(50, 5, one_of({-7, -2, 1, 3}, 11), one_of({-4, 0, 5}, 12), 13));
  expect_energies(dense(40, one_of({-1, 1}, 14), one_of({-3, 2}, 15)));
}

TEST(GroupRows, AreBalancedByHalves) {
  const PairwisePlan plan = problems::plan_pairwise(dense(41, constant(1), constant(0)));
  EXPECT_EQ(problems::group_rows(plan).max_sum, 41);  // 40 and the site's own bit
  EXPECT_EQ(problems::group_rows(plan, problems::RowPart::half).max_sum, 21);
}

TEST(GroupRows, TellTheirLargestSums) {
  Ising model = star(6, 0, constant(1));
  GroupRows rows = problems::group_rows(problems::plan_pairwise(model));
  EXPECT_EQ(rows.max_sum, 7);  // 6 and the site's own bit
  EXPECT_TRUE(rows.one_plane);
  model.fields[0] = -3;
  model.couplings[0].weight = 2;
  rows = problems::group_rows(problems::plan_pairwise(model));
  EXPECT_EQ(rows.max_sum, 11);  // 7 + 3, even
  EXPECT_FALSE(rows.one_plane);
}

TEST(GroupRows, CountTheirHubs) {
  const auto hubs_of = [](std::int32_t neighbors, std::int32_t copies) {
    const Ising model = repeated(star(neighbors, 0, constant(1)), copies);
    return problems::group_rows(problems::plan_pairwise(model)).n_hubs;
  };
  EXPECT_EQ(hubs_of(252, 3), 0);  // 63 groups of four
  EXPECT_EQ(hubs_of(253, 3), 3);
}

TEST(GroupRows, AreLeftOutWhereTheyCostMore) {
  const auto rows_of = [](const Ising& model) {
    return problems::group_rows(problems::plan_pairwise(model));
  };
  EXPECT_TRUE(rows_of(ring(30, constant(0.5), constant(0))).sites.empty());
  EXPECT_TRUE(rows_of(ring(30, constant(31), constant(0))).sites.empty());  // five terms each
  EXPECT_FALSE(rows_of(ring(30, constant(15), constant(0))).sites.empty());
}

}  // namespace
}  // namespace kiln::test::group_rows_test
