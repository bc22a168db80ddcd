// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of replica exchange leaves the same bits on every backend: states, rungs, walkers,
// statistics, report.
#include <gtest/gtest.h>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/replica_exchange.hpp"

#include "backends.hpp"
#include "models_family.hpp"

namespace kiln::test {
namespace {

class ReplicaExchangeRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReplicaExchangeRun);

struct Outcome {
  Archive archive;
  Result result;
};

Outcome run(const Problem& problem, const ReplicaExchangeOptions& chosen, Device device) {
  ReplicaExchange schedule(chosen);
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

TEST_P(ReplicaExchangeRun, MatchesCpu) {
  const Problem problems[] = {make_pairwise_family(random_family(120, 1, 3)),
                              make_pairwise_family(random_family(50, 0.37, 4, 0.6))};
  for (const Problem& problem : problems) {
    for (const char* coordinate : {"temperature", "parameter", "both"}) {
      for (const std::int64_t walkers : {0, 3}) {
        ReplicaExchangeOptions chosen;
        chosen.exchange = coordinate == std::string("both") ? "state" : "index";
        chosen.coordinate = coordinate;
        chosen.rungs = 10 - walkers;
        chosen.walkers = walkers;
        chosen.walker_sweeps = 31;
        chosen.sweeps_per_swap = 2;
        const Outcome here = run(problem, chosen, GetParam());
        const Outcome there = run(problem, chosen, Device::cpu);
        for (const auto& [name, bytes] : there.archive.sections()) {
          EXPECT_TRUE(here.archive.has(name) && here.archive.sections().at(name) == bytes)
              << name << ", " << coordinate << ", " << walkers << " walkers";
        }
        EXPECT_EQ(here.result.solution, there.result.solution);
        EXPECT_GT(here.result.diagnostics.at("swap_phases"), 0);
        EXPECT_TRUE(here.result.verified);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test
