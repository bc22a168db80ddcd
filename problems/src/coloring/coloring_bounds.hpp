// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/objectives/coloring.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln::problems {

/// Fills in vertices and rows of a graph in canonical form.
KILN_TEST_API void take_graph(const Graph& graph, ColoringModel& model);

/// A proper colouring, and what it took.
struct GreedyColoring {
  std::vector<std::int32_t> colors;  ///< [vertices]
  std::int64_t steps = 0;            ///< looks at vertices, neighbours and the queue of vertices
};

/// A second or two of a large sparse graph: a million vertices and five million edges are coloured
/// by the whole rule.
inline constexpr std::int64_t max_greedy_steps = 20'000'000;

/// The vertex with the most different colours beside it comes next (ties: more neighbours, then the
/// smaller number) and gets the least colour that is free. After `max_steps` the vertices that are
/// left come in the order of their neighbours, the most first, which takes n + 2 m steps at most.
/// The same graph gets the same colours everywhere.
/// @par Source  Brelaz, Comm. ACM 22 (1979) 251: DSATUR; Welsh, Powell, Comp. J. 10 (1967) 85.
KILN_TEST_API GreedyColoring greedy_coloring(const ColoringModel& model,
                                             std::int64_t max_steps = max_greedy_steps);

/// Vertices of a clique: from each vertex in turn, most neighbours first, the neighbour of most
/// neighbours that is joined to all before is added. Ends after so many steps as take about a
/// second; at least one vertex is tried.
KILN_TEST_API std::int32_t greedy_clique(const ColoringModel& model);

/// A state of `values` colours near a proper colouring: vertices of the classes that are too many
/// get the colour that fewest of their neighbours have.
KILN_TEST_API std::vector<std::int32_t> fold_coloring(const ColoringModel& model,
                                                      std::vector<std::int32_t> coloring,
                                                      std::int32_t values);

}  // namespace kiln::problems
