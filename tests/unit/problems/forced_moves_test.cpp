// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/forced_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::problems::forced_moves_test {
namespace {

Ising ring(std::int32_t n, double weight) {
  Ising model;
  model.n = n;
  model.fields.assign(static_cast<std::size_t>(n), 0);
  for (std::int32_t i = 0; i < n; ++i) model.couplings.push_back({i, (i + 1) % n, weight});
  return model;
}

bool may_be_forced(const Ising& model) {
  const PairwisePlan plan = plan_pairwise(model);
  return moves_may_be_forced(plan, plan.field);
}

// States as bits of a number, sets of states as bits of another.
using Set = std::uint64_t;

double field_on(const Ising& model, std::uint32_t state, std::int32_t i) {
  const auto spin = [&](std::int32_t v) { return (state >> v & 1u) != 0 ? 1.0 : -1.0; };
  double sum = model.fields[static_cast<std::size_t>(i)];
  for (const Edge& e : model.couplings) {
    if (e.u == i) sum += e.weight * spin(e.v);
    if (e.v == i) sum += e.weight * spin(e.u);
  }
  return sum * spin(i);  // the energy rises by -2 of it
}

// All that a sweep may end in: moves that do not raise the energy are never refused.
Set after_sweep(const Ising& model, std::span<const std::int32_t> order, std::uint32_t start) {
  Set now = Set{1} << start;
  for (const std::int32_t i : order) {
    if (i < 0) continue;
    Set next = 0;
    for (std::uint32_t s = 0; s < 1u << model.n; ++s) {
      if ((now >> s & 1u) == 0) continue;
      next |= Set{1} << (s ^ 1u << i);
      if (field_on(model, s, i) < 0) next |= Set{1} << s;
    }
    now = next;
  }
  return now;
}

bool every_state_is_reached(const Ising& model) {
  const PairwisePlan plan = plan_pairwise(model);
  const std::uint32_t states = 1u << model.n;
  std::vector<Set> after;
  for (std::uint32_t s = 0; s < states; ++s) after.push_back(after_sweep(model, plan.variable, s));
  for (std::uint32_t first = 0; first < states; ++first) {
    Set seen = Set{1} << first, before = 0;
    while (seen != before) {
      before = seen;
      for (std::uint32_t s = 0; s < states; ++s) {
        if ((before >> s & 1u) != 0) seen |= after[s];
      }
    }
    if (std::popcount(seen) != static_cast<int>(states)) return false;
  }
  return true;
}

bool is_connected(const Ising& model) {
  std::uint32_t seen = 1, before = 0;
  while (seen != before) {
    before = seen;
    for (const Edge& e : model.couplings) {
      if ((seen >> e.u & 1u) != 0) seen |= 1u << e.v;
      if ((seen >> e.v & 1u) != 0) seen |= 1u << e.u;
    }
  }
  return seen == (1u << model.n) - 1;
}

// Every connected graph of three to five vertices, ferromagnetic and not.
TEST(ForcedMoves, AreSeenWhereverASweepLeavesStatesOut) {
  int left_out = 0, warned = 0, graphs = 0;
  for (std::int32_t n = 3; n <= 5; ++n) {
    const int pairs = n * (n - 1) / 2;
    for (std::uint32_t edges = 0; edges < 1u << pairs; ++edges) {
      Ising model;
      model.n = n;
      model.fields.assign(static_cast<std::size_t>(n), 0);
      int k = 0;
      for (std::int32_t u = 0; u < n; ++u) {
        for (std::int32_t v = u + 1; v < n; ++v, ++k) {
          if ((edges >> k & 1u) != 0) model.couplings.push_back({u, v, edges % 2 == 0 ? 1. : -1.});
        }
      }
      if (!is_connected(model)) continue;
      ++graphs;
      const bool all = every_state_is_reached(model), forced = may_be_forced(model);
      left_out += all ? 0 : 1;
      warned += forced ? 1 : 0;
      EXPECT_TRUE(all || forced) << n << " vertices, edges " << edges;
    }
  }
  EXPECT_EQ(graphs, 4 + 38 + 728);
  EXPECT_EQ(left_out, 37) << "the count that ADR 0023 gives";
  EXPECT_EQ(warned, 42) << "graphs of even degree alone";
}

// By the definition: some component of three variables or more, each of which can be without
// preference, is a ring or small.
bool is_forced_by_definition(const Ising& model) {
  const auto n = static_cast<std::size_t>(model.n);
  std::vector<std::vector<std::pair<std::size_t, double>>> neighbors(n);
  for (const Edge& e : model.couplings) {
    neighbors[static_cast<std::size_t>(e.u)].emplace_back(e.v, e.weight);
    neighbors[static_cast<std::size_t>(e.v)].emplace_back(e.u, e.weight);
  }
  const auto can_tie = [&](std::size_t v) {
    for (std::uint32_t signs = 0; signs < 1u << neighbors[v].size(); ++signs) {
      double sum = model.fields[v];
      for (std::size_t k = 0; k < neighbors[v].size(); ++k) {
        sum += (signs >> k & 1u) != 0 ? neighbors[v][k].second : -neighbors[v][k].second;
      }
      if (sum == 0) return true;
    }
    return false;
  };
  std::vector<bool> seen(n, false);
  for (std::size_t first = 0; first < n; ++first) {
    if (seen[first]) continue;
    std::vector<std::size_t> component{first};
    seen[first] = true;
    for (std::size_t next = 0; next < component.size(); ++next) {
      for (const auto& [other, weight] : neighbors[component[next]]) {
        if (!seen[other]) component.push_back(other);
        seen[other] = true;
      }
    }
    const bool ring =
        std::ranges::all_of(component, [&](std::size_t v) { return neighbors[v].size() == 2; });
    const bool fits = component.size() >= 3 && (ring || component.size() <= 8);
    if (fits && std::ranges::all_of(component, can_tie)) return true;
  }
  return false;
}

// Sparse graphs of many small components, with paths, rings and trees among them.
TEST(ForcedMoves, AreThoseOfTheDefinition) {
  std::mt19937_64 random(5);
  int forced = 0;
  for (int round = 0; round < 2000; ++round) {
    Ising model;
    model.n = 4 + static_cast<std::int32_t>(random() % 30);
    model.fields.assign(static_cast<std::size_t>(model.n), 0);
    if (round % 3 == 0) model.fields[random() % model.fields.size()] = 1;
    std::vector<std::int32_t> names(static_cast<std::size_t>(model.n));
    std::iota(names.begin(), names.end(), 0);
    std::shuffle(names.begin(), names.end(), random);
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t begin = 0; begin + 2 < names.size();) {  // rings and paths
      const std::size_t length = std::min<std::size_t>(3 + random() % 14, names.size() - begin);
      for (std::size_t k = 0; k + 1 < length; ++k) {
        pairs.insert(std::minmax(names[begin + k], names[begin + k + 1]));
      }
      if (random() % 4 != 0) pairs.insert(std::minmax(names[begin], names[begin + length - 1]));
      begin += length;
    }
    for (auto more = random() % 4; more > 0; --more) {
      const std::int32_t u = names[random() % names.size()], v = names[random() % names.size()];
      if (u != v) pairs.insert(std::minmax(u, v));
    }
    for (const auto& [u, v] : pairs) {
      model.couplings.push_back({u, v, random() % 9 == 0 ? 2.0 : 1.0});
    }
    const bool expected = is_forced_by_definition(model);
    ASSERT_EQ(may_be_forced(model), expected) << "round " << round;
    forced += expected ? 1 : 0;
  }
  EXPECT_GT(forced, 200);
  EXPECT_LT(forced, 1800);
}

