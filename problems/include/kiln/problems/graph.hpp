// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

class ModelKind;  // kiln/problems/model.hpp

/// One weighted edge between the 0-based vertices u and v.
struct Edge {
  std::int32_t u = 0;
  std::int32_t v = 0;
  double weight = 1.0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Undirected weighted graph on the vertices 0 .. n_vertices-1.
///
/// Canonical form, made by problems::canonicalize() and by every reader and generator: u < v in
/// each edge, edges sorted by (u, v), each pair once, no negative zero. Edges of weight 0 are
/// edges.
struct Graph {
  std::int32_t n_vertices = 0;
  std::vector<Edge> edges;
  friend bool operator==(const Graph&, const Graph&) = default;
  /// As a Model it denotes Max-Cut.
  KILN_API static const ModelKind& model_kind();
};

namespace problems {

/// Brings a graph into canonical form: turns and sorts the edges and adds up those that repeat a
/// pair, in their order.
///
/// @return how many edges were merged into another one.
/// @throws InvalidArgument `problem.size` if n_vertices is negative, `problem.range` if a vertex
///   does not exist, `problem.self_loop` if u equals v, `problem.value` if a weight, or the sum of
///   repeated weights, is not finite. Edges may have changed places then, nothing else.
/// @par Cost  O(m log m) for m edges; O(m) if they are in order already.
KILN_API std::int64_t canonicalize(Graph& graph);

/// One line `u v weight` per edge, single blanks, each line ended by a line feed, no header.
/// Whole weights below 2^53 appear as integers, all others with the fewest digits that read back as
/// the same double.
///
/// @throws InvalidArgument `problem.not_canonical` if the graph is not in canonical form.
KILN_API std::string canonical_text(const Graph& graph);

/// The first 16 hexadecimal digits of the SHA-256 of canonical_text(), which identify an instance
/// from any source. The text is hashed in pieces and never stored. Vertices without an edge do not
/// count: the form is that of the published checksums, which have no header.
///
/// @throws InvalidArgument `problem.not_canonical` if the graph is not in canonical form.
KILN_API std::string fingerprint(const Graph& graph);

}  // namespace problems
}  // namespace kiln
