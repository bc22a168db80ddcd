// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/vector_functions/cut_pair.hpp"

#include <cmath>
#include <memory>
#include <span>

#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "canonical.hpp"
#include "checks.hpp"

namespace kiln::problems {
namespace {

using detail::require_size;
using detail::require_value;

using Spins = std::span<const std::int8_t>;

struct Pair {
  Graph first, second;
};

void check(Graph& graph, const std::string& name) {
  canonicalize(graph);
  double size = 0;
  for (const Edge& e : graph.edges) size += std::abs(e.weight);
  require_value(std::isfinite(size), name, "the sum of the weights overflows a double");
}

double cut_of(const Graph& graph, Spins spins) {
  double cut = 0;
  for (const Edge& e : graph.edges) {
    const bool across =
        spins[static_cast<std::size_t>(e.u)] != spins[static_cast<std::size_t>(e.v)];
    cut += across ? e.weight : 0.0;
  }
  return cut;
}

/// The edges of both graphs in order, those of both once.
struct EdgeLists {
  std::vector<std::int32_t> from, to;
  std::vector<double> first, second;
};

EdgeLists united(const Pair& pair) {
  EdgeLists lists;
  const auto add = [&](const Edge& edge, double first, double second) {
    lists.from.push_back(edge.u);
    lists.to.push_back(edge.v);
    lists.first.push_back(first);
    lists.second.push_back(second);
  };
  const auto before = [](const Edge& a, const Edge& b) {
    return a.u != b.u ? a.u < b.u : a.v < b.v;
  };
  auto a = pair.first.edges.begin();
  auto b = pair.second.edges.begin();
  const auto a_end = pair.first.edges.end();
  const auto b_end = pair.second.edges.end();
  while (a != a_end || b != b_end) {
    if (b == b_end || (a != a_end && before(*a, *b))) {
      add(*a, a->weight, 0);
      ++a;
    } else if (a == a_end || before(*b, *a)) {
      add(*b, 0, b->weight);
      ++b;
    } else {
      add(*a, a->weight, b->weight);
      ++a, ++b;
    }
  }
  return lists;
}

std::shared_ptr<const VectorFunctionSource> source_of(EdgeLists lists) {
  CutPair function;
  function.edges = static_cast<std::int32_t>(lists.from.size());
  auto source = std::make_shared<CatalogVectorFunctionSource<CutPair>>(function);
  source->array(&CutPair::from, std::move(lists.from))
      .array(&CutPair::to, std::move(lists.to))
      .array(&CutPair::first, std::move(lists.first))
      .array(&CutPair::second, std::move(lists.second));
  return source;
}

Objectives objectives_of(const std::shared_ptr<const Pair>& pair) {
  Objectives objectives;
  objectives.names = {"cut 1", "cut 2"};
  objectives.maximized = {true, true};
  objectives.evaluate = [pair](StateSpan state) {
    const Spins spins = std::get<Spins>(state.front());
    return ObjectiveVector{{0.0 - cut_of(pair->first, spins), 0.0 - cut_of(pair->second, spins)},
                           0};
  };
  return objectives;
}

std::string format_spins(StateSpan state) {
  std::string text;
  for (const std::int8_t spin : std::get<Spins>(state.front())) text += spin > 0 ? "1\n" : "-1\n";
  return text;
}

// Turning all spins over changes neither cut.
void put_first_spin_up(State& state) {
  auto& spins = std::get<std::vector<std::int8_t>>(state.front());
  if (spins.empty() || spins.front() > 0) return;
  for (std::int8_t& spin : spins) spin = static_cast<std::int8_t>(-spin);
}

}  // namespace

Problem cut_pair(Graph first, Graph second, std::string name) {
  require_size(first.n_vertices >= 1, name, "a problem needs at least one variable");
  require_size(first.n_vertices == second.n_vertices, name,
               "the first graph has " + std::to_string(first.n_vertices) +
                   " vertices, and the second graph has " + std::to_string(second.n_vertices),
               "two graphs with the same number of vertices");
  check(first, name);
  check(second, name);
  const auto pair = std::make_shared<const Pair>(Pair{std::move(first), std::move(second)});
  EdgeLists lists = united(*pair);
  const std::size_t n_edges = lists.from.size();
  require_size(n_edges <= static_cast<std::size_t>(max_generated_edges), name,
               "there are " + std::to_string(n_edges) + " edges",
               "at most " + std::to_string(max_generated_edges));
  const std::int32_t n = pair->first.n_vertices;
  auto objective = make_vector_objective(name, Space::spins(n), source_of(std::move(lists)));
  Problem problem = make_multi_objective_problem(std::move(name), "cutpair", std::move(objective),
                                                 objectives_of(pair));
  problem.identity.sizes.insert(problem.identity.sizes.begin() + 1,
                                {"m", std::to_string(n_edges)});  // behind n
  problem.solution.format = format_spins;
  problem.solution.canonical = put_first_spin_up;
  return problem;
}

Problem cut_pair(std::int32_t n, double density_percent, std::int64_t seed) {
  std::string name = "cutpair:" + std::to_string(n) + ",";
  detail::append_number(name, density_percent);
  name += "," + std::to_string(seed);
  Graph first = random_graph(n, density_percent, seed);
  Graph second = first;
  const auto key = static_cast<std::uint64_t>(seed);
  for (std::size_t e = 0; e < first.edges.size(); ++e) {
    const auto index = static_cast<std::int64_t>(e);
    first.edges[e].weight = detail::draw_whole(key, 0, index, -100, 100);
    second.edges[e].weight = detail::draw_whole(key, 1, index, -100, 100);
  }
  return cut_pair(std::move(first), std::move(second), name);
}

}  // namespace kiln::problems
