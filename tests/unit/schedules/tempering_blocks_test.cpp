// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Parallel tempering by blocks of 32 ladders: a block draws the same wherever it is, states and
// energies move together, and runs can be cut, saved and named otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/run/init_slots.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends/backends.hpp"
#include "models/models.hpp"
#include "models/small_models.hpp"
#include "tempering_fixtures.hpp"

namespace kiln::test::tempering_blocks_test {
namespace {

constexpr std::int64_t rungs = 5, block = 32 * rungs;

Problem torus() { return make_ising(lattice({6, 6}, one_of({-1, 1}, 1), constant(0)), "torus"); }
// Odd and even degrees, and fields.
Problem mixed() { return make_ising(random_ising(60, 1, 3), "mixed"); }

ParallelTemperingOptions chosen(const std::string& kind = "geometric") {
  ParallelTemperingOptions options = ladder(rungs, 0.1, 1.5, kind);
  options.cluster_moves = "off";
  return options;
}

struct Tempered {
  Tempered(const Problem& of, const ParallelTemperingOptions& options, std::int64_t replicas,
           std::uint64_t seed, std::optional<DrawNaming> naming = {})
      : problem(of), schedule(options) {
    RunOptions how;
    how.device = "cpu";
    how.threads = 2;
    how.replicas = replicas;
    how.seed = seed;
    how.top = 4;
    how.draw_naming = naming;
    run = std::make_unique<kiln::Run>(problem, schedule, Budget{.sweeps = 300}, how,
                                      open_backend("cpu", 2));
  }
  std::vector<State> states(bool best) const {
    std::vector<std::int64_t> slots(idx(run->batch().replicas()));
    std::iota(slots.begin(), slots.end(), 0);
    return run->batch().read_states(slots, best);
  }
  std::vector<std::int32_t> rungs_of_slots() const {
    const View1<std::int32_t> view = run->batch().rung_of();
    return {view.data, view.data + view.size};
  }

