// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of population annealing leaves the same bits on every backend: states, families,
// temperatures, free energies.
#include <gtest/gtest.h>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/population_annealing.hpp"

#include "backends.hpp"
#include "small_models.hpp"

namespace kiln::test {
namespace {

class PopulationAnnealingRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PopulationAnnealingRun);

struct Outcome {
  Archive archive;
  Result result;
};

Outcome run(const Problem& problem, std::int64_t groups, std::int64_t replicas, Device device) {
  PopulationAnnealingOptions chosen;
  chosen.groups = groups;
  chosen.sweeps_per_step = 3;
  chosen.beta_max = 1;
  PopulationAnnealing schedule(chosen);
  RunOptions options;
  options.device = to_string(device);
  options.replicas = replicas;
  options.seed = 3;
  const Budget budget{.sweeps = 101};  // the last tick is cut short
  kiln::Run run(problem, schedule, budget, options, open_backend(options.device));
  Outcome outcome;
  outcome.result = run.advance(budget);
  run.save(outcome.archive);
  return outcome;
}

TEST_P(PopulationAnnealingRun, MatchesCpu) {
  const Problem problems[] = {
      make_ising(random_ising(60, 1, 3)), make_ising(random_ising(50, 8, 3, 0.37)),
      make_maxcut(random_graph(64, 12, 1)), make_coloring({random_graph(40, 3, 1), 3})};
  for (const Problem& problem : problems) {
    for (const auto& [groups, replicas] : {std::pair{1, 1100}, std::pair{3, 99}}) {
      const Outcome here = run(problem, groups, replicas, GetParam());
      const Outcome there = run(problem, groups, replicas, Device::cpu);
      for (const auto& [name, bytes] : there.archive.sections()) {
        EXPECT_TRUE(here.archive.has(name) && here.archive.sections().at(name) == bytes) << name;
      }
      EXPECT_EQ(here.result.solution, there.result.solution);
      EXPECT_EQ(here.result.diagnostics, there.result.diagnostics);
      EXPECT_GT(here.result.diagnostics.at("steps"), 3);
      EXPECT_TRUE(here.result.verified);
    }
  }
}

}  // namespace
}  // namespace kiln::test
