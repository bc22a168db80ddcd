// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Many anneals in one batch, on every backend: each as if it were alone, with the bits of the CPU,
// at the price of a handful of copies, and with energies that stay right.
#include <gtest/gtest.h>

#include <utility>

#include "kiln/archive.hpp"
#include "kiln/kernels/run/init_slots.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::simulated_annealing_run_test {
namespace {

class SimulatedAnnealingRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SimulatedAnnealingRun);

constexpr std::int64_t group_size = 8;

RunOptions options_for(Device device, std::int64_t replicas, std::uint64_t seed = 3) {
  RunOptions options;
  options.device = to_string(device);
  options.replicas = replicas;
  options.seed = seed;
  return options;
}

// Every kind of cooling, and for each kind many ranges.
std::vector<SimulatedAnnealingOptions> coolings(std::size_t n) {
  std::vector<SimulatedAnnealingOptions> all(n);
  for (std::size_t g = 0; g < n; ++g) {
    all[g].beta_min = 0.1 + 0.001 * static_cast<double>(g);
    all[g].beta_max = 3 + 0.01 * static_cast<double>(g);
    const double x = static_cast<double>(g);
    const CoolingPolicy kinds[] = {LinearCooling{},      GeometricCooling{},
                                   ExponentialCooling{}, ListCooling{{0.1, 1, 0.01 * x, 3}},
                                   LogarithmicCooling{}, AdaptiveCooling{.gain = 0.1 + 0.001 * x},
                                   PidCooling{}};
    all[g].cooling = kinds[g % std::size(kinds)];
  }
  return all;
}

TEST_P(SimulatedAnnealingRun, EveryGroupIsAsIfItWereAlone) {
  const Problem problem = make_ising(random_ising(100, 1, 3));
  const std::vector<SimulatedAnnealingOptions> each = coolings(28);
  const Budget budget{.sweeps = 100};
  const OpenedBackend backend = open_backend(to_string(GetParam()));
  SimulatedAnnealing together(each);
  const auto n = static_cast<std::int64_t>(each.size());
  kiln::Run all(problem, together, budget, options_for(GetParam(), n * group_size), backend);
  all.advance();
  const std::vector<double> energies = all.batch().read_energies(true);
  for (std::int64_t g = 0; g < n; ++g) {
    SimulatedAnnealing schedule(each[idx(g)]);
    kiln::Run alone(problem, schedule, budget, options_for(GetParam(), group_size, group_key(3, g)),
                    backend);
    alone.advance();
    const std::vector<double> own = alone.batch().read_energies(true);
    for (std::int64_t r = 0; r < group_size; ++r) {
      ASSERT_EQ(energies[idx(g * group_size + r)], own[idx(r)]) << each[idx(g)].cooling.name() << g;
    }
    ASSERT_EQ(all.batch()[g * group_size].state(), alone.batch()[0].state());
  }
}

// Groups of whole words: the words of a vector have keys and temperatures of their own. Alone,
// those of a group have one key, and a group of 32 is a vector of one word.
TEST_P(SimulatedAnnealingRun, EveryGroupOfWordsIsAsIfItWereAlone) {
  const Problem problem = make_maxcut(problems::torus_pm1(9, 7, 3));
  const std::vector<SimulatedAnnealingOptions> each = coolings(37);
  const Budget budget{.sweeps = 100};
  const OpenedBackend backend = open_backend(to_string(GetParam()));
  for (const std::int64_t size : {32, 64}) {
    const auto options = [&](std::int64_t replicas, std::uint64_t seed) {
      RunOptions all = options_for(GetParam(), replicas, seed);
      all.draw_naming = DrawNaming::planes;
      return all;
    };
    SimulatedAnnealing together(each);
    const auto n = static_cast<std::int64_t>(each.size());
    kiln::Run all(problem, together, budget, options(n * size, 3), backend);
    all.advance();
    const std::vector<double> energies = all.batch().read_energies(false);
    const std::vector<std::uint64_t> accepted = all.batch().read_accepted();
    for (std::int64_t g = 0; g < n; ++g) {
      SimulatedAnnealing schedule(each[idx(g)]);
      kiln::Run alone(problem, schedule, budget, options(size, group_key(3, g)), backend);
      alone.advance();
      const std::vector<double> own = alone.batch().read_energies(false);
      const std::vector<std::uint64_t> own_accepted = alone.batch().read_accepted();
      for (std::int64_t r = 0; r < size; ++r) {
        ASSERT_EQ(energies[idx(g * size + r)], own[idx(r)]) << "group " << g << " of " << size;
        ASSERT_EQ(accepted[idx(g * size + r)], own_accepted[idx(r)]) << "group " << g;
      }
      ASSERT_EQ(all.batch()[g * size + 5].state(), alone.batch()[5].state());
    }
  }
}

