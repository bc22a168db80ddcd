// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Knapsacks, pairs of cuts and routing: every value against the definition. The format of routing
// tables is in routing_reader_test.cpp.
#include "kiln/problems/multi_objective_discrete.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/problems/generators.hpp"

#include "backends/cpu_queue.hpp"
#include "multi_objective/discrete.hpp"

namespace kiln::multi_objective_discrete_test {
namespace {

using problems::cut_pair;
using problems::knapsack;
using problems::routing;

using Bytes = std::vector<std::int8_t>;
using Indices = std::vector<std::int32_t>;

/// The values by the problem's own recomputation, after those of the functor were compared with it.
ObjectiveVector values_of(const Problem& problem, BlockValues block) {
  const State state{std::move(block)};
  const std::vector<BlockSpan> spans = spans_of(state);
  ObjectiveVector plain = problem.objectives->evaluate(spans);
  const ObjectiveVector functor = problem.objective->vector_reference()(spans);
  EXPECT_EQ(plain.values, functor.values);
  EXPECT_EQ(plain.violation, functor.violation);
  return plain;
}

/// The bits of a number, as bits or as spins.
Bytes pattern(unsigned number, std::size_t n, std::int8_t zero) {
  Bytes bits(n, zero);
  for (std::size_t i = 0; i < n; ++i) {
    if ((number >> i & 1U) != 0) bits[i] = 1;
  }
  return bits;
}

KnapsackData three_knapsacks() {
  return {8,
          {6, 5, 8, 9, 6, 7, 3, 1, 2.5, 2, 4, 3, 7, 1, 9, 0, 1, 1, 2, 3, 5, 8, 13, 21},
          {2, 3, 6, 7, 5, 9, 4, 4, 1, 8, 2, 8, 1, 8, 2, 8, 3, 1, 4, 1, 5, 9, 2, 6},
          {20, 16.5, 15}};
}

TEST(Knapsack, HasTheSumsOfEverySubset) {
  const KnapsackData data = three_knapsacks();
  const Problem problem = knapsack(data, "k");
  int n_feasible = 0;
  for (unsigned subset = 0; subset < 256; ++subset) {
    std::vector<double> profits(3, 0.0);
    double violation = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      double load = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        if ((subset >> i & 1U) == 0) continue;
        profits[k] += data.profit[8 * k + i];
        load += data.weight[8 * k + i];
      }
      if (load > data.capacity[k]) violation += (load - data.capacity[k]) / data.capacity[k];
    }
    const ObjectiveVector found = values_of(problem, pattern(subset, 8, 0));
    ASSERT_EQ(found.values, (std::vector<double>{-profits[0], -profits[1], -profits[2]}));
    ASSERT_NEAR(found.violation, violation, 1e-14);
    ASSERT_EQ(found.violation > 0, violation > 0);
    n_feasible += violation > 0 ? 0 : 1;
  }
  EXPECT_GT(n_feasible, 8);
  EXPECT_LT(n_feasible, 248);
}

TEST(Knapsack, DescribesItsObjectives) {
  const Problem problem = problems::knapsack_by_name("30,3,-5");
  EXPECT_EQ(problem.identity.name, "knapsack:30,3,-5");
  EXPECT_EQ(problem.identity.family, "knapsack");
  EXPECT_EQ(problem.objectives->names,
            (std::vector<std::string>{"profit 1", "profit 2", "profit 3"}));
  EXPECT_EQ(problem.objectives->maximized, std::vector<bool>(3, true));
  EXPECT_TRUE(problem.objectives->constrained);
  EXPECT_EQ(problem.identity.sizes.front(), (std::pair<std::string, std::string>{"n", "30"}));
  EXPECT_EQ(problem.objective->space().blocks(),
            (std::vector<Block>{{BlockKind::binary, 30, 0, 1}}));
  const State state{Bytes{1, 0, 1}};
  EXPECT_EQ(problem.solution.format(spans_of(state)), "1\n0\n1\n");
}

