// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/tabu_coloring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "models/coloring_graphs.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::test::tabu_coloring_test {
namespace {

using problems::mycielski_graph;
using problems::queen_graph;
using Colors = std::vector<std::int32_t>;

struct TabuTraits {
  static constexpr std::int64_t sweeps = 30;
  static ScheduleEntry entry() { return builtin_registry().schedule("tabu-coloring"); }
  static Problem problem() {
    return make_coloring({test::random_edges(70, 1u << 31, 5), Coloring::fewest});
  }
  static std::vector<test::Texts> variants() {
    return {{}, {{"tenure", "0"}, {"tenure_share", "1.25"}}};
  }
  static std::vector<test::Refused> refused() {
    return {{{{"tenure", "-1"}, {"tenure_share", "-0.5"}},
             {"tenure: -1 is out of range", "tenure_share: -0.5 is out of range"}}};
  }
  static std::vector<test::Unsuitable> unsuitable() {
    return {{make_maxcut(queen_graph(4), "a cut"), {"a cut", "tabu-coloring", "does not support"}},
            {make_potts({4, 5, {}, {{0, 1, 1}}}, "few"), {"few"}}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(TabuColoring, ScheduleSuite, TabuTraits);

Result searched(const Problem& problem, const Budget& budget, RunOptions options = {}) {
  TabuColoring schedule;
  options.device = "cpu";
  options.threads = 2;
  return Engine(options).run(problem, schedule, budget);
}

Result fewest_of(const Graph& graph, std::int64_t sweeps = 200) {
  return searched(make_coloring({graph, Coloring::fewest}), {.sweeps = sweeps});
}

// The colouring must be what it is said to be, counted on the edges that were handed in.
void expect_colors(const Graph& graph, const Result& result, std::int64_t colors) {
  const auto& solution = std::get<Colors>(result.solution.front());
  EXPECT_EQ(result.objective, static_cast<double>(colors));
  EXPECT_EQ(test::count_conflicts(graph, solution), 0);
  EXPECT_EQ(test::count_colors(solution), colors);
  EXPECT_TRUE(result.verified);
}

// Oracle: all colourings are tried.
TEST(TabuColoring, FindsTheChromaticNumberOfSmallGraphs) {
  for (const std::uint32_t share : {1u << 30, 1u << 31, 3u << 30}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Graph graph = test::random_edges(11, share, seed);
      expect_colors(graph, fewest_of(graph, 50), test::chromatic_number(graph));
    }
  }
}

TEST(TabuColoring, KnowsGraphsOfTheory) {
  for (const std::int32_t n : {3, 5, 27})
    expect_colors(test::cycle(n), fewest_of(test::cycle(n)), 3);
  for (const std::int32_t n : {4, 26}) expect_colors(test::cycle(n), fewest_of(test::cycle(n)), 2);
  for (const std::int32_t n : {2, 7, 40}) {
    expect_colors(test::complete_graph(n), fewest_of(test::complete_graph(n), 20), n);
  }
  for (const std::int32_t order : {2, 3, 4, 5}) {
    expect_colors(mycielski_graph(order), fewest_of(mycielski_graph(order)), order + 1);
  }
  expect_colors(queen_graph(5), fewest_of(queen_graph(5)), 5);
  expect_colors(queen_graph(7), fewest_of(queen_graph(7), 2000), 7);  // a greedy colouring has 10
  expect_colors({6, {}}, fewest_of({6, {}}, 3), 1);
}

// Edges between 8 classes of 20 vertices only: 8 colours are enough, a greedy colouring has more.
TEST(TabuColoring, FindsAPlantedColoring) {
  Graph graph = test::random_edges(160, 0x60000000u, 9);
  std::erase_if(graph.edges, [](const Edge& e) { return e.u * 7 % 8 == e.v * 7 % 8; });
  const Problem problem = make_coloring({graph, Coloring::fewest});

  const Result result = searched(problem, {.sweeps = 3000, .target = 8});

  EXPECT_GT(result.diagnostics.at("greedy"), 8);
  expect_colors(graph, result, 8);
}

TEST(TabuColoring, GoesDownFromTheGreedyColoring) {
  const Graph graph = test::random_edges(125, 1u << 31, 4);
  const Problem problem = make_coloring({graph, Coloring::fewest});
  const Result at_once = searched(problem, {.sweeps = 1});
  const Result later = searched(problem, {.sweeps = 60});

  const double greedy = later.diagnostics.at("greedy");
  EXPECT_LE(at_once.objective, greedy);
  EXPECT_LT(later.objective, greedy - 2);
  expect_colors(graph, later, static_cast<std::int64_t>(later.objective));
  EXPECT_EQ(later.diagnostics.at("colors_tried"), later.objective - 1);
  EXPECT_GT(later.diagnostics.at("conflicts_left"), 0);
  EXPECT_LT(later.diagnostics.at("lower_bound"), later.objective);
}

TEST(TabuColoring, SaysWhatIsProvedAndWhatIsNot) {
  const Result triangle = fewest_of(test::cycle(3), 3);
  EXPECT_EQ(triangle.diagnostics.at("lower_bound"), 3);
  ASSERT_EQ(triangle.advice.size(), 1u);
  EXPECT_NE(triangle.advice[0].find("impossible"), std::string::npos);

  const Result ring = fewest_of(test::cycle(5), 20);
  EXPECT_EQ(ring.diagnostics.at("lower_bound"), 2);
  ASSERT_EQ(ring.advice.size(), 2u);
  EXPECT_NE(ring.advice[0].find("no colouring with fewer colours, but such a colouring may exist"),
            std::string::npos);
  EXPECT_NE(ring.advice[0].find("the best state with 2 colours has 1 conflict"), std::string::npos);
}

TEST(TabuColoring, BeginsWithAGivenColoringThatIsProper) {
  const Graph graph = queen_graph(6);
  const Problem problem = make_coloring({graph, Coloring::fewest});
  const Result found = searched(problem, {.sweeps = 2000, .target = 8});
  ASSERT_LE(found.objective, 8);
  RunOptions options;
  options.initial_states = {found.solution};
  EXPECT_EQ(searched(problem, {.sweeps = 1}, options).objective, found.objective);

  options.initial_states = {State{Colors(36, 0)}};
  const Result from_conflicts = searched(problem, {.sweeps = 1}, options);
  EXPECT_LE(from_conflicts.objective, from_conflicts.diagnostics.at("greedy"));
}

// 300 colours need more than the byte that the states of Potts models have.
TEST(TabuColoring, ColorsWithAGivenNumberOfMoreThanAByteHolds) {
  const Graph graph = test::complete_graph(300);
  const Problem problem = make_coloring({graph, 300});
  EXPECT_EQ(problem.start.schedule, "tabu-coloring");
  const Result enough = searched(problem, {.sweeps = 4, .target = 0});
  EXPECT_EQ(enough.objective, 0);
  EXPECT_EQ(test::count_colors(std::get<Colors>(enough.solution.front())), 300);

  // One pair of vertices shares a colour: never fewer, however long.
  const Result few = searched(make_coloring({graph, 299}), {.sweeps = 4});
  EXPECT_EQ(few.objective, 1);
  EXPECT_TRUE(few.verified);
}

// States of few colours are bytes, and sweeps serve them as well.
TEST(TabuColoring, ColorsWithFewColorsInBytes) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Graph graph = test::random_edges(40, 0x60000000u, seed);
    std::erase_if(graph.edges, [](const Edge& e) { return e.u * 7 % 5 == e.v * 7 % 5; });
    const Problem problem = make_coloring({graph, 5});
    EXPECT_EQ(problem.start.schedule, "tabu-coloring");
    EXPECT_EQ(problem.objective->execution().layouts, std::vector{Layout::i8});
    const Result result = searched(problem, {.sweeps = 3000, .target = 0});
    EXPECT_EQ(result.objective, 0);
    const auto& solution = std::get<Colors>(result.solution.front());
    EXPECT_EQ(test::count_conflicts(graph, solution), 0);
    EXPECT_LE(test::count_colors(solution), 5);
    EXPECT_EQ(result.work.replicas, 8);
    EXPECT_TRUE(result.verified);
  }
}

// Oracle: all colourings are tried. One colour less than a graph needs leaves conflicts.
TEST(TabuColoring, FindsAColoringExactlyWhereThereIsOne) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Graph graph = test::random_edges(11, 1u << 31, seed);
    const std::int32_t needed = test::chromatic_number(graph);
    for (const std::int32_t colors : {needed - 1, needed}) {
      if (colors < 2) continue;
      const Result result = searched(make_coloring({graph, colors}), {.sweeps = 50});
      const auto& solution = std::get<Colors>(result.solution.front());
      EXPECT_EQ(result.objective == 0, colors == needed);
      EXPECT_EQ(result.objective, static_cast<double>(test::count_conflicts(graph, solution)));
    }
  }
}