// Into the second long round, with fields and without.
TEST_P(SimulatedAnnealingRun, CrossesClustersWithTheSameBitsEverywhere) {
  SimulatedAnnealingOptions crossing;
  crossing.restart = "crossover";
  crossing.anneal_sweeps = 64;
  crossing.groups = 2;
  for (const Problem& problem :
       {make_maxcut(random_graph(64, 3, 2)), make_ising(random_ising(40, 1, 3))}) {
    expect_same_everywhere(GetParam(), problem,
                           [&] { return std::make_unique<SimulatedAnnealing>(crossing); },
                           {.replicas = 64, .seed = 3}, {.sweeps = 1120}, {"scratch.cooling"});
  }
}

TEST_P(SimulatedAnnealingRun, LeavesTheSameBitsEverywhere) {
  const Problem problem = make_maxcut(random_graph(64, 3, 2));
  for (const char* restart : {"random", "best", "current"}) {
    for (const char* moves : {"metropolis", "heat-bath"}) {
      SCOPED_TRACE(std::string(restart) + " " + moves);
      std::vector<SimulatedAnnealingOptions> each = coolings(14);
      for (SimulatedAnnealingOptions& own : each) {
        own.anneal_sweeps = 24;
        own.restart = restart;
        own.moves = moves;
        own.growth = 2;
      }
      const auto replicas = static_cast<std::int64_t>(each.size()) * group_size;
      expect_same_everywhere(GetParam(), problem,
                             [&] { return std::make_unique<SimulatedAnnealing>(each); },
                             {.replicas = replicas, .seed = 3}, {.sweeps = 100},
                             {"scratch.cooling"});  // has padding; all it decides is compared
    }
  }
}

// A run is one round of so many sweeps and continues to `end`, or has rounds of so many from the
// beginning: these begin with a tick.
struct Rounds {
  Rounds(Device device, SimulatedAnnealingOptions chosen, std::int64_t length, std::int64_t end,
         bool continued) {
    if (!continued) chosen.anneal_sweeps = length;
    const Problem problem = make_maxcut(random_graph(64, 3, 2));
    const OpenedBackend backend = open_backend(to_string(device));
    const Budget first{.sweeps = continued ? length : end};
    SimulatedAnnealing schedule(chosen);
    kiln::Run run(problem, schedule, first, options_for(device, 96), backend);
    if (continued) {
      run.advance();
      SimulatedAnnealing other(chosen);
      kiln::Run loaded(problem, other, first, options_for(device, 96), backend);
      Archive saved;
      run.save(saved);
      loaded.load(saved);
      after_load = loaded.advance_to({.sweeps = end}).work.accepted;
    }
    accepted = run.advance_to({.sweeps = end}).work.accepted;
    for (std::int64_t r = 0; r < 96; ++r) states.push_back(run.batch()[r].state());
  }
  std::uint64_t accepted = 0, after_load = 0;
  std::vector<State> states;
};

