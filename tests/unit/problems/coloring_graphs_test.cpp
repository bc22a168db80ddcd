// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

namespace kiln::coloring_graphs_test {
namespace {

using problems::mycielski_graph;
using problems::queen_graph;

Graph canonical(Graph graph) {
  problems::canonicalize(graph);
  return graph;
}

std::int64_t triangles_of(const Graph& graph) {
  const auto n = static_cast<std::size_t>(graph.n_vertices);
  std::vector<std::vector<bool>> joined(n, std::vector<bool>(n));
  for (const Edge& e : graph.edges) {
    joined[static_cast<std::size_t>(e.u)][static_cast<std::size_t>(e.v)] = true;
  }
  std::int64_t count = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      for (std::size_t c = b + 1; joined[a][b] && c < n; ++c) count += joined[a][c] && joined[b][c];
    }
  }
  return count;
}

bool can_color(const Graph& graph, std::vector<std::int32_t>& colors, std::int32_t most) {
  const auto v = static_cast<std::int32_t>(colors.size());
  if (v == graph.n_vertices) return true;
  const std::int32_t used = colors.empty() ? 0 : 1 + *std::ranges::max_element(colors);
  for (std::int32_t c = 0; c < std::min(most, used + 1); ++c) {
    const bool free = std::ranges::none_of(graph.edges, [&](const Edge& e) {
      return e.v == v && colors[static_cast<std::size_t>(e.u)] == c;
    });
    if (!free) continue;
    colors.push_back(c);
    if (can_color(graph, colors, most)) return true;
    colors.pop_back();
  }
  return false;
}

std::int32_t chromatic_number(const Graph& graph) {
  for (std::int32_t most = 1;; ++most) {
    std::vector<std::int32_t> colors;
    if (can_color(graph, colors, most)) return most;
  }
}

// Fingerprints of the published files queen5_5, queen8_8, myciel3 and myciel4.
TEST(ColoringGraphs, AreThePublishedOnes) {
  EXPECT_EQ(problems::fingerprint(queen_graph(5)), "7f6b575e3713af3d");
  EXPECT_EQ(problems::fingerprint(queen_graph(8)), "c7d403929f865f08");
  EXPECT_EQ(problems::fingerprint(mycielski_graph(3)), "3b6b9426e04f3d4e");
  EXPECT_EQ(problems::fingerprint(mycielski_graph(4)), "9914d9db9c0e37b4");
}

TEST(QueenGraph, JoinsWhatAQueenAttacks) {
  EXPECT_EQ(queen_graph(1), (Graph{1, {}}));
  EXPECT_EQ(queen_graph(2), problems::random_graph(4, 100, 1));  // complete
  const Graph three = queen_graph(3);
  EXPECT_EQ(three.edges.size(), 28u);  // 36 pairs without 8 knight's moves
  EXPECT_EQ(three, canonical(three));
  for (const std::int32_t n : {4, 7, 20}) {
    EXPECT_EQ(std::ssize(queen_graph(n).edges), n * (n - 1) * (5 * n - 1) / 3) << n;
  }
}

TEST(QueenGraph, NeedsTheKnownNumbersOfColors) {
  EXPECT_EQ(chromatic_number(queen_graph(3)), 5);
  EXPECT_EQ(chromatic_number(queen_graph(4)), 5);
  EXPECT_EQ(chromatic_number(queen_graph(5)), 5);
}

TEST(MycielskiGraph, HasNoTriangleAndNeedsOneColorMoreEachTime) {
  std::int32_t n = 5, m = 5;
  for (std::int32_t order = 2; order <= 6; ++order) {
    const Graph graph = mycielski_graph(order);
    EXPECT_EQ(graph.n_vertices, n);
    EXPECT_EQ(std::ssize(graph.edges), m);
    EXPECT_EQ(graph, canonical(graph));
    EXPECT_EQ(triangles_of(graph), 0);
    m = 3 * m + n;
    n = 2 * n + 1;
  }
  EXPECT_EQ(chromatic_number(mycielski_graph(2)), 3);
  EXPECT_EQ(chromatic_number(mycielski_graph(3)), 4);
  EXPECT_EQ(chromatic_number(mycielski_graph(4)), 5);
}

TEST(PottsTorus, HasTheSignsOfTheTorus) {
  const Potts model = problems::potts_torus(4, 5, 3, 7);

  EXPECT_EQ(model.n, 20);
  EXPECT_EQ(model.q, 3);
  EXPECT_TRUE(model.fields.empty());
  EXPECT_EQ(model.couplings, problems::torus_pm1(4, 5, 7).edges);
}

TEST(ColoringGraphs, RefuseSizesThatCannotBe) {
  EXPECT_THROW(queen_graph(0), InvalidArgument);
  EXPECT_THROW(queen_graph(344), InvalidArgument);
  EXPECT_THROW(queen_graph(2147483647), InvalidArgument);
  EXPECT_THROW(mycielski_graph(1), InvalidArgument);
  EXPECT_THROW(mycielski_graph(17), InvalidArgument);
  EXPECT_THROW(problems::potts_torus(4, 5, 1, 1), InvalidArgument);
  EXPECT_THROW(problems::potts_torus(4, 5, 128, 1), InvalidArgument);
}

}  // namespace
}  // namespace kiln::coloring_graphs_test