/// The profit of each item in the knapsack, read off states of a single item.
std::vector<double> profits_of(const Problem& problem, std::size_t knapsack) {
  const auto n = static_cast<std::size_t>(problem.objective->space().variables());
  std::vector<double> profits;
  for (std::size_t i = 0; i < n; ++i) {
    Bytes bits(n, 0);
    bits[i] = 1;
    const State state{std::move(bits)};
    profits.push_back(-problem.objectives->evaluate(spans_of(state)).values[knapsack]);
  }
  return profits;
}

TEST(Knapsack, RandomInstancesAreAsPublished) {
  const Problem problem = knapsack(1500, 2, 7);
  for (std::size_t k = 0; k < 2; ++k) {
    const std::vector<double> profits = profits_of(problem, k);
    double sum = 0;
    for (const double profit : profits) {
      ASSERT_EQ(profit, static_cast<int>(profit));
      sum += profit;
    }
    EXPECT_EQ(*std::ranges::min_element(profits), 10);
    EXPECT_EQ(*std::ranges::max_element(profits), 100);
    EXPECT_NEAR(sum / 1500, 55, 3);  // four standard errors of a uniform law
  }
  // All items weigh twice the capacity, half of them about as much as it.
  EXPECT_EQ(values_of(problem, Bytes(1500, 1)).violation, 2);
  EXPECT_EQ(values_of(problem, Bytes(1500, 0)).violation, 0);
}

TEST(Knapsack, TheSeedDecides) {
  const auto profits = [](std::uint64_t seed) { return profits_of(knapsack(20, 2, seed), 1); };
  EXPECT_EQ(profits(1), profits(1));
  EXPECT_NE(profits(1), profits(2));
  EXPECT_NE(profits(1), profits((std::uint64_t{1} << 32) + 1));
  EXPECT_NE(profits_of(knapsack(20, 2, 1), 0), profits(1));
}

TEST(Knapsack, RefusesWhatIsNone) {
  const auto with = [](auto change) {
    KnapsackData data = three_knapsacks();
    change(data);
    return test::complaint([&] { knapsack(data, "k"); });
  };
  EXPECT_EQ(with([](KnapsackData&) {}), "accepted");
  EXPECT_EQ(with([](KnapsackData& d) { d.items = 0; }), "problem.size: k: there are no items");
  EXPECT_EQ(with([](KnapsackData& d) { d.capacity.resize(1); }),
            "problem.size: k: there is 1 knapsack");
  EXPECT_EQ(with([](KnapsackData& d) { d.weight.pop_back(); }),
            "problem.size: k: there are 24 profits and 23 weights");
  EXPECT_EQ(with([](KnapsackData& d) { d.profit[3] = -1; }),
            "problem.value: k: a profit is negative or not a finite number");
  EXPECT_EQ(with([](KnapsackData& d) { d.weight[3] = std::nan(""); }),
            "problem.value: k: a weight is negative or not a finite number");
  EXPECT_EQ(with([](KnapsackData& d) { d.profit[0] = d.profit[1] = 1e308; }),
            "problem.value: k: the sum of the profits overflows a double");
  EXPECT_EQ(with([](KnapsackData& d) { d.capacity[2] = 0; }),
            "problem.value: k: a capacity is not a finite number above 0");
  EXPECT_EQ(test::complaint([] { knapsack(10, 17, 1); }),
            "problem.size: knapsack:10,17,1: there are 17 knapsacks");
  EXPECT_EQ(test::complaint([] { knapsack(std::int64_t{1} << 40, 2, 1); }),
            "problem.size: knapsack:1099511627776,2,1: 1099511627776 items in 2 knapsacks need "
            "more than 16777216 profit values");
}

/// Two graphs that share some edges.
Graph first_graph() { return {6, {{0, 1, 2}, {1, 2, -3.5}, {2, 3, 4}, {0, 5, 1}, {4, 2, 7}}}; }
Graph second_graph() { return {6, {{5, 3, -2}, {0, 1, 1}, {1, 2, 6}, {3, 4, 0.25}}}; }

double plain_cut(const Graph& graph, const Bytes& spins) {
  double cut = 0;
  for (const Edge& e : graph.edges) {
    if (spins[static_cast<std::size_t>(e.u)] != spins[static_cast<std::size_t>(e.v)]) {
      cut += e.weight;
    }
  }
  return cut;
}

