// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of parallel tempering leaves the same bits on every backend: states, temperatures,
// statistics, report.
#include <gtest/gtest.h>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends.hpp"
#include "small_models.hpp"

namespace kiln::test {
namespace {

class ParallelTemperingRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ParallelTemperingRun);

struct Outcome {
  Archive archive;
  Result result;
};

Outcome run(const Problem& problem, const ParallelTemperingOptions& chosen, Device device) {
  ParallelTempering schedule(chosen);
  RunOptions options;
  options.device = to_string(device);
  options.replicas = 10 * 21;
  options.seed = 3;
  const Budget budget{.sweeps = 240};
  kiln::Run run(problem, schedule, budget, options, open_backend(options.device));
  Outcome outcome;
  outcome.result = run.advance(budget);
  run.save(outcome.archive);
  return outcome;
}

TEST_P(ParallelTemperingRun, MatchesCpu) {
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
        const Outcome here = run(problem, chosen, GetParam());
        const Outcome there = run(problem, chosen, Device::cpu);
        for (const auto& [name, bytes] : there.archive.sections()) {
          EXPECT_TRUE(here.archive.has(name) && here.archive.sections().at(name) == bytes) << name;
        }
        EXPECT_EQ(here.result.solution, there.result.solution);
        EXPECT_EQ(here.result.diagnostics, there.result.diagnostics);
        EXPECT_GT(here.result.diagnostics.at("swap_phases"), 0);
        EXPECT_TRUE(here.result.verified);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test
