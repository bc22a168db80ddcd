// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of population annealing leaves the same bits on every backend and with any number of
// threads: states, families, temperatures, free energies.
#include <gtest/gtest.h>

#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/schedules/population_annealing.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::population_annealing_run_test {
namespace {

class PopulationAnnealingRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PopulationAnnealingRun);

TEST_P(PopulationAnnealingRun, LeavesTheSameBitsEverywhere) {
  const Problem problems[] = {
      make_ising(random_ising(60, 1, 3)), make_ising(random_ising(50, 8, 3, 0.37)),
      make_maxcut(random_graph(64, 12, 1)), make_coloring({random_graph(40, 3, 1), 3})};
  for (const Problem& problem : problems) {
    for (const auto& [groups, replicas] : {std::pair{1, 1100}, std::pair{3, 99}}) {
      PopulationAnnealingOptions chosen;
      chosen.groups = groups;
      chosen.sweeps_per_step = 3;
      chosen.beta_max = 1;
      const Result result = expect_same_everywhere(
          GetParam(), problem, [&] { return std::make_unique<PopulationAnnealing>(chosen); },
          {.replicas = replicas, .seed = 3}, {.sweeps = 101});  // the last tick is cut short
      EXPECT_GT(result.diagnostics.at("steps"), 3);
    }
  }
}

}  // namespace
}  // namespace kiln::test::population_annealing_run_test
