// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/large_vector.hpp"
#include "kiln/problems/generators.hpp"

#include "generators/generator_limits.hpp"
#include "generators/graph_base_random.hpp"
#include "generators/rudy_builders.hpp"

namespace kiln::problems {

Graph complete_pm1(std::int32_t n, std::int64_t seed) {
  detail::check_complete("a complete graph", n);
  detail::GraphBaseRandom random(seed);
  Graph graph{n, {}};
  const auto n_vertices = static_cast<std::size_t>(n);
  const std::size_t n_edges = n_vertices * (n_vertices - 1) / 2;
  reserve_large(graph.edges, n_edges);
  graph.edges.resize(n_edges);
  auto row = graph.edges.begin();  // the edges from u to higher vertices
  for (std::int32_t u = 0; u < n; ++u) {
    for (std::int32_t v = n - 1; v > u; --v) row[v - u - 1] = {u, v, random.sign()};
    row += n - 1 - u;
  }
  return graph;
}

Graph k2000() { return complete_pm1(2000, 20001); }

Ising sherrington_kirkpatrick(std::int32_t n, std::int64_t seed) {
  detail::check_complete("a Sherrington-Kirkpatrick model", n);
  return {n, std::vector<double>(static_cast<std::size_t>(n)), complete_pm1(n, seed).edges, 0.0};
}

Ising edwards_anderson(std::int32_t a, std::int32_t b, std::int64_t seed) {
  detail::check_torus(a, b);
  Graph graph = detail::with_normal_weights(detail::build_torus(a, b), seed);
  return {graph.n_vertices, std::vector<double>(static_cast<std::size_t>(graph.n_vertices)),
          std::move(graph.edges), 0.0};
}

}  // namespace kiln::problems