TEST(CutPair, HasBothCutsOfEveryPartition) {
  const Problem problem = cut_pair(first_graph(), second_graph(), "c");
  EXPECT_EQ(problem.identity.sizes[1], (std::pair<std::string, std::string>{"m", "7"}));
  for (unsigned side = 0; side < 64; ++side) {
    const Bytes spins = pattern(side, 6, -1);
    const ObjectiveVector found = values_of(problem, spins);
    ASSERT_EQ(found.values, (std::vector<double>{0.0 - plain_cut(first_graph(), spins),
                                                 0.0 - plain_cut(second_graph(), spins)}));
    ASSERT_EQ(found.violation, 0);
  }
}

TEST(CutPair, DescribesItsObjectives) {
  const Problem problem = problems::cut_pair_by_name("40,12.5,3");
  EXPECT_EQ(problem.identity.name, "cutpair:40,12.5,3");
  EXPECT_EQ(problem.identity.family, "cutpair");
  EXPECT_EQ(problem.objectives->names, (std::vector<std::string>{"cut 1", "cut 2"}));
  EXPECT_EQ(problem.objectives->maximized, std::vector<bool>(2, true));
  EXPECT_FALSE(problem.objectives->constrained);
  EXPECT_EQ(problem.objective->space().blocks(),
            (std::vector<Block>{{BlockKind::spin, 40, -1, 1}}));
  State state{Bytes{-1, 1, -1}};
  EXPECT_EQ(problem.solution.format(spans_of(state)), "-1\n1\n-1\n");
  problem.solution.canonical(state);
  EXPECT_EQ(state, (State{Bytes{1, -1, 1}}));
}

TEST(CutPair, RandomWeightsAreDrawnForTheEdgesOfTheRandomGraph) {
  const Graph graph = problems::random_graph(60, 30, 5);
  const Problem problem = cut_pair(60, 30, 5);
  EXPECT_EQ(problem.identity.sizes[1].second, std::to_string(graph.edges.size()));
  Bytes spins(60, 1);
  int n_different = 0;
  for (std::size_t v = 0; v < 60; ++v) {  // a side of one vertex cuts the edges of that vertex
    spins[v] = -1;
    const ObjectiveVector found = values_of(problem, spins);
    spins[v] = 1;
    const auto degree = std::ranges::count_if(graph.edges, [&](const Edge& e) {
      return e.u == static_cast<std::int32_t>(v) || e.v == static_cast<std::int32_t>(v);
    });
    for (const double value : found.values) {
      ASSERT_EQ(value, static_cast<int>(value));
      ASSERT_LE(std::abs(value), 100.0 * static_cast<double>(degree));
    }
    n_different += found.values[0] != found.values[1] ? 1 : 0;
  }
  EXPECT_GT(n_different, 50);
}

TEST(CutPair, TheSeedDecides) {
  Bytes spins(30, 1);
  std::fill_n(spins.begin(), 15, std::int8_t{-1});
  const auto cuts = [&](std::int64_t seed) {
    return values_of(cut_pair(30, 50, seed), spins).values;
  };
  EXPECT_EQ(cuts(4), cuts(4));
  EXPECT_NE(cuts(4), cuts(5));
  EXPECT_NE(cuts(4), cuts((std::int64_t{1} << 31) + 4));
}

TEST(CutPair, RefusesWhatIsNone) {
  const auto refused = [](Graph first, Graph second) {
    return test::complaint([&] { cut_pair(std::move(first), std::move(second), "c"); });
  };
  EXPECT_EQ(refused({2, {}}, {2, {}}), "accepted");
  EXPECT_EQ(refused({0, {}}, {0, {}}), "problem.size: c: a problem needs at least one variable");
  EXPECT_EQ(refused({2, {}}, {3, {}}),
            "problem.size: c: the first graph has 2 vertices, and the second graph has 3");
  EXPECT_EQ(refused({3, {{0, 1, 1e308}, {1, 2, 1e308}}}, {3, {}}),
            "problem.value: c: the sum of the weights overflows a double");
  EXPECT_NE(refused({3, {{0, 3, 1}}}, {3, {}}).find("problem.range"), std::string::npos);
}