  Problem problem;
  ParallelTempering schedule;
  std::unique_ptr<kiln::Run> run;
};

template <class T>
std::vector<T> part(const std::vector<T>& all, std::int64_t first, std::int64_t size) {
  return {all.begin() + first, all.begin() + first + size};
}

TEST(TemperingBlocks, ArePlanesWhereLaddersAreWholeBlocks) {
  EXPECT_EQ(Tempered(torus(), chosen(), 2 * block, 1).run->draw_naming(), DrawNaming::planes);
  EXPECT_EQ(Tempered(torus(), chosen(), 33 * rungs, 1).run->draw_naming(), DrawNaming::words);
  EXPECT_EQ(
      Tempered(make_ising(random_ising(50, 8, 3, 0.37)), chosen(), block, 1).run->draw_naming(),
      DrawNaming::words)
      << "real weights";
  try {
    Tempered(torus(), chosen(), 33 * rungs, 1, DrawNaming::planes);
    FAIL() << "33 ladders are no whole blocks";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "run.draw_naming");
    EXPECT_NE(std::string(error.what()).find("33 ladders are no multiple of 32"), std::string::npos)
        << error.what();
  }
}

TEST(TemperingBlocks, HaveOneRungInEachWord) {
  Tempered tempered(torus(), chosen(), 2 * block, 1);
  const std::vector<std::int32_t> before = tempered.rungs_of_slots();
  for (std::size_t slot = 0; slot < before.size(); ++slot) {
    ASSERT_EQ(before[slot], static_cast<std::int32_t>(slot / 32));
  }
  tempered.run->advance();
  EXPECT_EQ(tempered.rungs_of_slots(), before) << "slots keep their rungs";
}

// Block b of a run is the first block of a run whose seed is the key of block b.
TEST(TemperingBlocks, DrawTheSameAloneAsInABatch) {
  for (const char* pairs : {"even_odd", "random_adjacent", "sequential", "all_pairs"}) {
    for (const char* cadence : {"fixed", "adaptive", "stochastic"}) {
      ParallelTemperingOptions options = chosen();
      options.pairs = pairs;
      options.cadence = cadence;
      options.swap_window = 2;
      options.swap_probability = 0.5;
      options.burn_in = 100;
      SCOPED_TRACE(std::string(pairs) + ", " + cadence);
      Tempered batch(mixed(), options, 3 * block, 7);
      batch.run->advance();
      std::vector<std::vector<double>> energies;
      for (std::int64_t b = 0; b < 3; ++b) {
        Tempered alone(mixed(), options, block, group_key(7, b));
        alone.run->advance();
        const std::int64_t first = b * block;
        const auto of_batch = [&](const auto& all) { return part(all, first, block); };
        energies.push_back(alone.run->batch().read_energies(false));
        EXPECT_EQ(of_batch(batch.run->batch().read_energies(false)), energies.back());
        EXPECT_EQ(of_batch(batch.run->batch().read_energies(true)),
                  alone.run->batch().read_energies(true));
        EXPECT_EQ(of_batch(batch.run->batch().read_accepted()), alone.run->batch().read_accepted());
        EXPECT_EQ(of_batch(batch.run->batch().read_best_steps()),
                  alone.run->batch().read_best_steps());
        EXPECT_EQ(of_batch(batch.states(false)), alone.states(false));
        EXPECT_EQ(of_batch(batch.states(true)), alone.states(true));
      }
      EXPECT_NE(energies[0], energies[1]) << "blocks with one key would be equal";
      EXPECT_NE(energies[1], energies[2]);
    }
  }
}

TEST(TemperingBlocks, MoveStatesTogetherWithEnergies) {
  for (const char* pairs : {"even_odd", "random_adjacent", "sequential", "all_pairs"}) {
    for (const char* clusters : {"off", "on"}) {
      ParallelTemperingOptions options = chosen("adaptive");
      options.pairs = pairs;
      options.cluster_moves = clusters;
      options.cluster_interval = 3;
      Tempered tempered(mixed(), options, 2 * block, 3);
      const Result result = tempered.run->advance();
      EXPECT_TRUE(result.verified);
      ASSERT_EQ(result.top.size(), 4u);
      for (const Solution& one : result.top) {  // a replica is a place
        EXPECT_EQ(tempered.run->batch()[one.replica].best_state(), one.state);
      }
      EXPECT_GT(result.diagnostics.at("round_trips"), 0) << pairs;
      for (const bool best : {false, true}) {
        const std::vector<double> energies = tempered.run->batch().read_energies(best);
        const std::vector<State> states = tempered.states(best);
        for (std::size_t slot = 0; slot < states.size(); ++slot) {
          const double value = tempered.problem.units.objective_of_stored(energies[slot]);
          ASSERT_EQ(value, tempered.problem.solution.verify(spans_of(states[slot])))
              << pairs << ", slot " << slot << (best ? ", best" : "");
        }
      }
    }
  }
}

TEST(TemperingBlocks, GiveTheSameByIndexAndByState) {
  ParallelTemperingOptions options = chosen("adaptive");
  Tempered by_index(mixed(), options, 2 * block, 5);
  options.exchange = "state";
  Tempered by_state(mixed(), options, 2 * block, 5);
  const Result one = by_index.run->advance(), other = by_state.run->advance();
  EXPECT_EQ(one.solution, other.solution);
  EXPECT_EQ(one.best_replica, other.best_replica);
  EXPECT_EQ(one.work.accepted, other.work.accepted);
  EXPECT_EQ(one.series, other.series);
  EXPECT_EQ(by_index.states(false), by_state.states(false));
}

// Saved halfway and loaded into a run of the other naming, which begins anew.
TEST(TemperingBlocks, ContinueASavedRunOfEitherNaming) {
  for (const DrawNaming naming : {DrawNaming::planes, DrawNaming::words}) {
    for (const char* clusters : {"off", "on"}) {
      ParallelTemperingOptions options = chosen("adaptive");
      options.cluster_moves = clusters;
      Tempered first(torus(), options, 2 * block, 9, naming);
      first.run->advance_to({.sweeps = 117});
      Archive saved;
      first.run->save(saved);
      const Result expected = first.run->advance();
      EXPECT_EQ(expected.draw_naming, naming);
      for (const DrawNaming begun : {DrawNaming::planes, DrawNaming::words}) {
        Tempered again(torus(), options, 2 * block, 9, begun);
        again.run->load(saved);
        EXPECT_EQ(again.run->draw_naming(), naming);
        const Result result = again.run->advance();
        EXPECT_EQ(result.work.accepted, expected.work.accepted);
        EXPECT_EQ(result.solution, expected.solution);
        EXPECT_EQ(result.series, expected.series);
        EXPECT_EQ(again.states(false), first.states(false));
      }
    }
  }
}

// What lies at a rung does not depend on how often the run was looked at, or cut.
TEST(TemperingBlocks, DoNotDependOnWhereARunIsCut) {
  ParallelTemperingOptions options = chosen("adaptive");
  options.sweeps_per_swap = 4;
  Tempered whole(mixed(), options, 2 * block, 4), cut(mixed(), options, 2 * block, 4);
  whole.run->advance();
  for (const std::int64_t sweeps : {1, 6, 7, 50, 131}) cut.run->advance_to({.sweeps = sweeps});
  cut.run->advance();
  EXPECT_EQ(cut.states(false), whole.states(false));
  EXPECT_EQ(cut.run->batch().read_energies(true), whole.run->batch().read_energies(true));
}

TEST(TemperingBlocks, TellTheirLaddersInPlanAndResult) {
  RunOptions how;
  how.device = "cpu";
  how.replicas = 3 * block;
  const Problem problem = torus();
  ParallelTempering schedule(chosen());
  const RunPlan plan = plan_run(problem, schedule, {.sweeps = 10}, how, open_backend("cpu", 1));
  EXPECT_TRUE(plan.ladders_in_blocks());
  EXPECT_EQ(plan.shape.groups, 3);
  EXPECT_EQ(plan.groups(), 96);
  ParallelTempering of_three(ladder(3, 0.1, 1.5));
  how.replicas = 0;
  EXPECT_EQ(plan_run(problem, of_three, {.sweeps = 10}, how, open_backend("cpu", 1)).shape.replicas,
            96)
      << "whole blocks by default";
  const Result result = Tempered(problem, chosen("adaptive"), 3 * block, 1).run->advance();
  EXPECT_EQ(result.diagnostics.at("ladders"), 96);
  const std::vector<double>& share = result.series.at("best_share");
  ASSERT_EQ(share.size(), idx(rungs));
  EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1, 1e-12);
}

}  // namespace
}  // namespace kiln::test::tempering_blocks_test