TEST(ForcedMoves, AreThoseOfRingsAndOfSmallPartsWithoutPreference) {
  EXPECT_TRUE(may_be_forced(ring(3, -1)));
  EXPECT_TRUE(may_be_forced(ring(1000, 0.37)));

  Ising uneven = ring(12, 1);
  uneven.couplings[4].weight = 2;
  EXPECT_FALSE(may_be_forced(uneven));
  Ising pulled = ring(12, 1);
  pulled.fields[7] = 1;
  EXPECT_FALSE(may_be_forced(pulled));
  pulled.fields[7] = 2;  // as much as both neighbours
  EXPECT_TRUE(may_be_forced(pulled));
  Ising chain = ring(12, 1);
  chain.couplings.pop_back();
  EXPECT_FALSE(may_be_forced(chain));

  Ising beside = chain;  // a triangle beside a chain
  beside.n = 15;
  beside.fields.assign(15, 0);
  for (const auto& [u, v] : {std::pair{12, 13}, {13, 14}, {12, 14}}) {
    beside.couplings.push_back({u, v, -1});
  }
  EXPECT_TRUE(may_be_forced(beside));
}

TEST(ForcedMoves, DoNotHideTheOptimumOfARing) {
  for (const std::int32_t n : {12, 16, 23}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      SimulatedAnnealing schedule;
      RunOptions options;
      options.seed = seed;
      options.replicas = 8;
      const Problem problem = make_ising(ring(n, 1), "ring");
      kiln::Run run(problem, schedule, {.sweeps = 2000}, options, open_backend("cpu", 1));
      // Neighbours that agree cost 1, others gain 1; on an odd ring one pair agrees.
      EXPECT_EQ(run.advance().objective, n % 2 == 0 ? -n : 2 - n) << n;
    }
  }
}

}  // namespace
}  // namespace kiln::problems::forced_moves_test
