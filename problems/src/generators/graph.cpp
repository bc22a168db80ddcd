// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/graph.hpp"

#include <cmath>
#include <utility>

#include "kiln/errors.hpp"

#include "canonical.hpp"

namespace kiln::problems {

namespace {

void check_edges(const Graph& graph) {
  if (graph.n_vertices < 0) {
    throw InvalidArgument("problem.size",
                          "a graph cannot have " + std::to_string(graph.n_vertices) + " vertices");
  }
  for (std::size_t k = 0; k < graph.edges.size(); ++k) {
    const Edge& edge = graph.edges[k];
    const auto refuse = [&](const char* code, const std::string& what) {
      throw InvalidArgument(code, "edge " + std::to_string(k) + " (" + std::to_string(edge.u) +
                                      ", " + std::to_string(edge.v) + ") " + what);
    };
    if (edge.u < 0 || edge.u >= graph.n_vertices || edge.v < 0 || edge.v >= graph.n_vertices) {
      refuse("problem.range", "names a vertex that does not exist; the number of vertices is " +
                                  std::to_string(graph.n_vertices));
    }
    if (edge.u == edge.v) refuse("problem.self_loop", "joins a vertex to itself");
    if (!std::isfinite(edge.weight)) refuse("problem.value", "has a weight that is not finite");
  }
}

template <class Sink>
void emit_canonical(const Graph& graph, Sink sink) {
  detail::require_canonical(graph);
  detail::LineWriter writer(sink);
  detail::write_pairs(writer, graph.edges);
  writer.flush();
}

}  // namespace

void detail::require_canonical(const Graph& graph) {
  if (are_canonical_pairs(graph.edges, graph.n_vertices, true)) return;
  std::pair<std::int32_t, std::int32_t> last{-1, -1};
  for (const Edge& edge : graph.edges) {
    const bool in_order = last < key(edge) && edge.u < edge.v;
    const bool exists = edge.u >= 0 && edge.v < graph.n_vertices;
    // A negative zero would give the same graph a second text.
    const bool plain =
        std::isfinite(edge.weight) && (edge.weight != 0 || !std::signbit(edge.weight));
    if (!in_order || !exists || !plain) {
      throw InvalidArgument("problem.not_canonical",
                            "the graph is not in canonical form at edge (" +
                                std::to_string(edge.u) + ", " + std::to_string(edge.v) + ")",
                            {}, "call canonicalize() first");
    }
    last = key(edge);
  }
}

std::int64_t canonicalize(Graph& graph) {
  const bool is_canonical =
      graph.n_vertices >= 0 && detail::are_canonical_pairs(graph.edges, graph.n_vertices, true);
  if (is_canonical) return 0;
  check_edges(graph);
  for (Edge& edge : graph.edges) {
    if (edge.u > edge.v) std::swap(edge.u, edge.v);
    edge.weight += 0.0;  // turns -0 into 0 and leaves all else alone
  }
  return detail::sort_and_merge(graph.edges);
}

std::string canonical_text(const Graph& graph) {
  return detail::text_of([&](auto sink) { emit_canonical(graph, sink); });
}

std::string fingerprint(const Graph& graph) {
  return detail::fingerprint_of([&](auto sink) { emit_canonical(graph, sink); });
}

}  // namespace kiln::problems