/// Three queries of a kind and one of another, and two models.
RoutingTable small_table() {
  return {{"easy", "hard"},
          {{"a", 1, 2, 0.5, 100, {0.9, 0.5}}, {"b", 10, 20, 1, 50, {0.95, 0.75}}},
          {{"chat", 3, 1000, 200, 0}, {"proof", 1, 4000, 500, 1}},
          0,
          0};
}

TEST(Routing, AddsUpWhatEachChoiceCosts) {
  const Problem problem = routing(small_table(), "r");
  // a: chat 3 x 0.0014 and 2.5 s, proof 0.005 and 5.5 s; b: 3 x 0.014 and 5 s, 0.05 and 11 s.
  const struct {
    Indices choices;
    double cost, latency, quality;
  } cases[] = {{{0, 0}, 0.0092, 3.25, 0.8},
               {{0, 1}, 0.0542, 4.625, 0.8625},
               {{1, 0}, 0.047, 5.125, 0.8375},
               {{1, 1}, 0.092, 6.5, 0.9}};
  for (const auto& one : cases) {
    const ObjectiveVector found = values_of(problem, one.choices);
    EXPECT_NEAR(found.values[0], one.cost, 1e-15);
    EXPECT_NEAR(found.values[1], one.latency, 1e-14);
    EXPECT_NEAR(found.values[2], -one.quality, 1e-15);
    EXPECT_EQ(found.violation, 0);
  }
}

TEST(Routing, LimitsAreViolatedByShares) {
  RoutingTable table = small_table();
  table.budget = 0.0271;
  const auto violation = [&](Indices choices) {
    return values_of(routing(table, "r"), std::move(choices)).violation;
  };
  EXPECT_EQ(violation({0, 0}), 0);
  EXPECT_NEAR(violation({0, 1}), 1, 1e-14);  // twice the budget
  table.latency_limit = 4;
  EXPECT_NEAR(violation({0, 0}), 5.5 / 4 - 1, 1e-14);
  EXPECT_NEAR(violation({0, 1}), 1 + 11.0 / 4 - 1, 1e-14);
  table.budget = 0;
  EXPECT_NEAR(violation({1, 1}), 5.0 / 4 - 1 + 11.0 / 4 - 1, 1e-14);
  table.latency_limit = 11;
  EXPECT_EQ(violation({1, 1}), 0);
}

TEST(Routing, DescribesItsObjectives) {
  RoutingTable table = small_table();
  const Problem free = routing(table, "r");
  EXPECT_EQ(free.identity.family, "route");
  EXPECT_EQ(free.objectives->names, (std::vector<std::string>{"cost", "latency", "quality"}));
  EXPECT_EQ(free.objectives->maximized, (std::vector<bool>{false, false, true}));
  EXPECT_FALSE(free.objectives->constrained);
  EXPECT_EQ(free.objective->space().blocks(), (std::vector<Block>{{BlockKind::category, 2, 0, 1}}));
  const State state{Indices{1, 0}};
  EXPECT_EQ(free.solution.format(spans_of(state)), "chat,b\nproof,a\n");
  table.latency_limit = 1;
  EXPECT_TRUE(routing(table, "r").objectives->constrained);
  table.latency_limit = 0;
  table.budget = 1;
  EXPECT_TRUE(routing(table, "r").objectives->constrained);
}

