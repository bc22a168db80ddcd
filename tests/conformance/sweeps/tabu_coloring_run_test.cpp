// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole search for colourings leaves the same bits on every backend and with any number of
// threads: states, tables, what is forbidden.
#include <gtest/gtest.h>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/schedules/tabu_coloring.hpp"

#include "backends/backends.hpp"
#include "models/coloring_graphs.hpp"
#include "whole_run.hpp"

namespace kiln::test::tabu_coloring_run_test {
namespace {

class TabuColoringRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(TabuColoringRun);

TEST_P(TabuColoringRun, LeavesTheSameBitsEverywhere) {
  const Problem problems[] = {make_coloring({random_edges(125, 1u << 31, 3), Coloring::fewest}),
                              make_coloring({problems::queen_graph(8), Coloring::fewest}),
                              make_coloring({random_edges(33, 1u << 30, 3), Coloring::fewest}),
                              make_coloring({random_edges(125, 1u << 31, 3), 17}),
                              make_coloring({complete_graph(160), 140})};
  for (const Problem& problem : problems) {
    const Result result =
        expect_same_everywhere(GetParam(), problem, [] { return std::make_unique<TabuColoring>(); },
                               {.replicas = 37, .seed = 3}, {.sweeps = 25});
    EXPECT_GT(result.work.accepted, 1000u);
  }
}

}  // namespace
}  // namespace kiln::test::tabu_coloring_run_test
