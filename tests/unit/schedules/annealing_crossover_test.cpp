// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Annealing that crosses clusters between its rounds: when, from where, and what it is good for.
#include <gtest/gtest.h>

#include <string>

#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/models.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::test::annealing_crossover_test {
namespace {

Problem torus(std::int32_t side, std::uint64_t seed = 1) {
  return make_ising(lattice({side, side}, one_of({-1, 1}, seed), constant(0)));
}

Result anneal(const Problem& problem, const SimulatedAnnealingOptions& chosen, const Budget& budget,
              std::int64_t replicas = 32) {
  SimulatedAnnealing schedule(chosen);
  RunOptions run = options();
  run.replicas = replicas;
  return Engine(run).run(problem, schedule, budget);
}

TEST(AnnealingCrossover, IsTakenForLargeSparseModelsWithoutALimitOfSweeps) {
  const Budget time{.time_limit_s = 0.001}, sweeps{.sweeps = 8};
  const auto chosen = [](const Problem& problem, const Budget& budget, std::int64_t replicas,
                         SimulatedAnnealingOptions given = {}) {
    return anneal(problem, given, budget, replicas).parameters.at("restart");
  };
  const Problem large = torus(64), small = torus(63);
  EXPECT_EQ(chosen(large, time, 32), "crossover");
  EXPECT_EQ(chosen(small, time, 32), "random") << "3969 variables";
  EXPECT_EQ(chosen(large, sweeps, 32), "random") << "a single round";
  EXPECT_EQ(chosen(large, time, 31), "random");
  EXPECT_EQ(chosen(large, time, 32, {.cooling = AdaptiveCooling{}}), "random");
  EXPECT_EQ(chosen(large, time, 32, {.anneal_sweeps = 64}), "random");
  EXPECT_EQ(chosen(large, time, 32, {.restart = "random"}), "random");
  const Problem real = make_ising(lattice({64, 64}, one_of({-1.5, 0.3, 1 / 3.0}, 1), constant(0)));
  EXPECT_EQ(chosen(real, time, 32), "random") << "real weights";
  const Problem crowded = make_ising(sparse(4000, 40, one_of({-1, 1}, 1), constant(0), 2));
  EXPECT_EQ(chosen(crowded, time, 32), "random") << "40 neighbours";
}

// sigma = 2 and 4 couplings of size 1: T = 1, the energy of a coupling, whatever their unit.
TEST(AnnealingCrossover, ReheatsToTheEnergyOfACoupling) {
  for (const double unit : {1.0, 0.25, 3.0}) {
    const Problem problem = make_ising(lattice({8, 8}, one_of({-unit, unit}, 1), constant(0)));
    const Result result =
        anneal(problem, {.anneal_sweeps = 8, .restart = "crossover"}, {.sweeps = 16});
    const double cold = std::stod(result.parameters.at("beta_max")),
                 hot = std::stod(result.parameters.at("beta_min")),
                 reheat = std::stod(result.parameters.at("reheat"));
    EXPECT_NEAR(cold - reheat * (cold - hot), 1 / unit, 1e-9 / unit);
  }
}

// The same sweeps: each replica alone leaves defects in some places, and those of 64 differ.
TEST(AnnealingCrossover, FindsBetterStatesOfLargeToriInTheSameSweeps) {
  const Problem problem = torus(110);
  const Budget budget{.sweeps = 1280};
  const double crossed =
      anneal(problem, {.anneal_sweeps = 256, .restart = "crossover"}, budget, 64).energy;
  const double alone = anneal(problem, {.anneal_sweeps = 1280}, budget, 64).energy;
  EXPECT_LE(crossed, alone - 40);
}

TEST(AnnealingCrossover, IsRefusedWhereItCannotBe) {
  const auto refusal = [](const Problem& problem, SimulatedAnnealingOptions given) {
    given.restart = "crossover";
    try {
      anneal(problem, given, {.sweeps = 8});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal(torus(8), {.cooling = PidCooling{}})
                .find("restart=crossover needs cooling=automatic, linear or geometric"),
            std::string::npos);
  const Problem real = make_ising(lattice({8, 8}, one_of({-1.5, 1 / 3.0}, 1), constant(0)));
  EXPECT_NE(refusal(real, {}).find("restart=crossover is impossible: the weights of the model"),
            std::string::npos);
  EXPECT_NE(refusal(torus(8), {.polish_sweeps = 64}).find("would be nothing but polish_sweeps=64"),
            std::string::npos);
  EXPECT_EQ(refusal(torus(8), {.polish_sweeps = 63}), "");
}

}  // namespace
}  // namespace kiln::test::annealing_crossover_test
