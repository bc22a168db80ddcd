// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A stage takes the path of a run of its schedule alone that is given what the stage before left,
// and a pipeline leaves the same bits on every backend.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"
#include "kiln/pipelines/stages.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/all.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::pipeline_run_test {
namespace {

std::vector<std::int64_t> all_slots(const ReplicaBatch& batch) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(batch.replicas()));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

std::vector<double> energies_of(const ReplicaBatch& batch) {
  std::vector<double> energies = batch.read_energies(false);
  energies.resize(static_cast<std::size_t>(batch.replicas()));
  return energies;
}

/// One problem of each layout.
std::vector<Problem> problems() {
  const Registry registry = builtin_registry();
  std::vector<Problem> all;
  all.push_back(make_ising(random_ising(120, 1, 3)));
  all.push_back(make_ising(random_ising(50, 8, 3, 0.37)));
  all.push_back(make_maxcut(random_graph(64, 12, 1)));
  for (const auto& [family, parameters] : std::vector<std::pair<std::string, std::string>>{
           {"function", "rosenbrock-6"}, {"potts", "6x6,3,1"}}) {
    all.push_back(registry.problem(family).make(parameters.c_str()));
  }
  return all;
}

class PipelineRun : public DeviceTest {
 protected:
  OpenedBackend backend() const { return open_backend(GetParam() == Device::cpu ? "cpu" : "cuda"); }
};
KILN_ON_EVERY_BACKEND(PipelineRun);

// The oracle: two runs, with the states of the first read to the host and given to the second.
TEST_P(PipelineRun, AStageIsARunThatIsGivenStatesAndBetas) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.identity.name);
    const ParallelTemperingOptions ladder{
        .rungs = 10, .beta_min = 0.05, .beta_max = 2, .burn_in = 64};
    const RunOptions options{.replicas = 640, .seed = 5};
    const std::int64_t first_sweeps = 128, sweeps = 320;

    SimulatedAnnealing annealing;
    kiln::Run first(problem, annealing, {.sweeps = first_sweeps}, options, backend());
    first.advance();
    const std::vector<std::int64_t> slots = all_slots(first.batch());
    RunOptions given = options;
    given.seed = stage_seed(options.seed, 1);
    given.initial_states = first.batch().read_states(slots, false);
    ParallelTempering tempering(ladder);
    kiln::Run second(problem, tempering, {.sweeps = sweeps - first_sweeps}, given, backend());
    second.advance();

    Pipeline pipeline{stage<SimulatedAnnealing>({}, {.sweeps = first_sweeps}),
                      stage<ParallelTempering>(ladder)};
    kiln::Run whole(problem, pipeline, {.sweeps = sweeps}, options, backend());
    const Result result = whole.advance();

    EXPECT_EQ(result.work.sweeps, sweeps);
    EXPECT_EQ(whole.stage(), 1);
    EXPECT_EQ(whole.draw_naming(), second.draw_naming());
    EXPECT_EQ(whole.batch().read_states(slots, false), second.batch().read_states(slots, false));
    EXPECT_EQ(energies_of(whole.batch()), energies_of(second.batch()));
    EXPECT_EQ(whole.batch().read_replica_of(), second.batch().read_replica_of());
    EXPECT_EQ(whole.batch().read_accepted(), second.batch().read_accepted());
    EXPECT_NE(whole.batch().read_states(slots, false), given.initial_states);
  }
}

// A ladder goes on where the ladder before ended, with its temperatures. The replicas of the second
// stage come from those that the first had moved.
TEST_P(PipelineRun, ALadderGoesOnWithTheBetasOfTheLadderBefore) {
  const Problem problem = make_ising(random_ising(120, 1, 3));
  const RunOptions options{.replicas = 320, .seed = 7};
  const ParallelTemperingOptions adaptive{.rungs = 10, .burn_in = 100};

  ParallelTempering first_schedule(adaptive);
  kiln::Run first(problem, first_schedule, {.sweeps = 200}, options, backend());
  const Result of_first = first.advance();
  const std::vector<double> betas = of_first.series.at("beta");
  ASSERT_EQ(betas.size(), 10u);
  const std::vector<std::int64_t> slots = all_slots(first.batch());
  RunOptions given = options;
  given.seed = stage_seed(options.seed, 1);
  given.initial_states = first.batch().read_states(slots, false);
  ParallelTempering second_schedule({.ladder = "list", .betas = betas, .burn_in = 0});
  kiln::Run second(problem, second_schedule, {.sweeps = 100}, given, backend());
  second.advance();

  Pipeline pipeline{stage<ParallelTempering>(adaptive, {.sweeps = 200}),
                    stage<ParallelTempering>({.rungs = 10, .burn_in = 0}, {.sweeps = 100})};
  kiln::Run whole(problem, pipeline, {}, options, backend());
  const Result result = whole.advance();

  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(result.series.at("beta"), betas);
  EXPECT_EQ(whole.batch().read_states(slots, false), second.batch().read_states(slots, false));
  std::vector<std::int32_t> moved = first.batch().read_replica_of();
  moved.resize(slots.size());
  EXPECT_EQ(whole.origins(), moved);
  EXPECT_NE(moved, std::vector<std::int32_t>(moved.size(), 0));
}

TEST_P(PipelineRun, LeavesTheSameBitsEverywhere) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.identity.name);
    // Energies of reals, and so automatic temperatures, have the same bits on one backend only.
    if (problem.objective->space().blocks().front().kind == BlockKind::real) continue;
    const Result result = expect_same_everywhere(
        GetParam(), problem,
        [] {
          return std::make_unique<Pipeline>(std::vector<Stage>{
              stage<SimulatedAnnealing>({.cooling = PidCooling{}}, {.sweeps = 70}),
              stage<ParallelTempering>({.rungs = 10}, {.sweeps = 50}),
              stage<PopulationAnnealing>({}, {.sweeps = 120})});
        },
        {.replicas = 320, .seed = 3}, {.sweeps = 200});
    ASSERT_EQ(result.stages.size(), 3u);
    EXPECT_EQ(result.stages[0].sweeps, 70);
    EXPECT_EQ(result.stages[1].sweeps, 50);
    EXPECT_EQ(result.stages[2].sweeps, 80);
  }
}

// What goes up for one more stage: control, limits, telemetry twice, a page of small arrays, and
// the data of the problem; what comes down: its betas. States of one block, energies, best states
// or draw identifiers would be further copies.
TEST_P(PipelineRun, TheHandOverCopiesNoStates) {
  const Problem problem = make_ising(random_ising(120, 1, 3));
  std::uint64_t of_problem = 0;
  const auto copies = [&](int stages) {
    std::vector<Stage> list;
    for (int i = 0; i < stages; ++i) {
      list.push_back(stage<SimulatedAnnealing>({}, {.sweeps = 64}));
    }
    Pipeline pipeline(std::move(list));
    kiln::Run run(problem, pipeline, {}, {.replicas = 640, .seed = 3, .executor = Executor::stream},
                  backend());
    run.advance();
    const std::uint64_t all = run.queue().counters().copies;
    const auto bound = problem.objective->bind(run.queue());
    bound->prepare(run.batch(), run.queue());
    of_problem = run.queue().counters().copies - all;
    return all;
  };
  const std::uint64_t one = copies(1), two = copies(2), three = copies(3);
  EXPECT_EQ(two - one, 6 + of_problem);
  EXPECT_EQ(three - two, 6 + of_problem);
}

}  // namespace
}  // namespace kiln::test::pipeline_run_test
