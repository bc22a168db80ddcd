// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/rudy_builders.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "kiln/device/normal.hpp"
#include "kiln/large_vector.hpp"

#include "generators/graph_base_random.hpp"

namespace kiln::problems::detail {

AdjacencyLists::AdjacencyLists(std::int32_t n_vertices, std::int64_t n_edges)
    : first_(static_cast<std::size_t>(n_vertices), none) {
  arcs_.reserve(2 * static_cast<std::size_t>(n_edges));
}

void AdjacencyLists::push_front(std::int32_t from, std::int32_t to) {
  std::int32_t& first = first_[static_cast<std::size_t>(from)];
  arcs_.push_back({to, first});
  first = static_cast<std::int32_t>(arcs_.size() - 1);
}

void AdjacencyLists::insert(std::int32_t u, std::int32_t v) {
  push_front(u, v);
  push_front(v, u);
}

std::int64_t random_edge_count(std::int32_t n, double density_percent) {
  // Left to right, as written: G55 lives from 12497.5 being hit exactly.
  const double exact =
      static_cast<double>(n) * (static_cast<double>(n) - 1.0) * density_percent / 200.0;
  const double whole = std::floor(exact);
  return static_cast<std::int64_t>(whole) + (exact - whole >= 0.5 ? 1 : 0);
}

AdjacencyLists build_random(std::int32_t n, double density_percent, std::int64_t seed) {
  const auto n_edges = static_cast<std::size_t>(random_edge_count(n, density_percent));
  GraphBaseRandom random(seed);
  AdjacencyLists lists(n);
  std::unordered_set<std::uint64_t> taken;  // an n by n table would need 100 MB for G70
  taken.reserve(n_edges);
  while (taken.size() < n_edges) {
    const std::int32_t u = random.uniform(n);
    const std::int32_t v = random.uniform(n);
    if (u == v) continue;
    const auto [low, high] = std::minmax(u, v);
    const std::uint64_t pair =
        static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
    if (taken.insert(pair).second) lists.insert(u, v);
  }
  return lists;
}

AdjacencyLists build_torus(std::int32_t a, std::int32_t b) {
  AdjacencyLists lists(a * b, std::int64_t{2} * a * b);
  for (std::int32_t x = 0; x < a; ++x) {
    for (std::int32_t y = 0; y < b; ++y) lists.insert(x * b + y, x * b + (y + 1) % b);
  }
  for (std::int32_t x = 0; x < a; ++x) {
    for (std::int32_t y = 0; y < b; ++y) lists.insert(x * b + y, (x + 1) % a * b + y);
  }
  return lists;
}

AdjacencyLists build_planar(std::int32_t n, double density_percent, std::int64_t seed) {
  GraphBaseRandom random(seed);
  std::vector<std::array<std::int32_t, 3>> faces{{0, 1, 2}};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges{{0, 1}, {0, 2}, {1, 2}};
  for (std::int32_t v = 3; v < n; ++v) {
    // The outer face is not in the list and is never divided; with one face a number is still
    // drawn.
    const std::int32_t drawn = random.uniform(static_cast<std::int32_t>(faces.size()));
    const auto face = static_cast<std::size_t>(drawn);
    const auto [a, b, c] = faces[face];
    edges.insert(edges.end(), {{a, v}, {b, v}, {c, v}});
    faces[face] = {a, b, v};
    faces.push_back({a, c, v});
    faces.push_back({b, c, v});
  }

  const double limit = density_percent * (3.0 * (static_cast<double>(n) - 2.0)) / 100.0;
  while (static_cast<double>(edges.size()) > limit) {
    const std::int32_t drawn = random.uniform(static_cast<std::int32_t>(edges.size()));
    edges[static_cast<std::size_t>(drawn)] = edges.back();
    edges.pop_back();
  }

  AdjacencyLists lists(n);
  for (const auto& [u, v] : edges) lists.insert(u, v);
  return lists;
}

AdjacencyLists build_union(const AdjacencyLists& g, const AdjacencyLists& h) {
  AdjacencyLists joined(g.n_vertices());
  // Edges from v upwards enter only in step v, so one mark per vertex tells whether (v, u) is
  // there.
  std::vector<std::int32_t> reached_from(static_cast<std::size_t>(g.n_vertices()), -1);
  for (std::int32_t v = 0; v < g.n_vertices(); ++v) {
    const auto take = [&](std::int32_t u) {
      std::int32_t& mark = reached_from[static_cast<std::size_t>(u)];
      if (u <= v || mark == v) return;
      mark = v;
      joined.insert(v, u);
    };
    g.for_each_neighbor(v, take);
    h.for_each_neighbor(v, take);
  }
  return joined;
}

namespace {

template <class NextWeight>
Graph weighted(const AdjacencyLists& lists, NextWeight next_weight) {
  Graph graph{lists.n_vertices(), {}};
  reserve_large(graph.edges, lists.n_edges());
  for (std::int32_t u = 0; u < lists.n_vertices(); ++u) {
    lists.for_each_neighbor(u, [&](std::int32_t v) {
      if (u < v) graph.edges.push_back({u, v, next_weight()});
    });
  }
  canonicalize(graph);
  return graph;
}

}  // namespace

Graph with_unit_weights(const AdjacencyLists& lists) {
  return weighted(lists, [] { return 1.0; });
}

Graph with_signs(const AdjacencyLists& lists, std::int64_t seed) {
  GraphBaseRandom random(seed);
  return weighted(lists, [&] { return random.sign(); });
}

// The list of a vertex has its neighbours in the next and the last row, then those in its row. In
// both pairs the later insertion is in front: that of the neighbour behind, except at the
// beginning of a side, where the last vertex of the side was inserted later.
Graph torus_with_signs(std::int32_t a, std::int32_t b, std::int64_t seed) {
  GraphBaseRandom random(seed);
  Graph graph{a * b, {}};
  reserve_large(graph.edges, 2 * static_cast<std::size_t>(graph.n_vertices));
  for (std::int32_t u = 0, x = 0; x < a; ++x) {
    for (std::int32_t y = 0; y < b; ++y, ++u) {
      // Drawn in the order of the list, written in the order of the vertices.
      const double around = x == 0 ? random.sign() : 0;
      const double below = x + 1 < a ? random.sign() : 0;
      const double back = y == 0 ? random.sign() : 0;
      const double right = y + 1 < b ? random.sign() : 0;
      if (y + 1 < b) graph.edges.push_back({u, u + 1, right});
      if (y == 0) graph.edges.push_back({u, u + b - 1, back});
      if (x + 1 < a) graph.edges.push_back({u, u + b, below});
      if (x == 0) graph.edges.push_back({u, u + (a - 1) * b, around});
    }
  }
  return graph;
}

Graph with_normal_weights(const AdjacencyLists& lists, std::int64_t seed) {
  GraphBaseRandom random(seed);
  return weighted(lists, [&] { return normal_quantile((random.next() + 0.5) * 0x1p-31); });
}

}  // namespace kiln::problems::detail
