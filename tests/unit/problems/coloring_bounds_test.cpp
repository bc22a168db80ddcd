// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "kiln/problems/generators.hpp"

#include "coloring_graphs.hpp"

namespace kiln::problems {
namespace {

using test::chromatic_number;
using test::random_edges;

ColoringModel model_of(const Graph& graph) {
  ColoringModel model;
  take_graph(graph, model);
  return model;
}

std::int64_t greedy_of(const Graph& graph) {
  const std::vector<std::int32_t> colors = greedy_coloring(model_of(graph));
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

TEST(ColoringBounds, FoldsAColoringIntoFewerColors) {
  const Graph graph = random_edges(60, 1u << 31, 3);
  const ColoringModel model = model_of(graph);
  const std::vector<std::int32_t> greedy = greedy_coloring(model);
  const std::int32_t used = 1 + *std::ranges::max_element(greedy);

  EXPECT_EQ(fold_coloring(model, greedy, used), greedy);
  const std::vector<std::int32_t> folded = fold_coloring(model, greedy, used - 3);
  EXPECT_LT(*std::ranges::max_element(folded), used - 3);
  for (std::size_t v = 0; v < folded.size(); ++v) {
    EXPECT_TRUE(greedy[v] >= used - 3 || folded[v] == greedy[v]) << v;
  }
}

}  // namespace
}  // namespace kiln::problems
