// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/coloring_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <tuple>

#include "kiln/problems/generators.hpp"

#include "models/coloring_graphs.hpp"

namespace kiln::problems::coloring_bounds_test {
namespace {

using test::chromatic_number;
using test::random_edges;

ColoringModel model_of(const Graph& graph) {
  ColoringModel model;
  take_graph(graph, model);
  return model;
}

std::int64_t greedy_of(const Graph& graph) {
  const std::vector<std::int32_t> colors = greedy_coloring(model_of(graph)).colors;
  EXPECT_EQ(test::count_conflicts(graph, colors), 0);
  const std::int64_t used = test::count_colors(colors);
  EXPECT_EQ(used, 1 + *std::ranges::max_element(colors)) << "colours are left out";
  return used;
}

TEST(ColoringBounds, RowsHaveBothDirections) {
  const ColoringModel model = model_of({4, {{0, 2, 1.0}, {0, 3, 1.0}, {1, 2, 1.0}}});
  EXPECT_EQ(model.row_begin, (std::vector<std::int64_t>{0, 2, 3, 5, 6}));
  EXPECT_EQ(model.neighbor, (std::vector<std::int32_t>{2, 3, 2, 0, 1, 0}));
}

// Oracle: all colourings, and all sets of vertices, are tried.
TEST(ColoringBounds, EncloseTheChromaticNumber) {
  for (const std::uint32_t share : {1u << 29, 1u << 31, 7u << 29}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Graph graph = random_edges(10, share, seed);
      const std::int32_t chromatic = chromatic_number(graph);
      std::vector<std::uint32_t> joined(10, 0);
      for (const Edge& e : graph.edges) {
        joined[static_cast<std::size_t>(e.u)] |= 1u << e.v;
        joined[static_cast<std::size_t>(e.v)] |= 1u << e.u;
      }
      int largest = 0;
      for (std::uint32_t set = 1; set < 1024; ++set) {
        bool clique = true;
        for (std::size_t v = 0; v < 10; ++v) {
          const std::uint32_t others = set & ~(1u << v);
          if ((set >> v & 1u) != 0) clique = clique && (joined[v] & others) == others;
        }
        if (clique) largest = std::max(largest, std::popcount(set));
      }
      const std::int32_t bound = greedy_clique(model_of(graph));
      EXPECT_LE(bound, largest);
      EXPECT_GE(bound, largest - 1);
      EXPECT_GE(greedy_of(graph), chromatic);
      EXPECT_LE(greedy_of(graph), chromatic + 1);
    }
  }
}

// DSATUR is exact on bipartite graphs, odd cycles and wheels.
TEST(ColoringBounds, AreExactWhereTheyAreKnownToBe) {
  for (const std::int32_t n : {4, 26, 200}) EXPECT_EQ(greedy_of(test::cycle(n)), 2);
  for (const std::int32_t n : {5, 27, 201}) EXPECT_EQ(greedy_of(test::cycle(n)), 3);
  Graph bipartite = random_edges(120, 1u << 30, 2);
  std::erase_if(bipartite.edges, [](const Edge& e) { return (e.u + e.v) % 2 == 0; });
  EXPECT_EQ(greedy_of(bipartite), 2);
  EXPECT_EQ(greedy_of(test::complete_graph(80)), 80);
  EXPECT_EQ(greedy_clique(model_of(test::complete_graph(80))), 80);
  EXPECT_EQ(greedy_clique(model_of(mycielski_graph(5))), 2);
  EXPECT_EQ(greedy_clique(model_of(queen_graph(8))), 8);
  EXPECT_EQ(greedy_clique(model_of({3, {}})), 1);
  EXPECT_EQ(greedy_of({3, {}}), 1);
}

std::vector<std::set<std::int32_t>> neighbors_in(const Graph& graph) {
  std::vector<std::set<std::int32_t>> all(static_cast<std::size_t>(graph.n_vertices));
  for (const Edge& e : graph.edges) {
    all[static_cast<std::size_t>(e.u)].insert(e.v);
    all[static_cast<std::size_t>(e.v)].insert(e.u);
  }
  return all;
}

// The rule as it is written down: before each vertex all are looked at. Of `by_saturation` ones,
// then by neighbours alone.
std::vector<std::int32_t> colors_by_the_rule(const Graph& graph, int by_saturation) {
  const std::vector<std::set<std::int32_t>> beside = neighbors_in(graph);
  std::vector<std::int32_t> color(beside.size(), -1);
  std::vector<std::set<std::int32_t>> taken(beside.size());
  for (int i = 0; i < graph.n_vertices; ++i) {
    std::tuple<std::size_t, std::size_t, std::size_t> best{};  // of saturation, neighbours, -v
    for (std::size_t v = 0; v < beside.size(); ++v) {
      const std::size_t saturation = i < by_saturation ? taken[v].size() : 0;
      if (color[v] < 0) best = std::max(best, {saturation, beside[v].size(), beside.size() - v});
    }
    const std::size_t next = beside.size() - std::get<2>(best);
    color[next] = 0;
    while (taken[next].contains(color[next])) ++color[next];
    for (const std::int32_t u : beside[next])
      taken[static_cast<std::size_t>(u)].insert(color[next]);
  }
  return color;
}

TEST(ColoringBounds, FollowTheRuleOfMostColorsBeside) {
  constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  for (const std::uint32_t share : {1u << 26, 1u << 29, 1u << 31, 7u << 29}) {
    const Graph graph = random_edges(150, share, 4);  // beyond 64 colours, and beyond one word
    const ColoringModel model = model_of(graph);
    const GreedyColoring whole = greedy_coloring(model);
    EXPECT_EQ(whole.colors, colors_by_the_rule(graph, 150)) << share;
    EXPECT_EQ(whole.colors, greedy_coloring(model, no_end).colors) << share;
    EXPECT_EQ(greedy_coloring(model, 0).colors, colors_by_the_rule(graph, 0)) << share;
    EXPECT_EQ(greedy_coloring(model, 1).colors, colors_by_the_rule(graph, 1)) << share;
  }
  EXPECT_EQ(greedy_of(test::complete_graph(200)), 200);
}

// What is left after so many steps is done in one pass.
TEST(ColoringBounds, EndAfterSoManySteps) {
  const std::int32_t n = 20000;
  Graph graph{n, {}};
  std::uint64_t state = 1;
  const auto draw = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state >> 33) % n);
  };
  for (int i = 0; i < 100000; ++i) {
    const std::int32_t u = draw(), v = draw();
    if (u != v) graph.edges.push_back({std::min(u, v), std::max(u, v), 1.0});
  }
  canonicalize(graph);
  const ColoringModel model = model_of(graph);
  std::int64_t max_neighbors = 0;
  for (const auto& of_one : neighbors_in(graph)) {
    max_neighbors = std::max(max_neighbors, static_cast<std::int64_t>(of_one.size()));
  }
  const auto once = n + static_cast<std::int64_t>(2 * graph.edges.size());
  const std::int64_t whole = greedy_coloring(model, 100 * once).steps;
  EXPECT_LE(whole, 2 * once + n) << "steps grow faster than the graph";
  for (const std::int64_t most : {std::int64_t{0}, once / 10, once / 2}) {
    const GreedyColoring cut = greedy_coloring(model, most);
    EXPECT_EQ(test::count_conflicts(graph, cut.colors), 0) << most;
    EXPECT_LE(cut.steps, most + once + 2 * max_neighbors + n / 100) << most;
    EXPECT_LT(cut.steps, whole) << most;
  }
}

TEST(ColoringBounds, FoldsAColoringIntoFewerColors) {
  const Graph graph = random_edges(60, 1u << 31, 3);
  const ColoringModel model = model_of(graph);
  const std::vector<std::int32_t> greedy = greedy_coloring(model).colors;
  const std::int32_t used = 1 + *std::ranges::max_element(greedy);

  EXPECT_EQ(fold_coloring(model, greedy, used), greedy);
  const std::vector<std::int32_t> folded = fold_coloring(model, greedy, used - 3);
  EXPECT_LT(*std::ranges::max_element(folded), used - 3);
  for (std::size_t v = 0; v < folded.size(); ++v) {
    EXPECT_TRUE(greedy[v] >= used - 3 || folded[v] == greedy[v]) << v;
  }
}

}  // namespace
}  // namespace kiln::problems::coloring_bounds_test
