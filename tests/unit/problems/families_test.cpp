// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Complete graphs, and the families of problems that are made by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/registry.hpp"

#include "backends/cpu_queue.hpp"
#include "family_parameters.hpp"
#include "sha256.hpp"

namespace kiln::families_test {
namespace {

using problems::complete_pm1;
using problems::GeneratedProblem;
using problems::k2000;
using problems::sherrington_kirkpatrick;
using problems::detail::find_family;
using problems::detail::parse_parameters;

std::string parse(std::string_view family, std::string_view text) {
  return test::complaint([&] { parse_parameters(find_family(family), text); });
}

TEST(CompleteGraph, K2000IsThePublishedInstance) {
  const Graph graph = k2000();

  const auto n_negative = std::ranges::count(graph.edges, -1.0, &Edge::weight);
  EXPECT_EQ(graph.n_vertices, 2000);
  EXPECT_EQ(std::ssize(graph.edges), 1999000);
  EXPECT_EQ(n_negative, 1000020);
  EXPECT_EQ(std::ranges::count(graph.edges, 1.0, &Edge::weight), 998980);
  EXPECT_EQ(problems::fingerprint(graph), "c753a1e601a0974f");
}

TEST(CompleteGraph, K2000HasThePublishedTextInTheOrderOfDrawing) {
  Graph graph = k2000();
  std::ranges::sort(
      graph.edges, [](const Edge& a, const Edge& b) { return a.u != b.u ? a.u < b.u : a.v > b.v; });
  std::string text = "2000 1999000 \n";  // the published header ends with a blank
  for (const Edge& edge : graph.edges) {
    text += std::to_string(edge.u + 1) + " " + std::to_string(edge.v + 1) + " " +
            std::to_string(static_cast<int>(edge.weight)) + "\n";
  }
  problems::detail::Sha256 hash;
  hash.update(text);

  EXPECT_EQ(hash.hex(), "9ed615e5e18726914f12740b7f9bedb6b69676477ed5958fac42c8ab0c252ba7");
}

TEST(CompleteGraph, ReachesSmallSizes) {
  EXPECT_EQ(complete_pm1(1, 5), (Graph{1, {}}));
  EXPECT_EQ(complete_pm1(2, 5).edges.size(), 1U);
  Graph graph = complete_pm1(7, -3);
  const Graph as_made = graph;
  EXPECT_EQ(problems::canonicalize(graph), 0);
  EXPECT_EQ(graph, as_made);
}

TEST(CompleteGraph, RefusesSizesThatCannotBe) {
  EXPECT_EQ(test::complaint([] { complete_pm1(0, 1); }),
            "problem.size: a complete graph cannot have 0 vertices");
  EXPECT_EQ(test::complaint([] { complete_pm1(11586, 1); }),
            "problem.size: a complete graph would have 67111905 edges; expected at most 67108864");
  EXPECT_EQ(test::complaint([] { sherrington_kirkpatrick(2147483647, 1); }),
            "problem.size: a Sherrington-Kirkpatrick model would have 2305843005992468481 edges; "
            "expected at most 67108864");
}

TEST(SherringtonKirkpatrick, HasTheCouplingsOfTheCompleteGraphAndNoField) {
  const Ising model = sherrington_kirkpatrick(50, 7);

  EXPECT_EQ(model.couplings, complete_pm1(50, 7).edges);
  EXPECT_EQ(model.fields, std::vector<double>(50, 0.0));
  EXPECT_EQ(model.offset, 0.0);
  EXPECT_NE(sherrington_kirkpatrick(50, 8), model);
}

// Edges of the torus in rising order; weights of mean 0 and variance 1, as a normal sample has them
// within four standard errors.
TEST(EdwardsAnderson, HasNormalCouplingsOnTheTorus) {
  const Ising model = problems::edwards_anderson(100, 80, 7);
  const Graph signs = problems::torus_pm1(100, 80, 7);
  ASSERT_EQ(model.couplings.size(), signs.edges.size());
  double sum = 0, squares = 0, fourth = 0;
  std::size_t within = 0;  // one standard deviation
  for (std::size_t e = 0; e < model.couplings.size(); ++e) {
    const Edge& edge = model.couplings[e];
    EXPECT_EQ(edge.u, signs.edges[e].u);
    EXPECT_EQ(edge.v, signs.edges[e].v);
    sum += edge.weight;
    squares += edge.weight * edge.weight;
    fourth += std::pow(edge.weight, 4);
    within += std::abs(edge.weight) < 1;
  }
  const auto n = static_cast<double>(model.couplings.size());
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 4 * std::sqrt(96 / n));
  EXPECT_NEAR(static_cast<double>(within) / n, 0.682689, 4 * std::sqrt(0.2166 / n));
  EXPECT_EQ(model.fields, std::vector<double>(8000, 0.0));
  EXPECT_NE(problems::edwards_anderson(100, 80, 8), model);
  EXPECT_EQ(test::complaint([] { problems::edwards_anderson(2, 8, 1); }),
            "problem.size: in a torus of 2 by 8 vertices, a vertex has fewer than four different "
            "neighbours");
}

template <class Data>
Data data(std::string_view family, std::string_view parameters) {
  const GeneratedProblem made = problems::generate(family, parameters);
  const Data* const own = made.model.as<Data>();
  return own == nullptr ? Data{} : *own;
}

TEST(Families, MakeWhatTheGeneratorsMake) {
  EXPECT_EQ(data<Graph>("gset", "G14"), problems::gset("G14"));
  EXPECT_EQ(data<Graph>("random", "800,6,8001"), problems::gset("G1"));
  EXPECT_EQ(data<Graph>("torus", "100x8,8001"), problems::gset("G11"));
  EXPECT_EQ(data<Ising>("sk", "20,-4"), sherrington_kirkpatrick(20, -4));
  EXPECT_EQ(data<Ising>("ea", "20x30,-4"), problems::edwards_anderson(20, 30, -4));
  EXPECT_EQ(data<Qubo>("palubeckis", "30,62.5,9"), problems::palubeckis(30, 62.5, 9));
  EXPECT_EQ(data<Graph>("k2000", "").n_vertices, 2000);
  EXPECT_EQ(data<Coloring>("coloring", "queen5,6"), (Coloring{problems::queen_graph(5), 6}));
  EXPECT_EQ(data<Coloring>("coloring", "myciel4,5"), (Coloring{problems::mycielski_graph(4), 5}));
  EXPECT_EQ(data<Coloring>("coloring", "50,10,3,7"),
            (Coloring{problems::random_graph(50, 10, 7), 3}));
  EXPECT_EQ(data<Potts>("potts", "4x5,3,7"), problems::potts_torus(4, 5, 3, 7));
}

TEST(Families, SayWhatTheyMadeInFull) {
  const GeneratedProblem made = problems::generate("random", "10,5e1,-3");

  EXPECT_EQ(made.name, "random:10,5e1,-3");
  EXPECT_EQ(made.spec, "random:10,50,-3");
  EXPECT_EQ(problems::generate("coloring", "10,5e1,4,-3").spec, "coloring:10,50,4,-3");
  EXPECT_EQ(problems::generate("coloring", "queen5,6").spec, "coloring:queen5,6");
  EXPECT_EQ(problems::generate("coloring", "queen5,min").spec, "coloring:queen5,min");
  EXPECT_EQ(problems::generate("coloring", "10,5e1,min,3").spec, "coloring:10,50,min,3");
  EXPECT_EQ(problems::generate("potts", "4x5,3,7").spec, "potts:4x5,3,7");
}

TEST(Families, HaveTheSenseOfTheirLiterature) {
  EXPECT_EQ(problems::generate("palubeckis", "10,50,1").sense, Sense::maximize);
  const Registry registry = builtin_registry();
  const auto sense = [&](const char* family, const char* parameters) {
    return registry.problem(family).make(parameters).units.sense;
  };
  EXPECT_EQ(sense("palubeckis", "10,50,1"), Sense::maximize);
  EXPECT_EQ(sense("random", "10,50,1"), Sense::maximize);
  EXPECT_EQ(sense("sk", "10,1"), Sense::minimize);
  EXPECT_EQ(sense("ea", "4x4,1"), Sense::minimize);
  EXPECT_EQ(sense("coloring", "queen5,5"), Sense::minimize);
  EXPECT_EQ(sense("potts", "4x4,3,1"), Sense::minimize);
}

TEST(Families, StayUnderTheirNames) {
  const Registry registry = builtin_registry();
  for (const char* name :
       {"cdtlz",      "coloring",  "command",  "constrained", "cutpair", "density",
        "dtlz",       "ea",        "function", "gset",        "k2000",   "knapsack",
        "palubeckis", "posterior", "potts",    "random",      "re",      "route",
        "sk",         "table",     "torus",    "wfg",         "zdt"}) {
    EXPECT_TRUE(registry.has_problem(name)) << name;
  }
}

TEST(Families, AreRegisteredWithExamplesThatParse) {
  const Registry registry = builtin_registry();
  for (const char* name :
       {"coloring", "ea", "gset", "k2000", "palubeckis", "potts", "random", "sk", "torus"}) {
    const ProblemEntry& entry = registry.problem(name);
    ASSERT_FALSE(entry.examples.empty()) << name;
    for (const std::string& example : entry.examples) {
      const std::size_t colon = std::min(example.find(':'), example.size() - 1);
      EXPECT_EQ(example.substr(0, std::string_view(name).size()), name);
      const std::string parameters = example == name ? "" : example.substr(colon + 1);
      EXPECT_EQ(parse(name, parameters), "accepted") << example;
    }
  }
}

TEST(Families, K2000KnowsItsBestCut) {
  const Problem problem = builtin_registry().problem("k2000").make("");

  EXPECT_EQ(problem.identity.name, "k2000");
  EXPECT_EQ(problem.known.best, 33337);
  EXPECT_EQ(problems::best_known_cut("k2000"), 33337);
}

TEST(Families, RefuseParametersOfAnotherForm) {
  EXPECT_EQ(parse("torus", "5"),
            "problem.parameters: 'torus:5' does not have the form torus:AxB,SEED");
  EXPECT_EQ(parse("k2000", "1"), "problem.parameters: 'k2000:1' does not have the form k2000");
  EXPECT_EQ(parse("sk", "10"), "problem.parameters: 'sk:10' does not have the form sk:N,SEED");
  EXPECT_EQ(parse("sk", "10,1 "),
            "problem.parameters: 'sk:10,1 ' does not have the form sk:N,SEED");
  EXPECT_EQ(parse("random", "10,1"),
            "problem.parameters: 'random:10,1' does not have the form random:N,DENSITY,SEED");
  EXPECT_EQ(parse("random", "10,50%,1"),
            "problem.parameters: 'random:10,50%,1' does not have the form random:N,DENSITY,SEED");
  EXPECT_EQ(parse("palubeckis", ""),
            "problem.parameters: 'palubeckis:' does not have the form palubeckis:N,DENSITY,SEED");
}

TEST(Families, RefuseNumbersOutOfRange) {
  EXPECT_EQ(parse("sk", "2147483648,1"),
            "problem.size: 'sk:2147483648,1': the number 2147483648 is out of range");
  EXPECT_EQ(parse("sk", "5,99999999999999999999"),
            "problem.size: 'sk:5,99999999999999999999': the number 99999999999999999999 is out of "
            "range");
  EXPECT_EQ(parse("random", "5,1e999,1"),
            "problem.size: 'random:5,1e999,1': the number 1e999 is out of range");
  EXPECT_EQ(parse("random", "2000000000,0,1"),
            "problem.size: the graph would have 2000000000 vertices; expected at most 67108864");
}

TEST(Families, AnUnknownOneIsRefused) {
  EXPECT_EQ(test::complaint([] { problems::generate("grid", "3"); }),
            "problem.unknown: there is no generator for the problem family 'grid'");
}

}  // namespace
}  // namespace kiln::families_test
