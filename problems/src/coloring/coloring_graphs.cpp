// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/problems/generators.hpp"

#include "generators/generator_limits.hpp"

namespace kiln::problems {

Graph queen_graph(std::int32_t side) {
  detail::check_queen(side);
  Graph graph{side * side, {}};
  const auto join = [&](std::int32_t u, std::int32_t row, std::int32_t column) {
    graph.edges.push_back({u, row * side + column, 1.0});
  };
  for (std::int32_t row = 0; row < side; ++row) {
    for (std::int32_t column = 0; column < side; ++column) {
      const std::int32_t u = row * side + column;
      for (std::int32_t next = column + 1; next < side; ++next) join(u, row, next);
      for (std::int32_t below = row + 1; below < side; ++below) {
        const std::int32_t step = below - row;
        if (column >= step) join(u, below, column - step);
        join(u, below, column);
        if (column + step < side) join(u, below, column + step);
      }
    }
  }
  return graph;
}

Graph mycielski_graph(std::int32_t order) {
  detail::check_mycielski(order);
  Graph graph{2, {{0, 1, 1.0}}};
  for (std::int32_t step = 1; step < order; ++step) {
    // Vertex v gets a twin n + v with the neighbours of v; the last vertex joins all twins.
    const std::int32_t n = graph.n_vertices;
    const std::size_t m = graph.edges.size();
    for (std::size_t k = 0; k < m; ++k) {
      const Edge edge = graph.edges[k];
      graph.edges.push_back({edge.u, n + edge.v, 1.0});
      graph.edges.push_back({edge.v, n + edge.u, 1.0});
    }
    for (std::int32_t v = 0; v < n; ++v) graph.edges.push_back({n + v, 2 * n, 1.0});
    graph.n_vertices = 2 * n + 1;
  }
  canonicalize(graph);
  return graph;
}

Potts potts_torus(std::int32_t a, std::int32_t b, std::int32_t q, std::int64_t seed) {
  detail::check_values(q, Potts::max_values);
  Graph torus = torus_pm1(a, b, seed);
  return {torus.n_vertices, q, {}, std::move(torus.edges)};
}

}  // namespace kiln::problems
