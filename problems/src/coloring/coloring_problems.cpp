// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/problems/potts.hpp"

#include "coloring/coloring_bounds.hpp"
#include "coloring/coloring_objective.hpp"
#include "potts/potts_objective.hpp"

namespace kiln {
namespace {

using Colors = std::span<const std::int32_t>;

Colors colors_of(StateSpan state) { return std::get<Colors>(state.front()); }

std::string one_per_line(Colors colors) {
  std::string text;
  for (const std::int32_t color : colors) text += std::to_string(color) + "\n";
  return text;
}

double conflicts_in(const Graph& graph, Colors colors) {
  const auto conflicts = std::ranges::count_if(graph.edges, [&](const Edge& e) {
    return colors[static_cast<std::size_t>(e.u)] == colors[static_cast<std::size_t>(e.v)];
  });
  return static_cast<double>(conflicts);
}

std::int32_t colors_in(Colors colors) { return 1 + *std::ranges::max_element(colors); }

[[noreturn]] void refuse(const Coloring& coloring, const std::string& name) {
  const std::string complaint = coloring.colors == 0
                                    ? "the number of colours is missing"
                                    : "a colouring cannot have " + std::to_string(coloring.colors) +
                                          (coloring.colors == 1 ? " colour" : " colours");
  std::string fix = "--colors min minimises the number of colours";
  if (coloring.graph.n_vertices > 0) {
    ColoringModel model;
    problems::take_graph(coloring.graph, model);
    const std::int32_t greedy = colors_in(problems::greedy_coloring(model).colors);
    fix += "; the number of colours of a greedy colouring is " + std::to_string(greedy) +
           ": --colors " + std::to_string(std::max(2, greedy));
  }
  throw InvalidArgument("problem.colors", name + ": " + complaint,
                        "2 .. " + std::to_string(Coloring::max_colors) + " colours, or min", fix);
}

struct Sizes {
  std::int32_t vertices;
  std::size_t edges;
};

// What is the same for a given and for the fewest number of colours.
Problem problem_of(std::shared_ptr<const Objective> objective, const Sizes& sizes,
                   const std::string& name) {
  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "coloring";
  problem.units.integral = true;
  problem.start.schedule = "tabu-coloring";
  problem.identity.sizes = {{"n", std::to_string(sizes.vertices)},
                            {"m", std::to_string(sizes.edges)}};
  problem.solution.format = [](StateSpan state) { return one_per_line(colors_of(state)); };
  problem.objective = std::move(objective);
  return problem;
}

Problem make_fewest(Graph graph, const std::string& name) {
  ColoringModel model;
  problems::take_graph(graph, model);
  model.fewest = true;
  model.first = problems::greedy_coloring(model).colors;
  model.lower_bound = problems::greedy_clique(model);
  const std::int32_t greedy = colors_in(model.first);
  const std::int32_t clique = model.lower_bound;
  if (greedy > Coloring::max_colors) {
    throw InvalidArgument("problem.colors",
                          name + ": a greedy colouring uses " + std::to_string(greedy) + " colours",
                          "at most " + std::to_string(Coloring::max_colors));
  }
  model.values = std::max(2, greedy);
  std::vector<State> known{State{model.first}};
  const Sizes sizes{model.vertices, graph.edges.size()};
  Problem problem =
      problem_of(problems::make_coloring_objective(name, std::move(model)), sizes, name);
  problem.units.value_name = "colours";
  problem.known.bound = clique;  // its vertices need a colour each
  problem.start.states = std::move(known);
  problem.identity.sizes.insert(problem.identity.sizes.end(), {{"greedy", std::to_string(greedy)},
                                                               {"clique", std::to_string(clique)}});
  const auto raw = std::make_shared<const Graph>(std::move(graph));
  problem.solution.verify = [raw](StateSpan state) {
    const Colors colors = colors_of(state);
    const double conflicts = conflicts_in(*raw, colors);
    return conflicts == 0 ? colors_in(colors) : raw->n_vertices + conflicts;
  };
  return problem;
}

ColoringModel model_of(const Graph& graph, std::int32_t colors) {
  ColoringModel model;
  problems::take_graph(graph, model);
  model.values = colors;
  model.first = problems::fold_coloring(model, problems::greedy_coloring(model).colors, colors);
  return model;
}

// Of few colours it is a Potts model, whose sweeps know bytes.
std::shared_ptr<const Objective> objective_of(const std::shared_ptr<const Graph>& graph,
                                              std::int32_t colors, const std::string& name) {
  if (colors > Potts::max_values) {
    return problems::make_coloring_objective(name, model_of(*graph, colors));
  }
  Potts potts{graph->n_vertices, colors, {}, graph->edges};
  for (Edge& edge : potts.couplings) edge.weight = 1;
  return problems::make_coloring_objective(name, std::move(potts),
                                           [=] { return model_of(*graph, colors); });
}

// A tick of a tabu search makes a move for each vertex, and a move looks at the pairs of
// conflicting vertices and colours: far from a proper colouring of a large graph it would take
// minutes.
bool too_large_for_tabu(std::int64_t vertices, std::int64_t colors) {
  constexpr double max_pairs = 0x1p36;
  return static_cast<double>(vertices) * static_cast<double>(vertices * colors) > max_pairs;
}

Problem make_with_colors(Graph graph, std::int32_t colors, const std::string& name) {
  const auto raw = std::make_shared<const Graph>(std::move(graph));
  const Sizes sizes{raw->n_vertices, raw->edges.size()};
  Problem problem = problem_of(objective_of(raw, colors, name), sizes, name);
  if (too_large_for_tabu(sizes.vertices, colors)) problem.start.schedule = {};
  problem.units.stored_integers = true;
  problem.units.value_name = "conflicts";
  problem.known.bound = 0;  // a proper colouring is as good as any
  problem.identity.sizes.emplace_back("colors", std::to_string(colors));
  problem.solution.verify = [raw](StateSpan state) { return conflicts_in(*raw, colors_of(state)); };
  return problem;
}

}  // namespace

Problem make_coloring(Coloring coloring, std::string name) {
  const bool fewest = coloring.colors == Coloring::fewest;
  problems::canonicalize(coloring.graph);  // an edge that is listed twice is one edge
  if (!fewest && (coloring.colors < 2 || coloring.colors > Coloring::max_colors)) {
    refuse(coloring, name);
  }
  if (coloring.graph.n_vertices < 1) {
    throw InvalidArgument("problem.size", name + ": a problem needs at least one variable");
  }
  if (fewest) return make_fewest(std::move(coloring.graph), name);
  return make_with_colors(std::move(coloring.graph), coloring.colors, name);
}

}  // namespace kiln
