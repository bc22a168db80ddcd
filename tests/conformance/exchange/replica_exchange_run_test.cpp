// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole run of replica exchange leaves the same bits on every backend and with any number of
// threads: states, rungs, walkers, statistics, report.
#include <gtest/gtest.h>

#include "kiln/problems/pairwise_family.hpp"
#include "kiln/schedules/replica_exchange.hpp"

#include "backends/backends.hpp"
#include "models/models_family.hpp"
#include "whole_run.hpp"

namespace kiln::test::replica_exchange_run_test {
namespace {

class ReplicaExchangeRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReplicaExchangeRun);

TEST_P(ReplicaExchangeRun, LeavesTheSameBitsEverywhere) {
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
        SCOPED_TRACE(std::string(coordinate) + ", " + std::to_string(walkers) + " walkers");
        const Result result = expect_same_everywhere(
            GetParam(), problem, [&] { return std::make_unique<ReplicaExchange>(chosen); },
            {.replicas = 10 * 21, .seed = 3}, {.sweeps = 240});
        EXPECT_GT(result.diagnostics.at("swap_phases"), 0);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::replica_exchange_run_test
