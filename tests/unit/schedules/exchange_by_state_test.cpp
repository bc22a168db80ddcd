// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchange by state and by index are one and the same run: every replica has the same history,
// wherever it lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/objective.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/replica_exchange.hpp"

#include "backends/backends.hpp"
#include "models/models_family.hpp"
#include "models/models_potts.hpp"
#include "models/small_models.hpp"

namespace kiln::test::exchange_by_state_test {
namespace {

RunOptions options(std::int64_t replicas) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 2;
  options.replicas = replicas;
  options.seed = 11;
  options.top = 8;
  return options;
}

/// A whole run, and what every replica holds at its end, by its number.
struct Outcome {
  Result result;
  std::vector<State> now, best;
  std::vector<double> energy;
  std::vector<std::uint64_t> accepted, best_step;
  std::vector<std::int32_t> rung, replica_of;  // rung: by replica; replica_of: by slot
};

template <class T>
std::vector<T> by_replica(const std::vector<T>& of_slots, const std::vector<std::int32_t>& lineage,
                          std::int64_t replicas) {
  std::vector<T> out(idx(replicas));
  for (std::int64_t slot = 0; slot < replicas; ++slot) {
    out[idx(lineage[idx(slot)])] = of_slots[idx(slot)];
  }
  return out;
}

template <class Options>
Outcome finished(const Problem& problem, Schedule& schedule, std::int64_t replicas,
                 const Options& chosen, std::int64_t sweeps) {
  const Budget budget{.sweeps = sweeps};
  kiln::Run run(problem, schedule, budget, options(replicas), open_backend("cpu", 2));
  const auto read_rungs = [&] {
    const View1<std::int32_t> view = run.batch().rung_of();
    return std::vector<std::int32_t>(view.data, view.data + view.size);
  };
  const std::vector<std::int32_t> first_rungs = read_rungs();
  Outcome out;
  out.result = run.advance();
  ReplicaBatch& batch = run.batch();
  std::vector<std::int64_t> slots(idx(replicas));
  std::iota(slots.begin(), slots.end(), 0);
  out.replica_of = batch.read_replica_of();
  const auto sorted = [&](const auto& values) {
    return by_replica(values, out.replica_of, replicas);
  };
  out.now = sorted(batch.read_states(slots, false));
  out.best = sorted(batch.read_states(slots, true));
  out.energy = sorted(batch.read_energies(false));
  out.accepted = sorted(batch.read_accepted());
  out.best_step = sorted(batch.read_best_steps());
  out.rung = sorted(read_rungs());
  if (chosen.exchange == "state") {
    EXPECT_EQ(read_rungs(), first_rungs) << "slots keep their rungs";
  }
  return out;
}

Outcome finished(const Problem& problem, const ParallelTemperingOptions& chosen,
                 std::int64_t replicas, std::int64_t sweeps) {
  ParallelTempering schedule(chosen);
  return finished(problem, schedule, replicas, chosen, sweeps);
}
Outcome finished(const Problem& problem, const ReplicaExchangeOptions& chosen,
                 std::int64_t replicas, std::int64_t sweeps) {
  ReplicaExchange schedule(chosen);
  return finished(problem, schedule, replicas, chosen, sweeps);
}

void expect_same_results(const Result& a, const Result& b) {
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.energy, b.energy);
  EXPECT_EQ(a.solution, b.solution);
  EXPECT_EQ(a.best_replica, b.best_replica);
  EXPECT_EQ(a.work.accepted, b.work.accepted);
  EXPECT_EQ(a.work.not_finite, b.work.not_finite);
  EXPECT_EQ(a.work.attempts, b.work.attempts);
  EXPECT_EQ(a.advice, b.advice);
  EXPECT_TRUE(a.verified && b.verified);
  ASSERT_EQ(a.top.size(), b.top.size());
  for (std::size_t i = 0; i < a.top.size(); ++i) {
    EXPECT_EQ(a.top[i].state, b.top[i].state) << i;
    EXPECT_EQ(a.top[i].energy, b.top[i].energy) << i;
    EXPECT_EQ(a.top[i].replica, b.top[i].replica) << i;
    EXPECT_EQ(a.top[i].count, b.top[i].count) << i;
  }
  ASSERT_EQ(a.diagnostics.size(), b.diagnostics.size());
  for (const auto& [name, value] : a.diagnostics) {
    EXPECT_EQ(bits_of({value}), bits_of({b.diagnostics.at(name)})) << name;
  }
  ASSERT_EQ(a.series.size(), b.series.size());
  for (const auto& [name, values] : a.series) {
    EXPECT_EQ(bits_of(values), bits_of(b.series.at(name))) << name;
  }
}