TEST_P(SimulatedAnnealingRun, ContinuedBeyondItsOnlyRoundBeginsAnotherOneAtOnce) {
  const std::pair<std::int64_t, std::int64_t> lengths[] = {{5, 40}, {20, 80}, {49, 112}, {50, 120}};
  for (const auto& [length, end] : lengths) {
    for (const char* restart : {"random", "current"}) {
      for (const bool feedback : {false, true}) {
        SimulatedAnnealingOptions chosen{.polish_sweeps = 2, .restart = restart, .groups = 3};
        chosen.cooling = feedback ? CoolingPolicy(AdaptiveCooling{}) : LinearCooling{};
        const Rounds expected(GetParam(), chosen, length, end, false);
        const Rounds got(GetParam(), chosen, length, end, true);
        EXPECT_EQ(got.accepted, expected.accepted) << restart << " " << length;
        EXPECT_EQ(got.after_load, expected.accepted) << restart << " " << length;
        EXPECT_EQ(got.states, expected.states) << restart << " " << length;
      }
    }
    // The best states are those of ends of ticks, which lie elsewhere in the other run.
    const SimulatedAnnealingOptions best{.polish_sweeps = 2, .restart = "best", .groups = 3};
    SimulatedAnnealingOptions current = best;
    current.restart = "current";
    EXPECT_NE(Rounds(GetParam(), best, length, end, true).states,
              Rounds(GetParam(), current, length, end, true).states);
  }
}

TEST_P(SimulatedAnnealingRun, AThousandCoolingsCostAHandfulOfCopies) {
  const Problem problem = make_maxcut(random_graph(40, 2, 1));
  SimulatedAnnealingOptions chosen;
  chosen.groups = 1000;
  chosen.beta_max = 1;
  chosen.beta_max_last = 9;
  SimulatedAnnealing schedule(chosen);
  const Budget budget{.sweeps = 100};
  kiln::Run run(problem, schedule, budget, options_for(GetParam(), 1000),
                open_backend(to_string(GetParam())));
  const Result result = run.advance();
  EXPECT_LT(result.work.device.copies, 10u);
  EXPECT_EQ(result.work.in_ticks.copies, 0u);
  EXPECT_EQ(result.work.in_ticks.synchronizations, 0u);
}

// Weights that are integers, decimal fractions, and real numbers in fixed point. After any number
// of sweeps energies are those of a new evaluation of the states.
TEST_P(SimulatedAnnealingRun, EnergiesDoNotDrift) {
  for (const double unit : {1.0, 0.37, 1 / 3.0}) {
    const Problem problem = make_ising(random_ising(60, 3, 3, unit));
    SimulatedAnnealingOptions warm;
    warm.beta_min = warm.beta_max = 0.2 / unit;
    warm.polish_sweeps = 0;
    SimulatedAnnealing schedule(warm);
    const Budget budget{.sweeps = 10000};
    kiln::Run run(problem, schedule, budget, options_for(GetParam(), 32),
                  open_backend(to_string(GetParam())));
    run.advance();
    std::vector<State> states;
    std::vector<double> energies;
    for (std::int64_t r = 0; r < 32; ++r) {
      const Replica replica = run.batch()[r];
      states.push_back(replica.state());
      energies.push_back(replica.energy());
      const double again = problem.solution.verify(spans_of(states.back()));
      EXPECT_NEAR(problem.units.objective_of_stored(energies.back()), again,
                  problem.units.integral ? 0.0 : 1e-12 * 60 * 60);
    }
    Queue& queue = cpu_queue();
    ReplicaBatch batch(queue, problem.objective->space(), {Layout::packed32}, {32, 1, 1});
    batch.write_states(states);
    problem.objective->bind(queue)->as<Evaluates>()->evaluate({batch, batch.energy(), {}, nullptr},
                                                              queue);
    EXPECT_EQ(batch.read_energies(false), energies) << unit;
  }
}

}  // namespace
}  // namespace kiln::test::simulated_annealing_run_test
