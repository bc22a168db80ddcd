// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/pipeline.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/all.hpp"

#include "models/small_models.hpp"

namespace kiln::test::pipeline_test {
namespace {

const RunOptions cpu{.device = "cpu", .replicas = 320, .seed = 3};

Problem cut() { return make_maxcut(random_graph(64, 12, 1)); }

std::string refusal(std::vector<Stage> stages, const Budget& budget,
                    const RunOptions& options = cpu, const Problem& problem = cut()) {
  Pipeline pipeline(std::move(stages));
  try {
    kiln::Run run(problem, pipeline, budget, options, open_backend("cpu"));
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

TEST(Pipeline, TheLastStageGetsWhatIsLeft) {
  Pipeline pipeline{stage<SimulatedAnnealing>({}, {.sweeps = 100}), stage<ParallelTempering>()};
  const Result result = Engine(cpu).run(cut(), pipeline, {.sweeps = 333});
  EXPECT_EQ(result.stop, Stop::sweep_limit);
  EXPECT_EQ(result.work.sweeps, 333);
  ASSERT_EQ(result.stages.size(), 2u);
  EXPECT_EQ(result.stages[0].schedule, "simulated-annealing");
  EXPECT_EQ(result.stages[0].sweeps, 100);
  EXPECT_EQ(result.stages[1].sweeps, 233);
  EXPECT_EQ(result.schedule, "simulated-annealing > parallel-tempering");
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.seed, 3u);
  EXPECT_EQ(result.stages[1].best, result.objective);
}

// The limit of a stage is met to the sweep, though its ticks have 7 sweeps.
TEST(Pipeline, AStageEndsWithinATick) {
  Pipeline pipeline{stage<ParallelTempering>({.rungs = 10, .sweeps_per_swap = 7}, {.sweeps = 100}),
                    stage<SimulatedAnnealing>({}, {.sweeps = 11})};
  const Result result = Engine(cpu).run(cut(), pipeline);
  EXPECT_EQ(result.stop, Stop::converged);
  ASSERT_EQ(result.stages.size(), 2u);
  EXPECT_EQ(result.stages[0].sweeps, 100);
  EXPECT_EQ(result.stages[1].sweeps, 11);
}

TEST(Pipeline, RefusesStagesBeforeTheFirstState) {
  const auto sa = [](StageLimit limit = {}) { return stage<SimulatedAnnealing>({}, limit); };
  EXPECT_EQ(refusal({sa(), stage<ParallelTempering>()}, {.sweeps = 100}),
            "pipeline.limit: stage 1 ('simulated-annealing') has no limit");
  EXPECT_EQ(refusal({sa({.sweeps = 10}), stage<ParallelTempering>()}, {}),
            "pipeline.limit: stage 2 ('parallel-tempering') has no limit");
  EXPECT_EQ(refusal({sa({.sweeps = 10}), sa()}, {.sweeps = 10}),
            "pipeline.limit: a limit of 10 sweeps leaves none for the last stage");
  EXPECT_EQ(refusal({sa({.sweeps = 0}), sa()}, {.sweeps = 10}),
            "pipeline.limit: stage 1 ('simulated-annealing') has a limit of 0 or less");
  EXPECT_EQ(refusal({sa({.sweeps = 10}), stage<BayesianOptimization>()}, {.sweeps = 20}),
            "pipeline.stage: stage 2 ('bayesian-optimization') chooses the states of its replicas "
            "itself, and neither takes nor hands on any");
  EXPECT_EQ(refusal({sa({.sweeps = 10}), stage<ParallelTempering>({.rungs = 7})}, {.sweeps = 20}),
            "run.replicas: stage 2 ('parallel-tempering'): 320 replicas cannot be divided into "
            "groups of 7");
  EXPECT_TRUE(refusal({sa({.sweeps = 10}), stage<Hmc>()}, {.sweeps = 20})
                  .starts_with("objective.ability: stage 2 ('hmc'): "));
  EXPECT_EQ(refusal({sa({.sweeps = 10}), stage<SimulatedAnnealing>({.noise = "shared"})},
                    {.sweeps = 20}, cpu, make_ising(random_ising(500, 1, 3))),
            "pipeline.stage: stage 2 ('simulated-annealing') has shared noise, which excludes "
            "states that are handed on");
  EXPECT_EQ(refusal({sa({.sweeps = 10}), sa()}, {.sweeps = 20}), "accepted");
}

TEST(Pipeline, HasAsManyReplicasAsSuitAllStages) {
  Pipeline pipeline{stage<SimulatedAnnealing>({.groups = 3}, {.sweeps = 10}),
                    stage<ParallelTempering>({.rungs = 10}, {.sweeps = 10})};
  const RunPlan plan =
      plan_run(cut(), pipeline, {}, RunOptions{.device = "cpu"}, open_backend("cpu"));
  EXPECT_EQ(plan.shape.replicas % 30, 0);
  const Result result = Engine(RunOptions{.device = "cpu"}).run(cut(), pipeline);
  EXPECT_EQ(result.work.replicas, plan.shape.replicas);
}

TEST(Pipeline, TakesTheMemoryOfItsLargestStage) {
  const auto bytes = [](Schedule& schedule) {
    return plan_run(cut(), schedule, {.sweeps = 100}, cpu, open_backend("cpu")).bytes_needed();
  };
  SimulatedAnnealing annealing;
  ParallelTempering tempering({.rungs = 10});
  Pipeline both{stage<SimulatedAnnealing>({}, {.sweeps = 10}),
                stage<ParallelTempering>({.rungs = 10})};
  const std::uint64_t most = std::max(bytes(annealing), bytes(tempering));
  EXPECT_GE(bytes(both), most);
  EXPECT_LT(bytes(both), most + 64 * 1024);
}

TEST(Pipeline, IncumbentsImproveAcrossStages) {
  Pipeline pipeline{stage<SimulatedAnnealing>({}, {.sweeps = 20}),
                    stage<ParallelTempering>({.rungs = 10}, {.sweeps = 20}),
                    stage<SimulatedAnnealing>({}, {.sweeps = 60})};
  const Problem problem = make_ising(random_ising(500, 1, 3));
  const Result result = Engine(cpu).run(problem, pipeline);
  ASSERT_GE(result.incumbents.size(), 2u);
  for (std::size_t i = 1; i < result.incumbents.size(); ++i) {
    const Incumbent& before = result.incumbents[i - 1];
    EXPECT_LT(result.incumbents[i].energy, before.energy);
    EXPECT_GE(result.incumbents[i].sweeps, before.sweeps);
    EXPECT_GE(result.incumbents[i].time_s, before.time_s);
  }
  EXPECT_EQ(result.incumbents.back().energy, result.energy);
}

TEST(Pipeline, ReportsNameTheStageAndCountOn) {
  Pipeline pipeline{stage<SimulatedAnnealing>({}, {.sweeps = 500}),
                    stage<ParallelTempering>({.rungs = 10}, {.sweeps = 500})};
  RunOptions often = cpu;
  often.report_interval_s = 0;
  std::vector<std::string> stages;
  std::int64_t sweeps = 0;
  Engine(often).run(cut(), pipeline, {}, {[&](const ReportPoint& point) {
                      if (stages.empty() || stages.back() != point.stage)
                        stages.push_back(point.stage);
                      EXPECT_GE(point.sweeps, sweeps);
                      sweeps = point.sweeps;
                      return Next::go_on;
                    }});
  EXPECT_EQ(stages,
            (std::vector<std::string>{"1/2 simulated-annealing", "2/2 parallel-tempering"}));
  EXPECT_EQ(sweeps, 1000);
}

// Saved anywhere, in either stage, a run that is loaded ends with the same bits.
TEST(Pipeline, ContinuesInAnyStage) {
  const Problem problem = make_ising(random_ising(120, 1, 3));
  const auto make = [] {
    return Pipeline{stage<ParallelTempering>({.rungs = 10}, {.sweeps = 96}),
                    stage<SimulatedAnnealing>({}, {.sweeps = 64}),
                    stage<ParallelTempering>({.rungs = 10})};
  };
  Pipeline whole_pipeline = make();
  kiln::Run whole(problem, whole_pipeline, {.sweeps = 256}, cpu, open_backend("cpu"));
  const Result expected = whole.advance();
  for (const std::int64_t pause : {32, 96, 128, 160, 200}) {
    SCOPED_TRACE(pause);
    Archive archive;
    {
      Pipeline pipeline = make();
      kiln::Run run(problem, pipeline, {.sweeps = 256}, cpu, open_backend("cpu"));
      run.advance_to({.sweeps = pause});
      run.save(archive);
    }
    Pipeline pipeline = make();
    kiln::Run run(problem, pipeline, {.sweeps = 256}, cpu, open_backend("cpu"));
    run.load(archive);
    const Result result = run.advance();
    EXPECT_EQ(result.solution, expected.solution);
    EXPECT_EQ(result.work.sweeps, 256);
    EXPECT_EQ(result.work.accepted, expected.work.accepted);
    EXPECT_EQ(result.parameters, expected.parameters);
    EXPECT_EQ(run.origins(), whole.origins());
    EXPECT_EQ(run.batch().read_energies(false), whole.batch().read_energies(false));
    ASSERT_EQ(result.stages.size(), 3u);
    EXPECT_EQ(result.stages[0].best, expected.stages[0].best);
  }
}

TEST(Pipeline, StagesDrawOtherWordsThanTheFirst) {
  EXPECT_EQ(stage_seed(9, 0), 9u);
  EXPECT_NE(stage_seed(9, 1), 9u);
  EXPECT_NE(stage_seed(9, 1), stage_seed(9, 2));
  for (std::int64_t group = 0; group < 1000; ++group) {
    EXPECT_NE(group_key(9, group), stage_seed(9, 1));
    EXPECT_NE(group_key(9, group), group_key(stage_seed(9, 1), group));
  }
}

}  // namespace
}  // namespace kiln::test::pipeline_test
