// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <ostream>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "canonical.hpp"
#include "dimacs.hpp"
#include "sparse.hpp"
#include "text_reader.hpp"

namespace kiln::problems {

namespace {

using detail::TextReader;
using detail::Token;

constexpr std::int64_t max_vertices = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t max_edges = std::int64_t{1} << 40;

constexpr std::string_view header_form = "p edge <number of vertices> <number of edges>";
constexpr std::string_view edge_form = "e <vertex> <vertex>, vertices counted from 1";

struct Header {
  std::int32_t n_vertices = 0;
  std::int64_t n_edges = 0;
};

Header read_header(TextReader& text) {
  detail::read_problem_line(text, {"edge", "edges", "col"}, 4, header_form);
  const std::vector<Token>& words = text.words();
  const auto n = text.integer(words[2], {"number of vertices", header_form}, 0, max_vertices);
  const auto m = text.integer(words[3], {"number of edges", header_form}, 0, max_edges);
  if (!n || !m) text.finish();  // without a header nothing else can be judged
  return {static_cast<std::int32_t>(*n), *m};
}

/// What public files have in their lines beside edges.
struct Findings {
  std::int64_t n_edge_lines = 0;
  std::int64_t n_loops = 0;
};

void read_edge(TextReader& text, std::int64_t n_vertices, Graph& graph, Findings& found) {
  const std::vector<Token>& words = text.words();
  if (words[0].text != "e" || words.size() != 3) {
    text.complain(words[0].column,
                  words[0].text == "e"
                      ? "the line should have 3 words and has " + std::to_string(words.size())
                      : "a line begins with '" + detail::printable(words[0].text) + "'",
                  edge_form);
    return;
  }
  ++found.n_edge_lines;
  if (n_vertices == 0) {
    text.complain(words[0].column, "the header gives 0 vertices", "no edges");
    return;
  }
  const auto u = text.integer(words[1], {"vertex", edge_form}, 1, n_vertices);
  const auto v = text.integer(words[2], {"vertex", edge_form}, 1, n_vertices);
  if (!u || !v) return;
  if (*u == *v) {
    ++found.n_loops;
    return;
  }
  const auto [low, high] = std::minmax(*u, *v);
  graph.edges.push_back(
      {static_cast<std::int32_t>(low - 1), static_cast<std::int32_t>(high - 1), 1.0});
}

/// Keeps each pair once; returns how many lines repeated one.
std::int64_t keep_each_once(std::vector<Edge>& edges) {
  const auto before = [](const Edge& a, const Edge& b) { return detail::key(a) < detail::key(b); };
  std::sort(edges.begin(), edges.end(), before);
  const auto repeated = std::unique(edges.begin(), edges.end());
  const auto n_repeated = static_cast<std::int64_t>(edges.end() - repeated);
  edges.erase(repeated, edges.end());
  return n_repeated;
}

ReadReport report_of(const Header& header, const Findings& found, std::int64_t n_repeated) {
  ReadReport report{n_repeated, {}};
  if (n_repeated > 0) {
    report.notes.push_back("number of repeated edges that Kiln left out: " +
                           std::to_string(n_repeated));
  }
  if (found.n_loops > 0) {
    report.notes.push_back("number of edges from a vertex to itself that Kiln left out: " +
                           std::to_string(found.n_loops));
  }
  if (header.n_edges != found.n_edge_lines) {
    report.notes.push_back("the header counts " + std::to_string(header.n_edges) +
                           " edges, but the file has " + std::to_string(found.n_edge_lines) +
                           " edge lines");
  }
  return report;
}

}  // namespace

Coloring read_col(std::istream& in, const std::string& file_name, ReadReport* report,
                  const ReaderOptions& options) {
  TextReader text(in, file_name);
  const Header header = read_header(text);
  Coloring coloring{{header.n_vertices, {}}, options.colors};
  Findings found;
  while (detail::next_significant_line(text)) {
    const std::vector<Token>& words = text.words();
    if (words[0].text == "p") text.fail(words[0].column, "this is a second header", edge_form);
    if (words[0].text == "n") continue;  // a weight of a vertex, of no concern here
    read_edge(text, header.n_vertices, coloring.graph, found);
  }
  text.finish();
  const std::int64_t n_repeated = keep_each_once(coloring.graph.edges);
  detail::check_promise(text, header.n_vertices, "vertices", std::ssize(coloring.graph.edges),
                        "edges");
  text.finish();
  if (report != nullptr) *report = report_of(header, found, n_repeated);
  return coloring;
}

void write_col(std::ostream& out, const Coloring& coloring,
               const std::vector<std::string>& comments) {
  detail::require_canonical(coloring.graph);
  detail::require_readable(coloring.graph);
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  for (const std::string& comment : comments) writer.line("c " + detail::one_line(comment));
  writer.line("p edge " + std::to_string(coloring.graph.n_vertices) + " " +
              std::to_string(coloring.graph.edges.size()));
  for (const Edge& edge : coloring.graph.edges) {
    writer.line("e " + std::to_string(edge.u + 1) + " " + std::to_string(edge.v + 1));
  }
  writer.flush();
  if (!out) throw IoError("io.write", "writing the graph failed");
}

}  // namespace kiln::problems