// The last report point of a run of few sweeps, and the states of all replicas there. What the
// first of them found is reported before the last sweep, however fast the machine is.
std::pair<ReportPoint, std::vector<Colors>> watched(const Problem& problem, std::int64_t sweeps) {
  TabuColoring schedule;
  RunOptions options;
  options.replicas = 5;
  Run run(problem, schedule, {}, options, open_backend("cpu", 1));
  ReportPoint last;
  const Observers observers{[&](const ReportPoint& point) {
    last = point;
    return Next::go_on;
  }};
  for (const std::int64_t end : {sweeps, sweeps + 1}) run.advance_to({.sweeps = end}, observers);
  std::vector<Colors> states;
  for (std::int64_t r = 0; r < 5; ++r) {
    states.push_back(std::get<Colors>(run.batch()[r].state().front()));
  }
  return {last, states};
}

// Counted again from the list of edges.
TEST(TabuColoring, NotesWhatIsTriedAndTheMeanConflicts) {
  const Graph graph = test::random_edges(70, 1u << 31, 5);
  int known = 0;
  for (const std::int64_t sweeps : {1, 40, 41, 300}) {
    const auto [point, states] = watched(make_coloring({graph, Coloring::fewest}), sweeps);
    ASSERT_EQ(point.notes.size(), 2u);
    EXPECT_EQ(point.notes[0].first, "tried");
    EXPECT_EQ(point.notes[0].second, point.best - 1);
    EXPECT_EQ(point.notes[1].first, "conflicts");
    const double noted = point.notes[1].second;
    if (std::isnan(noted)) continue;  // somebody has just found a colouring
    ++known;
    double conflicts = 0;
    for (const Colors& colors : states) {
      EXPECT_EQ(test::count_colors(colors), point.best - 1);
      conflicts += static_cast<double>(test::count_conflicts(graph, colors)) / 5;
    }
    EXPECT_GT(conflicts, 0);
    EXPECT_DOUBLE_EQ(noted, conflicts);
  }
  EXPECT_GE(known, 1);

  const Graph complete = test::complete_graph(160);
  const auto [point, states] = watched(make_coloring({complete, 140}), 3);
  double conflicts = 0;
  for (const Colors& colors : states) {
    conflicts += static_cast<double>(test::count_conflicts(complete, colors)) / 5;
  }
  ASSERT_EQ(point.notes.size(), 2u);
  EXPECT_EQ(point.notes[0].second, 140);
  EXPECT_DOUBLE_EQ(point.notes[1].second, conflicts);
  EXPECT_GE(conflicts, 20) << "so many vertices are left over";
}

TEST(TabuColoring, TriesNothingWhereNothingIsLeft) {
  const auto [point, states] =
      watched(make_coloring({test::complete_graph(6), Coloring::fewest}), 5);
  EXPECT_EQ(point.best, 6);
  ASSERT_EQ(point.notes.size(), 2u);
  EXPECT_TRUE(std::isnan(point.notes[0].second));
  EXPECT_TRUE(std::isnan(point.notes[1].second));
}

}  // namespace
}  // namespace kiln::test::tabu_coloring_test
