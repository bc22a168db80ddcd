// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"

// The building steps of the generator rudy (G. Rinaldi), from which the G-set is composed. Each
// step opens its own random stream. Sizes are checked by the public functions, not here. Exported
// for the unit tests only; the header is not installed.
namespace kiln::problems::detail {

/// Linked neighbour lists whose newest entry comes first. That order decides which edge gets which
/// sign and how a union is put together, so it belongs to the instance.
class KILN_API AdjacencyLists {
 public:
  /// @param n_edges  number of edges to reserve memory for
  explicit AdjacencyLists(std::int32_t n_vertices, std::int64_t n_edges = 0);

  /// Puts v at the front of u's list and u at the front of v's; the edge must be new.
  void insert(std::int32_t u, std::int32_t v);

  std::int32_t n_vertices() const noexcept { return static_cast<std::int32_t>(first_.size()); }

  std::size_t n_edges() const noexcept { return arcs_.size() / 2; }

  /// Calls visit(neighbour) for the list of v from its front.
  template <class Visit>
  void for_each_neighbor(std::int32_t v, Visit visit) const {
    for (std::int32_t arc = first_[static_cast<std::size_t>(v)]; arc != none;) {
      const Arc& here = arcs_[static_cast<std::size_t>(arc)];
      visit(here.to);
      arc = here.next;
    }
  }

 private:
  static constexpr std::int32_t none = -1;
  struct Arc {
    std::int32_t to;
    std::int32_t next;
  };

  void push_front(std::int32_t from, std::int32_t to);

  std::vector<std::int32_t> first_;  // [n_vertices], index into arcs_
  std::vector<Arc> arcs_;
};

/// The edge count of a random graph, from a product in double precision as rudy evaluates it.
KILN_API std::int64_t random_edge_count(std::int32_t n, double density_percent);

/// random_edge_count() different edges, drawn one after the other.
KILN_API AdjacencyLists build_random(std::int32_t n, double density_percent, std::int64_t seed);

/// a times b torus; all edges along the second side come before those along the first.
KILN_API AdjacencyLists build_torus(std::int32_t a, std::int32_t b);

/// Maximal planar graph on n >= 3 vertices, made by putting vertices into random faces of a
/// triangle and then thinned by random removals to density_percent of its 3 (n - 2) edges.
KILN_API AdjacencyLists build_planar(std::int32_t n, double density_percent, std::int64_t seed);

/// All edges of two graphs with the same number of vertices, common ones once.
KILN_API AdjacencyLists build_union(const AdjacencyLists& g, const AdjacencyLists& h);

/// Canonical graph with all weights 1.
KILN_API Graph with_unit_weights(const AdjacencyLists& lists);

/// Canonical graph with weights +1 and -1, drawn in the order of the lists.
KILN_API Graph with_signs(const AdjacencyLists& lists, std::int64_t seed);
/// Standard normal weights: the quantile at (r + 1/2) / 2^31 of the next output r.
KILN_API Graph with_normal_weights(const AdjacencyLists& lists, std::int64_t seed);

/// with_signs(build_torus(a, b), seed), made edge by edge: a large torus needs no lists.
/// @pre both sides are at least 3
KILN_API Graph torus_with_signs(std::int32_t a, std::int32_t b, std::int64_t seed);

}  // namespace kiln::problems::detail
