// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of parallel tempering leaves the same bits on every backend and with any number of
// threads: states, temperatures, statistics, report.
#include <gtest/gtest.h>

#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::parallel_tempering_run_test {
namespace {

class ParallelTemperingRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ParallelTemperingRun);

TEST_P(ParallelTemperingRun, LeavesTheSameBitsEverywhere) {
  const Problem problems[] = {make_ising(random_ising(120, 1, 3)),
                              make_ising(random_ising(50, 8, 3, 0.37)),
                              make_maxcut(random_graph(64, 12, 1))};
  for (const Problem& problem : problems) {
    for (const char* pairs : {"even_odd", "all_pairs"}) {
      for (const char* cadence : {"fixed", "adaptive"}) {
        ParallelTemperingOptions chosen;
        chosen.rungs = 10;
        chosen.pairs = pairs;
        chosen.cadence = cadence;
        chosen.exchange = cadence == std::string("adaptive") ? "state" : "index";
        chosen.swap_window = 2;
        chosen.sweeps_per_swap = 2;
        const Result result = expect_same_everywhere(
            GetParam(), problem, [&] { return std::make_unique<ParallelTempering>(chosen); },
            {.replicas = 10 * 21, .seed = 3}, {.sweeps = 240});
        EXPECT_GT(result.diagnostics.at("swap_phases"), 0);
      }
    }
  }
}

// Two blocks of 32 ladders that draw by planes.
TEST_P(ParallelTemperingRun, LeavesTheSameBitsEverywhereByBlocks) {
  const Problem problems[] = {make_ising(random_ising(120, 1, 3)),
                              make_maxcut(random_graph(100, 1, 1))};
  for (const Problem& problem : problems) {
    for (const char* pairs : {"even_odd", "random_adjacent", "all_pairs"}) {
      for (const char* cadence : {"fixed", "adaptive"}) {
        ParallelTemperingOptions chosen;
        chosen.rungs = 10;
        chosen.pairs = pairs;
        chosen.cadence = cadence;
        chosen.cluster_moves = "on";
        chosen.cluster_interval = 3;
        chosen.swap_window = 2;
        const Result result = expect_same_everywhere(
            GetParam(), problem, [&] { return std::make_unique<ParallelTempering>(chosen); },
            {.replicas = 10 * 64, .seed = 3}, {.sweeps = 240});
        EXPECT_EQ(result.draw_naming, DrawNaming::planes);
        EXPECT_GT(result.diagnostics.at("swap_phases"), 0);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::parallel_tempering_run_test