template <class Options>
void expect_same_run(const Problem& problem, Options chosen, std::int64_t replicas,
                     std::int64_t sweeps) {
  chosen.exchange = "index";
  const Outcome by_index = finished(problem, chosen, replicas, sweeps);
  chosen.exchange = "state";
  const Outcome by_state = finished(problem, chosen, replicas, sweeps);
  expect_same_results(by_index.result, by_state.result);
  EXPECT_TRUE(by_index.now == by_state.now);
  EXPECT_TRUE(by_index.best == by_state.best);
  EXPECT_EQ(bits_of(by_index.energy), bits_of(by_state.energy));
  EXPECT_EQ(by_index.accepted, by_state.accepted);
  EXPECT_EQ(by_index.best_step, by_state.best_step);
  EXPECT_EQ(by_index.rung, by_state.rung);
  EXPECT_TRUE(std::is_sorted(by_index.replica_of.begin(), by_index.replica_of.end()));
  EXPECT_NE(by_index.replica_of, by_state.replica_of) << "nobody moved";
}

TEST(ExchangeByState, OfPackedSpinsIsTheRunByIndex) {
  const Problem integers = make_maxcut(random_graph(90, 1, 3), "integers");
  const Problem reals = make_ising(random_ising(60, 2, 4, 0.37), "reals");
  for (const Problem* problem : {&integers, &reals}) {
    for (const char* pairs : {"even_odd", "random_adjacent", "sequential", "all_pairs"}) {
      for (const std::int64_t rungs : {2, 7, 33}) {
        SCOPED_TRACE(problem->identity.name + " " + pairs + " " + std::to_string(rungs));
        ParallelTemperingOptions chosen;
        chosen.rungs = rungs;
        chosen.pairs = pairs;
        chosen.beta_min = 0.2;  // near enough that two rungs exchange
        chosen.beta_max = 0.2 + 0.03 * static_cast<double>(rungs);
        chosen.sweeps_per_swap = 2;
        expect_same_run(*problem, chosen, 11 * rungs, 120);
      }
    }
  }
}

TEST(ExchangeByState, KeepsClusterMovesAndCadences) {
  const Problem problem = make_maxcut(random_graph(90, 1, 3), "sparse");
  ParallelTemperingOptions chosen;
  chosen.rungs = 9;
  chosen.cluster_moves = "on";
  chosen.cluster_interval = 2;
  chosen.cadence = "adaptive";
  chosen.swap_window = 3;
  expect_same_run(problem, chosen, 36, 300);
}

// A function on the host of spins (i8), integers (i32), reals (f64) and an ordering: four blocks,
// of which each exchange moves eight arrays.
Problem mixed_problem() {
  const Space space({{BlockKind::spin, 3, -1, 1},
                     {BlockKind::integer, 2, -4, 4},
                     {BlockKind::real, 2, -1, 1},
                     {BlockKind::permutation, 4, 0, 3}});
  const auto value = [](StateSpan state) {
    double sum = 0, weight = 0.3;
    for (const BlockSpan& block : state) {
      std::visit(
          [&](const auto& values) {
            double before = 0.7;
            for (const auto v : values) {
              sum += weight * static_cast<double>(v) * before;
              before = static_cast<double>(v) - 0.2;
              weight += 0.11;
            }
          },
          block);
    }
    return sum;
  };
  return make_problem(make_host_objective("mixed", space, value));
}

TEST(ExchangeByState, MovesValuesOfEveryLayout) {
  Problem coloring = make_coloring({random_graph(40, 2, 1), 4}, "coloring");
  coloring.known.bound.reset();  // a proper colouring would end the run
  const Problem problems[] = {mixed_problem(),
                              make_potts(potts_of(random_ising(40, 2, 3), 3, constant(0)), "potts"),
                              coloring};
  for (const Problem& problem : problems) {
    SCOPED_TRACE(problem.identity.name);
    ParallelTemperingOptions chosen;
    chosen.rungs = 6;
    expect_same_run(problem, chosen, 18, 120);
  }
}

TEST(ExchangeByState, MovesWalkersAndTheEnergiesOfAFamily) {
  const Problem family = make_pairwise_family(random_family(60, 0.37, 4, 0.6));
  for (const char* coordinate : {"temperature", "parameter", "both"}) {
    for (const char* restart : {"random", "best"}) {
      SCOPED_TRACE(std::string(coordinate) + " " + restart);
      ReplicaExchangeOptions chosen;
      chosen.coordinate = coordinate;
      chosen.rungs = 8;
      chosen.walkers = 3;
      chosen.walker_sweeps = 31;
      chosen.walker_restart = restart;
      expect_same_run(family, chosen, 44, 150);
    }
  }
}

}  // namespace
}  // namespace kiln::test::exchange_by_state_test
