// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

#include "backends/cpu_queue.hpp"
#include "generators/rudy_builders.hpp"
#include "models/gset_check.hpp"

namespace kiln::gset_test {
namespace {

using problems::gset;
using problems::gset_names;
using problems::detail::AdjacencyLists;
using problems::detail::build_planar;
using problems::detail::build_random;
using problems::detail::build_torus;
using problems::detail::build_union;
using problems::detail::torus_with_signs;
using problems::detail::with_signs;
using problems::detail::with_unit_weights;
using List = std::vector<std::int32_t>;

List list_of(const AdjacencyLists& lists, std::int32_t v) {
  List neighbors;
  lists.for_each_neighbor(v, [&](std::int32_t u) { neighbors.push_back(u); });
  return neighbors;
}

/// All edges as "u-v", or only those of negative weight.
std::string edges_of(const Graph& graph, bool negative_only = false) {
  std::string text;
  for (const Edge& edge : graph.edges) {
    if (negative_only && edge.weight > 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(edge.u) + "-" + std::to_string(edge.v);
  }
  return text;
}

std::string negative_edges(const Graph& graph) { return edges_of(graph, true); }

class Gset : public testing::TestWithParam<test::GsetCheck> {};

TEST_P(Gset, EqualsThePublishedFile) {
  const test::GsetCheck& check = GetParam();

  const Graph graph = gset(check.name);

  double weight_sum = 0.0;
  for (const Edge& edge : graph.edges) weight_sum += edge.weight;
  EXPECT_EQ(graph.n_vertices, check.n_vertices);
  EXPECT_EQ(std::ssize(graph.edges), check.n_edges);
  EXPECT_EQ(weight_sum, static_cast<double>(check.weight_sum));
  EXPECT_EQ(problems::fingerprint(graph), check.sha256_16);
}

INSTANTIATE_TEST_SUITE_P(All, Gset, testing::ValuesIn(test::gset_checks),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(GsetNames, AreThe71OfTheLiterature) {
  std::vector<std::string> expected;
  for (const test::GsetCheck& check : test::gset_checks) expected.emplace_back(check.name);

  EXPECT_EQ(expected.size(), 71U);
  EXPECT_EQ(gset_names(), expected);
}

TEST(GsetNames, AnUnknownOneIsRefusedWithTheNearest) {
  EXPECT_EQ(test::complaint([] { gset("g22"); }),
            "problem.unknown: unknown G-set instance 'g22'; the nearest is 'G22'");
  EXPECT_EQ(test::complaint([] { gset("G811"); }),
            "problem.unknown: unknown G-set instance 'G811'");
  EXPECT_EQ(test::complaint([] { gset("G999"); }),
            "problem.unknown: unknown G-set instance 'G999'");
  EXPECT_EQ(test::complaint([] { gset("petersen"); }),
            "problem.unknown: unknown G-set instance 'petersen'");
  EXPECT_THROW(gset(""), InvalidArgument);
  EXPECT_THROW(gset("G68"), InvalidArgument);
}

TEST(RudyBuilders, RandomGraphPutsNewNeighborsInFront) {
  const AdjacencyLists lists = build_random(6, 50, 1);

  EXPECT_EQ(edges_of(with_unit_weights(lists)), "0-1 0-2 0-3 1-3 1-5 2-3 3-4 3-5");
  EXPECT_EQ(list_of(lists, 0), (List{1, 3, 2}));
  EXPECT_EQ(list_of(lists, 1), (List{0, 3, 5}));
  EXPECT_EQ(list_of(lists, 2), (List{3, 0}));
  EXPECT_EQ(list_of(lists, 3), (List{1, 4, 2, 0, 5}));
  EXPECT_EQ(list_of(lists, 4), (List{3}));
  EXPECT_EQ(list_of(lists, 5), (List{1, 3}));
  EXPECT_EQ(negative_edges(with_signs(lists, 1)), "0-2 1-3 2-3 3-4");
}

TEST(RudyBuilders, TorusInsertsItsSecondSideFirst) {
  const AdjacencyLists lists = build_torus(3, 3);

  EXPECT_EQ(list_of(lists, 0), (List{6, 3, 2, 1}));
  EXPECT_EQ(list_of(lists, 4), (List{7, 1, 5, 3}));
  EXPECT_EQ(negative_edges(with_signs(lists, 1)), "0-1 0-2 1-2 1-4 2-5 3-6 4-7 6-8");
}

TEST(RudyBuilders, TorusNeedsNoLists) {
  for (const auto& [a, b] : {std::pair{3, 3}, {3, 8}, {8, 3}, {4, 4}, {7, 5}, {20, 31}}) {
    for (const std::int64_t seed : {1, 8001, -5}) {
      EXPECT_EQ(torus_with_signs(a, b, seed), with_signs(build_torus(a, b), seed))
          << a << " x " << b << ", seed " << seed;
    }
  }
}

TEST(RudyBuilders, PlanarGraphIsBuiltByDividingFaces) {
  const AdjacencyLists lists = build_planar(6, 100, 1);

  EXPECT_EQ(edges_of(with_unit_weights(lists)), "0-1 0-2 0-3 0-5 1-2 1-3 1-4 2-3 2-4 2-5 3-4 3-5");
  EXPECT_EQ(list_of(lists, 2), (List{5, 4, 3, 1, 0}));
}

TEST(RudyBuilders, UnionOfThinnedPlanarGraphsKeepsTheListOrder) {
  const AdjacencyLists first = build_planar(7, 80, 1);
  const AdjacencyLists second = build_planar(7, 80, 2);
  const AdjacencyLists both = build_union(first, second);

  EXPECT_EQ(edges_of(with_unit_weights(first)), "0-1 0-2 0-3 0-5 1-2 1-4 1-6 2-3 2-4 2-5 3-4 3-5");
  EXPECT_EQ(edges_of(with_unit_weights(second)), "0-1 0-4 0-5 1-3 2-3 2-4 2-5 2-6 3-4 3-6 4-5 4-6");
  EXPECT_EQ(edges_of(with_unit_weights(both)),
            "0-1 0-2 0-3 0-4 0-5 1-2 1-3 1-4 1-6 2-3 2-4 2-5 2-6 3-4 3-5 3-6 4-5 4-6");
  EXPECT_EQ(list_of(both, 0), (List{4, 1, 2, 3, 5}));
  EXPECT_EQ(list_of(both, 1), (List{3, 2, 6, 4, 0}));
  EXPECT_EQ(negative_edges(with_signs(both, 1)), "0-2 0-3 1-2 1-3 1-4 2-5 2-6 3-5");
}

TEST(RandomGraph, RoundsItsEdgeCountHalfUp) {
  EXPECT_EQ(problems::detail::random_edge_count(5000, 0.1), 12498);  // 12497.5
  EXPECT_EQ(problems::detail::random_edge_count(7000, 0.07), 17148);
  EXPECT_EQ(problems::detail::random_edge_count(10000, 0.02), 9999);
}

TEST(RandomGraph, IsTheUnsignedGraphOfTheGset) {
  EXPECT_EQ(problems::random_graph(800, 6, 8001), gset("G1"));
}

TEST(RandomGraph, ReachesBothEndsOfTheDensity) {
  EXPECT_EQ(problems::random_graph(1, 100, 3), (Graph{1, {}}));
  EXPECT_TRUE(problems::random_graph(50, 0, 3).edges.empty());
  EXPECT_EQ(problems::random_graph(50, 100, 3).edges.size(), 1225U);
}

TEST(RandomGraph, RefusesSizesThatCannotBe) {
  using problems::random_graph;
  EXPECT_EQ(test::complaint([] { random_graph(0, 50, 1); }),
            "problem.size: a random graph cannot have 0 vertices");
  EXPECT_EQ(test::complaint([] { random_graph(10, -1, 1); }),
            "problem.value: the density of -1 per cent is outside 0 .. 100");
  EXPECT_EQ(test::complaint([] { random_graph(10, 100.5, 1); }),
            "problem.value: the density of 100.5 per cent is outside 0 .. 100");
  EXPECT_EQ(test::complaint([] { random_graph(10, std::stod("nan"), 1); }),
            "problem.value: the density of nan per cent is outside 0 .. 100");
  EXPECT_EQ(test::complaint([] { random_graph(100000, 100, 1); }),
            "problem.size: the graph would have 4999950000 edges; expected at most 67108864");
}

TEST(TorusPm1, IsTheSignedTorusOfTheGset) {
  EXPECT_EQ(problems::torus_pm1(100, 8, 8001), gset("G11"));
  EXPECT_NE(problems::torus_pm1(8, 100, 8001), gset("G11"));
}

TEST(TorusPm1, RefusesSidesThatCannotBe) {
  using problems::torus_pm1;
  EXPECT_EQ(test::complaint([] { torus_pm1(2, 8, 1); }),
            "problem.size: in a torus of 2 by 8 vertices, a vertex has fewer than four different "
            "neighbours");
  EXPECT_EQ(test::complaint([] { torus_pm1(8, -3, 1); }),
            "problem.size: in a torus of 8 by -3 vertices, a vertex has fewer than four different "
            "neighbours");
  EXPECT_EQ(
      test::complaint([] { torus_pm1(2147483647, 2147483647, 1); }),
      "problem.size: the graph would have 9223372028264841218 edges; expected at most 67108864");
}

}  // namespace
}  // namespace kiln::gset_test