TEST(Routing, RefusesWhatIsNone) {
  const auto with = [](auto change) {
    RoutingTable table = small_table();
    change(table);
    return test::complaint([&] { routing(table, "r"); });
  };
  using Table = RoutingTable;
  EXPECT_EQ(with([](Table&) {}), "accepted");
  EXPECT_EQ(with([](Table& t) { t.kinds.clear(); }),
            "problem.size: r: there are no kinds of queries");
  EXPECT_EQ(with([](Table& t) { t.models.clear(); }), "problem.size: r: there is no model");
  EXPECT_EQ(with([](Table& t) { t.queries.clear(); }), "problem.size: r: there are no queries");
  EXPECT_EQ(with([](Table& t) { t.models[1].quality.pop_back(); }),
            "problem.size: r: there is 1 quality of the model 'b'");
  EXPECT_EQ(with([](Table& t) { t.models[0].price_out = -1; }),
            "problem.value: r: a price of the model 'a' is negative or not a finite number");
  EXPECT_EQ(with([](Table& t) { t.models[0].tokens_per_s = 0; }),
            "problem.value: r: first_token or tokens_per_s of the model 'a' is out of range");
  EXPECT_EQ(with([](Table& t) { t.models[1].quality[0] = std::nan(""); }),
            "problem.value: r: a quality of the model 'b' is negative or not a finite number");
  EXPECT_EQ(with([](Table& t) { t.queries[0].count = 0; }),
            "problem.value: r: the count of the queries 'chat' is 0");
  EXPECT_EQ(with([](Table& t) { t.queries[1].tokens_in = -2; }),
            "problem.value: r: the number of tokens of the queries 'proof' is negative or not a "
            "finite number");
  EXPECT_EQ(with([](Table& t) { t.queries[1].kind = 2; }),
            "problem.value: r: the kind of the queries 'proof' does not exist");
  EXPECT_EQ(with([](Table& t) { t.budget = -1; }),
            "problem.value: r: the budget or the latency limit is negative or not a finite number");
  EXPECT_EQ(with([](Table& t) { t.models[0].price_in = 1e308; }),
            "problem.value: r: the sum of the costs, latencies or qualities, or cost / budget, "
            "overflows a double");
  EXPECT_EQ(with([](Table& t) { t.budget = 5e-324; }),
            "problem.value: r: the sum of the costs, latencies or qualities, or cost / budget, "
            "overflows a double");
}

TEST(MultiObjectiveDiscrete, NamesOfAnotherFormAreRefused) {
  const auto knapsack_named = [](const char* text) {
    return test::complaint([&] { problems::knapsack_by_name(text); });
  };
  const auto pair_named = [](const char* text) {
    return test::complaint([&] { problems::cut_pair_by_name(text); });
  };
  for (const char* text : {"", "10", "10,2", "10,2,", "10,2,1,", "10,2,1x", " 10,2,1", "1e2,2,1"}) {
    EXPECT_EQ(knapsack_named(text), "problem.parameters: 'knapsack:" + std::string(text) +
                                        "' does not have the form knapsack:N,M,SEED");
  }
  EXPECT_EQ(knapsack_named("0,2,1"), "problem.size: knapsack:0,2,1: there are no items");
  EXPECT_EQ(knapsack_named("10,1,1"), "problem.size: knapsack:10,1,1: there is 1 knapsack");
  EXPECT_EQ(knapsack_named("99999999999,2,1"),
            "problem.size: 'knapsack:99999999999,2,1': the number 99999999999 is out of range");
  for (const char* text : {"", "10", "10,50", "10,x,1", "10,50,1 "}) {
    EXPECT_EQ(pair_named(text), "problem.parameters: 'cutpair:" + std::string(text) +
                                    "' does not have the form cutpair:N,DENSITY,SEED");
  }
  EXPECT_NE(pair_named("10,101,1").find("problem.value"), std::string::npos);
  EXPECT_EQ(test::complaint([] { problems::routing_by_name(""); }),
            "problem.parameters: 'route:' does not have the form route:FILE");
}

// A banner that says `n 50  n 50` would have a reader look for two sizes.
TEST(DiscreteFronts, SayEachSizeOnce) {
  using Sizes = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(problems::knapsack(50, 2, 1).identity.sizes, (Sizes{{"n", "50"}, {"objectives", "2"}}));
  const std::size_t edges = problems::random_graph(20, 50, 1).edges.size();
  EXPECT_EQ(problems::cut_pair(20, 50, 1).identity.sizes,
            (Sizes{{"n", "20"}, {"m", std::to_string(edges)}, {"objectives", "2"}}));
}

}  // namespace
}  // namespace kiln::multi_objective_discrete_test
