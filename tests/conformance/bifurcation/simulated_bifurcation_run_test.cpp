// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of simulated bifurcation on every backend, and many groups in one batch: each as if it
// were alone.
#include <gtest/gtest.h>

#include <utility>

#include "kiln/kernels/run/init_slots.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_bifurcation.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::simulated_bifurcation_run_test {
namespace {

class SimulatedBifurcationRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SimulatedBifurcationRun);

RunOptions options_for(Device device, std::int64_t replicas, std::uint64_t seed = 3) {
  RunOptions options;
  options.device = to_string(device);
  options.replicas = replicas;
  options.seed = seed;
  return options;
}

// A dense model, a sparse one and one of real weights, into the second round.
TEST_P(SimulatedBifurcationRun, HasTheSameBitsEverywhere) {
  for (const Problem& problem :
       {make_maxcut(random_graph(60, 16, 3)), make_ising(random_ising(90, 1, 3)),
        make_ising(random_ising(40, 4, 3, 0.3))}) {
    for (const char* variant : {"heated-discrete", "discrete", "ballistic"}) {
      for (const std::int64_t replicas : {1, 31, 33, 96}) {
        SimulatedBifurcationOptions chosen;
        chosen.variant = variant;
        chosen.steps = 40;
        chosen.growth = 2;
        const Result result = expect_same_everywhere(
            GetParam(), problem, [&] { return std::make_unique<SimulatedBifurcation>(chosen); },
            options_for(GetParam(), replicas), {.sweeps = 90});
        EXPECT_EQ(result.diagnostics.at("rounds"), 2);
      }
    }
  }
}

std::vector<SimulatedBifurcationOptions> different(std::size_t n) {
  std::vector<SimulatedBifurcationOptions> all(n);
  for (std::size_t g = 0; g < n; ++g) {
    const auto x = static_cast<double>(g);
    all[g].steps = 60;
    all[g].xi = 0.4 + 0.07 * x;
    all[g].gamma = 0.01 * x;
    all[g].time_step = g % 3 == 0 ? 0 : 0.5 + 0.05 * x;
  }
  return all;
}

TEST_P(SimulatedBifurcationRun, EveryGroupIsAsIfItWereAlone) {
  constexpr std::int64_t size = 8;
  for (const Problem& problem :
       {make_maxcut(random_graph(60, 16, 3)), make_ising(random_ising(90, 1, 3))}) {
    const std::vector<SimulatedBifurcationOptions> each = different(11);
    const Budget budget{.sweeps = 120};
    const OpenedBackend backend = open_backend(to_string(GetParam()));
    SimulatedBifurcation together(each);
    const auto n = static_cast<std::int64_t>(each.size());
    kiln::Run all(problem, together, budget, options_for(GetParam(), n * size), backend);
    all.advance();
    const std::vector<double> energies = all.batch().read_energies(true);
    for (std::int64_t g = 0; g < n; ++g) {
      SimulatedBifurcation schedule(each[idx(g)]);
      kiln::Run alone(problem, schedule, budget, options_for(GetParam(), size, group_key(3, g)),
                      backend);
      alone.advance();
      const std::vector<double> own = alone.batch().read_energies(true);
      for (std::int64_t r = 0; r < size; ++r) {
        ASSERT_EQ(energies[idx(g * size + r)], own[idx(r)]) << "group " << g;
        ASSERT_EQ(all.batch()[g * size + r].state(), alone.batch()[r].state()) << "group " << g;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::simulated_bifurcation_run_test
