// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <ostream>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "canonical.hpp"
#include "merging.hpp"
#include "plain_lines.hpp"
#include "sparse.hpp"
#include "text_reader.hpp"

namespace kiln::problems {

namespace {

using detail::TextReader;
using detail::Token;

constexpr std::int64_t max_vertices = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t max_edges = std::int64_t{1} << 40;

constexpr std::string_view header_form = "<number of vertices> <number of edges>";
constexpr std::string_view edge_form = "<vertex> <vertex> [<weight>], vertices counted from 1";

struct Header {
  std::int32_t n_vertices = 0;
  std::int64_t n_edges = 0;
};

Header read_header(TextReader& text) {
  if (!text.next_line()) text.fail(0, "the file has no header", header_form);
  const std::vector<Token>& words = text.words();
  if (words.size() != 2) {
    text.fail(words.front().column,
              "the header should have 2 words and has " + std::to_string(words.size()),
              header_form);
  }
  const auto n = text.integer(words[0], {"number of vertices", header_form}, 0, max_vertices);
  const auto m = text.integer(words[1], {"number of edges", header_form}, 0, max_edges);
  if (!n || !m) text.finish();  // without a header nothing else can be judged
  return {static_cast<std::int32_t>(*n), *m};
}

std::optional<Edge> read_edge(TextReader& text, std::int32_t n_vertices) {
  const std::vector<Token>& words = text.words();
  if (words.size() < 2 || words.size() > 3) {
    const Token& at = words.size() < 2 ? words.front() : words[3];
    text.complain(at.column,
                  "the line should have 2 or 3 words and has " + std::to_string(words.size()),
                  edge_form);
    return std::nullopt;
  }
  const auto u = text.integer(words[0], {"vertex", edge_form}, 1, n_vertices);
  const auto v = text.integer(words[1], {"vertex", edge_form}, 1, n_vertices);
  const auto weight = words.size() == 3 ? text.real(words[2], {"weight", edge_form}) : 1.0;
  if (!u || !v || !weight) return std::nullopt;
  if (*u == *v) {
    text.complain(words[0].column, "vertex " + std::to_string(*u) + " is joined to itself",
                  "two different vertices");
    return std::nullopt;
  }
  return Edge{static_cast<std::int32_t>(*u - 1), static_cast<std::int32_t>(*v - 1), *weight};
}

// What read_edge() reads and has nothing to say of.
std::optional<Edge> plain_edge(std::string_view text, std::int32_t n_vertices) {
  detail::PlainLine line(text);
  bool good = true;
  const std::int64_t u = line.integer(1, n_vertices, good), v = line.integer(1, n_vertices, good);
  const double weight = line.is_empty() ? 1.0 : line.real(good);
  if (!good || u == v || !line.is_empty()) return std::nullopt;
  return Edge{static_cast<std::int32_t>(u - 1), static_cast<std::int32_t>(v - 1), weight};
}

}  // namespace

Graph read_rudy(std::istream& in, const std::string& file_name, ReadReport* report) {
  TextReader text(in, file_name);
  const Header header = read_header(text);

  Graph graph{header.n_vertices, {}};
  const auto plain = [&](std::string_view line) { return plain_edge(line, header.n_vertices); };
  std::int64_t n_lines = detail::read_plain_lines(text, plain, header.n_edges, graph.edges);
  while (text.next_line()) {
    if (n_lines == header.n_edges) {
      text.fail(
          text.words().front().column,
          "this line exceeds the number of edges in the header, " + std::to_string(header.n_edges),
          "the end of the file");
    }
    ++n_lines;
    detail::make_room(graph.edges, header.n_edges);
    if (const auto edge = read_edge(text, header.n_vertices)) graph.edges.push_back(*edge);
  }
  if (n_lines < header.n_edges) {
    text.complain(0,
                  "the number of edges is " + std::to_string(header.n_edges) +
                      " in the header, but " + std::to_string(n_lines) + " in the file",
                  edge_form);
  }
  text.finish();

  const std::int64_t n_merged = detail::merge_or_refuse(graph, text);
  detail::check_promise(text, graph.n_vertices, "vertices", std::ssize(graph.edges), "edges");
  text.finish();
  if (report != nullptr) *report = detail::report_of_merging(n_merged, "edges");
  return graph;
}

void write_rudy(std::ostream& out, const Graph& graph) {
  detail::require_canonical(graph);
  detail::require_readable(graph);
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  writer.line(std::to_string(graph.n_vertices) + " " + std::to_string(graph.edges.size()));
  detail::write_pairs(writer, graph.edges, 1);
  writer.flush();
  if (!out) throw IoError("io.write", "writing the graph failed");
}

}  // namespace kiln::problems
