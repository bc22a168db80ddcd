// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Graphs to be coloured: files of the DIMACS collection, boards of queens, Mycielski graphs.
#include <string>
#include <utility>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"

#include "canonical.hpp"
#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/generator_limits.hpp"

namespace kiln {
namespace {

ModelOutline outline_of_coloring(const Coloring& coloring) {
  const Graph& graph = coloring.graph;
  return {{{"vertices", graph.n_vertices}, {"edges", std::ssize(graph.edges)}},
          graph.n_vertices,
          problems::detail::range_of(graph.edges, &Edge::weight)};
}

}  // namespace

const ModelKind& Coloring::model_kind() {
  static const ModelKind kind{
      KindOf<Coloring>{.name = "coloring",
                       .singular = "a graph colouring problem",
                       .plural = "colourings",
                       .value_name = "conflicts",
                       .sense = Sense::minimize,
                       .writers = {{Format::col, problems::write_col}},
                       .outline = outline_of_coloring,
                       .fingerprint = problems::fingerprint,
                       .make = [](Coloring coloring, Sense sense, std::string name) {
                         return make_pairwise(std::move(coloring), sense, std::move(name));
                       }}};
  return kind;
}

namespace problems::detail {
namespace {

FormatEntry col_format() {
  return {{Format::col,
           "col",
           {".col"},
           "Graph for colouring, in the DIMACS format; `--colors` gives the number of colours.",
           {"file   = comment* header (comment | edge | node)*",
            "header = p edge <number of vertices> <number of edges>",
            "edge   = e <vertex> <vertex>                    vertices counted from 1",
            "node   = n anything"},
           "c a triangle\np edge 3 3\ne 1 2\ne 1 3\ne 2 3\n",
           1},
          {.kinds = {"edge", "edges", "col"}},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions& options) -> Model {
            return read_col(in, file_name, report, options);
          }};
}

FamilyParameters parse_coloring(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  for (const std::string_view name : {"queen", "myciel"}) {
    if (parameters.instance.empty() && reader.take(name)) parameters.instance = name;
  }
  parameters.n = reader.size();
  reader.expect(',');
  if (parameters.instance.empty()) {
    parameters.density_percent = reader.real() + 0.0;  // turns -0 into 0
    reader.expect(',');
  }
  parameters.values = reader.take("min") ? Coloring::fewest : reader.size();
  if (parameters.instance.empty()) {
    reader.expect(',');
    parameters.seed = reader.seed();
  }
  reader.finish();
  if (parameters.values != Coloring::fewest) {
    check_values(parameters.values, Coloring::max_colors);
  }
  if (parameters.instance == "queen") check_queen(parameters.n);
  if (parameters.instance == "myciel") check_mycielski(parameters.n);
  if (parameters.instance.empty()) check_random_graph(parameters.n, parameters.density_percent);
  return parameters;
}

Model build_coloring(const FamilyParameters& p) {
  if (p.instance == "queen") return Coloring{queen_graph(p.n), p.values};
  if (p.instance == "myciel") return Coloring{mycielski_graph(p.n), p.values};
  return Coloring{random_graph(p.n, p.density_percent, p.seed), p.values};
}

std::string print_coloring(const FamilyParameters& p) {
  const std::string colors =
      p.values == Coloring::fewest ? std::string("min") : std::to_string(p.values);
  std::string text = p.instance + std::to_string(p.n) + ",";
  if (!p.instance.empty()) return text + colors;
  append_number(text, p.density_percent);
  return text + "," + colors + "," + std::to_string(p.seed);
}

}  // namespace

ModelFamily colorings() {
  return {
      {&Coloring::model_kind()},
      {col_format()},
      {{"coloring", "GRAPH,COLORS",
        "queenN,COLORS, mycielN,COLORS or N,DENSITY,COLORS,SEED; COLORS is a number or min",
        "graph colouring: minimises conflicts, or the number of colours if COLORS is min; queenN "
        "is the graph of a chessboard, mycielN a Mycielski graph, N,DENSITY,COLORS,SEED a "
        "random graph",
        "queen8,9 myciel4,5 125,10,5,1", Sense::minimize, parse_coloring, print_coloring,
        build_coloring}}};
}

}  // namespace problems::detail
}  // namespace kiln
