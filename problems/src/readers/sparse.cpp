// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sparse.hpp"

#include "kiln/errors.hpp"

#include "canonical.hpp"

namespace kiln::problems::detail {

void check_promise(TextReader& text, std::int64_t n, std::string_view variables,
                   std::int64_t n_lines, std::string_view lines) {
  const std::int64_t n_allowed = max_variables(n_lines);
  if (n <= n_allowed) return;
  const std::string names(variables), terms(lines);
  text.complain(
      0,
      "the header gives " + std::to_string(n) + " " + names + ", but the file has only " +
          std::to_string(n_lines) + " " + terms,
      "at most " + std::to_string(n_allowed) + " " + names + " for this number of " + terms);
}

void require_readable(const Graph& graph) {
  const std::int64_t n_allowed = max_variables(std::ssize(graph.edges));
  if (graph.n_vertices <= n_allowed) return;
  throw InvalidArgument(
      "problem.size",
      "the graph has " + std::to_string(graph.n_vertices) + " vertices and only " +
          std::to_string(graph.edges.size()) +
          " edges; Kiln would refuse to read a file of this graph",
      "at most " + std::to_string(n_allowed) + " vertices for this number of edges",
      "leave out vertices without edges");
}

std::int64_t move_diagonal(Qubo& qubo) {
  LinearSums linear(static_cast<std::size_t>(qubo.n));
  std::vector<bool> seen(static_cast<std::size_t>(qubo.n));
  std::int64_t n_repeated = 0;
  std::erase_if(qubo.quadratic, [&](const QuboTerm& term) {
    if (term.i != term.j) return false;
    const auto i = static_cast<std::size_t>(term.i);
    linear.add(i, term.value);
    n_repeated += seen[i] ? 1 : 0;
    seen[i] = true;
    return true;
  });
  qubo.linear = linear.values();
  return n_repeated;
}

std::string one_line(std::string comment) {
  std::ranges::replace_if(
      comment, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return comment;
}

}  // namespace kiln::problems::detail
