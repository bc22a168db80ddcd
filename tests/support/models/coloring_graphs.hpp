// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kiln/objectives/coloring.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln::test {

/// Each pair of vertices is an edge with probability share / 2^32; a generator of its own.
inline Graph random_edges(std::int32_t n, std::uint32_t share, std::uint64_t seed) {
  Graph graph{n, {}};
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::int32_t u = 0; u < n; ++u) {
    for (std::int32_t v = u + 1; v < n; ++v) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      if (static_cast<std::uint32_t>(x >> 32) < share) graph.edges.push_back({u, v, 1.0});
    }
  }
  return graph;
}

inline Graph complete_graph(std::int32_t n) { return random_edges(n, 0xFFFFFFFFu, 1); }

inline Graph cycle(std::int32_t n) {
  Graph graph{n, {}};
  for (std::int32_t v = 0; v + 1 < n; ++v) graph.edges.push_back({v, v + 1, 1.0});
  graph.edges.push_back({0, n - 1, 1.0});
  return graph;
}

/// Edges between equal colours, counted from the list of edges.
inline std::int64_t count_conflicts(const Graph& graph, const std::vector<std::int32_t>& colors) {
  return std::ranges::count_if(graph.edges, [&](const Edge& e) {
    return colors[static_cast<std::size_t>(e.u)] == colors[static_cast<std::size_t>(e.v)];
  });
}

/// Different colours of a list.
inline std::int64_t count_colors(std::vector<std::int32_t> colors) {
  std::ranges::sort(colors);
  return std::distance(colors.begin(), std::unique(colors.begin(), colors.end()));
}

/// Whether the vertices from `v` on can be coloured with `k` colours, by trying all.
inline bool can_color(const std::vector<std::vector<bool>>& joined,
                      std::vector<std::int32_t>& colors, std::size_t v, std::int32_t k) {
  if (v == joined.size()) return true;
  std::int32_t used = 0;
  for (std::size_t u = 0; u < v; ++u) used = std::max(used, colors[u] + 1);
  for (std::int32_t c = 0; c < std::min(k, used + 1); ++c) {
    bool is_free = true;
    for (std::size_t u = 0; u < v; ++u) is_free = is_free && !(joined[u][v] && colors[u] == c);
    if (!is_free) continue;
    colors[v] = c;
    if (can_color(joined, colors, v + 1, k)) return true;
  }
  return false;
}

/// By trying all colourings.
inline std::int32_t chromatic_number(const Graph& graph) {
  const auto n = static_cast<std::size_t>(graph.n_vertices);
  std::vector<std::vector<bool>> joined(n, std::vector<bool>(n, false));
  for (const Edge& e : graph.edges) {
    joined[static_cast<std::size_t>(e.u)][static_cast<std::size_t>(e.v)] = true;
    joined[static_cast<std::size_t>(e.v)][static_cast<std::size_t>(e.u)] = true;
  }
  std::vector<std::int32_t> colors(n, 0);
  for (std::int32_t k = 1;; ++k) {
    if (can_color(joined, colors, 0, k)) return k;
  }
}

}  // namespace kiln::test
