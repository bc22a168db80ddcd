// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Graphs, which stand for Max-Cut: rudy files, and the G-set with its relatives.
#include <algorithm>
#include <string>
#include <utility>

#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/pairwise.hpp"

#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/generator_limits.hpp"

namespace kiln {
namespace {

ModelOutline outline_of_graph(const Graph& graph) {
  return {{{"vertices", graph.n_vertices}, {"edges", std::ssize(graph.edges)}},
          graph.n_vertices,
          problems::detail::range_of(graph.edges, &Edge::weight),
          problems::detail::magnitude_of(graph.edges, &Edge::weight)};
}

}  // namespace

const ModelKind& Graph::model_kind() {
  static const ModelKind kind{KindOf<Graph>{
      .name = "maxcut",
      .singular = "a graph",
      .plural = "graphs",
      .value_name = "cut",
      .sense = Sense::maximize,
      .writers = {{Format::rudy, [](std::ostream& out, const Graph& graph,
                                    const auto&) { problems::write_rudy(out, graph); }}},
      .outline = outline_of_graph,
      .fingerprint = problems::fingerprint,
      .make =
          [](Graph graph, Sense sense, std::string name) {
            return make_pairwise(std::move(graph), sense, std::move(name));
          },
      .best_known = problems::best_known_by_fingerprint}};
  return kind;
}

namespace problems::detail {
namespace {

/// Whether the line is the first of three by three numbers: edges have a header before them.
bool is_three_by_three(FirstLines& lines) {
  for (std::size_t k = 0; k < 3; ++k) {
    const auto* const line = lines.line(k);
    if (line == nullptr || numbers_of(*line) != 3) return false;
  }
  return lines.line(3) == nullptr;
}

bool recognises_rudy(FirstLines& lines) {
  const FirstLines::Words& first = *lines.line(0);
  if (first.size() != 2 && first.size() != 3) return false;
  if (!std::ranges::all_of(first, is_integer)) return false;
  return first.size() == 2 || !is_three_by_three(lines);
}

FormatEntry rudy_format() {
  return {{Format::rudy,
           "rudy",
           {".rud", ".rudy", ".mc", ".gset", ".graph"},
           "Weighted graph as an edge list with a header: the format of the G-set.",
           {"file   = header edge*", "header = <number of vertices> <number of edges>",
            "edge   = <vertex> <vertex> [<weight>]            vertices counted from 1"},
           "3 3\n1 2 1\n1 3 -2\n2 3 0.5\n",
           1},
          {.recognises = recognises_rudy},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions&) -> Model { return read_rudy(in, file_name, report); }};
}

FamilyParameters parse_gset(const Family&, std::string_view text) {
  check_gset_name(text);
  FamilyParameters parameters;
  parameters.instance = text;
  return parameters;
}

FamilyParameters parse_nothing(const Family& family, std::string_view text) {
  ParameterReader(family, text).finish();
  return {};
}

FamilyParameters parse_random(const Family& family, std::string_view text) {
  FamilyParameters parameters = parse_size_density_seed(family, text);
  check_random_graph(parameters.n, parameters.density_percent);
  return parameters;
}

}  // namespace

ModelFamily graphs() {
  return {
      {&Graph::model_kind()},
      {rudy_format()},
      {{"gset", "G1 .. G81", "the name of a graph of the G-set",
        "the 71 Max-Cut graphs of the G-set, with exactly the published edges and weights",
        "G1 G22 G81", Sense::maximize, parse_gset, print_instance,
        [](const FamilyParameters& p) -> Model { return gset(p.instance); }},
       {"k2000", "", "no parameters",
        "Max-Cut on the complete graph of 2000 vertices with weights -1 and +1; best known "
        "cut 33337",
        "", Sense::maximize, parse_nothing, print_instance,
        [](const FamilyParameters&) -> Model { return k2000(); }},
       {"random", "N,DENSITY,SEED", "a number of vertices, a density in per cent and a seed",
        "Max-Cut on a random graph with weights 1; DENSITY per cent of all pairs of vertices are "
        "edges",
        "800,6,8001", Sense::maximize, parse_random, print_size_density_seed,
        [](const FamilyParameters& p) -> Model {
          return random_graph(p.n, p.density_percent, p.seed);
        }},
       {"torus", "AxB,SEED", "two side lengths of the torus and a seed",
        "Max-Cut on an A x B torus with random weights -1 and +1", "50x40,1", Sense::maximize,
        parse_torus, print_torus,
        [](const FamilyParameters& p) -> Model { return torus_pm1(p.n, p.m, p.seed); }}}};
}

}  // namespace problems::detail
}  // namespace kiln
