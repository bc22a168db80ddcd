// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole search for a front leaves the same members on every backend, with any number of threads
// and without captured ticks. Functions are of those whose values have the same bits everywhere;
// volumes are sums in an order of the backend's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>

#include "kiln/archive.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"
#include "kiln/run.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "front_method.hpp"
#include "whole_run.hpp"

namespace kiln::test::front_run_test {
namespace {

class FrontRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(FrontRun);

struct Outcome {
  Archive archive;
  Result result;
};

Outcome search(Device device, int threads, bool capture, const Problem& problem,
               const test::FrontMethod& chosen) {
  const auto schedule = chosen.schedule();
  RunOptions options;
  options.device = to_string(device);
  options.threads = threads;
  options.seed = 3;
  options.executor = capture ? Executor::automatic : Executor::stream;
  const Budget budget{.sweeps = 25};
  Run run(problem, *schedule, budget, options, open_backend(options.device, threads));
  Outcome outcome;
  outcome.result = run.advance();
  run.save(outcome.archive);
  return outcome;
}

void expect_same(const Outcome& here, const Outcome& there) {
  // Volumes, what lies beside them, and what kernels use on the way.
  expect_same_archives(
      here.archive, there.archive,
      {"run.control", "scratch.pool.scratch", "scratch.progress.volume",
       "scratch.progress.half_width", "scratch.progress.gate", "scratch.progress.scratch",
       "scratch.volume.volume", "scratch.volume.scratch"});
  const Front &a = *here.result.front, &b = *there.result.front;
  ASSERT_EQ(a.members.size(), b.members.size());
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    ASSERT_EQ(a.members[i].values, b.members[i].values) << i;
    ASSERT_EQ(a.members[i].state, b.members[i].state) << i;
  }
  EXPECT_EQ(a.box.ideal, b.box.ideal);
  EXPECT_EQ(a.box.nadir, b.box.nadir);
  EXPECT_EQ(a.box.reference, b.box.reference);
  EXPECT_EQ(a.knee, b.knee);
  EXPECT_EQ(a.extremes, b.extremes);
  EXPECT_NEAR(a.hypervolume, b.hypervolume, double_tolerance * std::max(1.0, b.hypervolume));
  EXPECT_EQ(here.result.solution, there.result.solution);
  EXPECT_EQ(here.result.work.sweeps, there.result.work.sweeps);
  EXPECT_EQ(here.result.work.ticks, there.result.work.ticks);
  EXPECT_EQ(here.result.work.accepted, there.result.work.accepted);
  EXPECT_EQ(here.result.work.not_finite, there.result.work.not_finite);
  EXPECT_EQ(here.result.parameters, there.result.parameters);
  EXPECT_EQ(here.result.advice, there.result.advice);
  EXPECT_TRUE(here.result.verified);
  EXPECT_TRUE(there.result.verified);
}

test::FrontMethod by(const char* strategy) {
  test::FrontMethod chosen(strategy);
  chosen.population = 36;
  chosen.islands = 3;
  chosen.migration_interval = 4;
  return chosen;
}

TEST_P(FrontRun, LeavesTheSameFrontEverywhere) {
  // Reals, spins, and bits with constraints.
  const Problem problems[] = {problems::zdt(1), problems::cut_pair(40, 20, 1),
                              problems::knapsack(50, 2, 1)};
  for (const Problem& problem : problems) {
    for (const char* strategy : {"nsga2", "nsga3", "moead", "sms-emoa", "amosa"}) {
      SCOPED_TRACE(problem.identity.name + " by " + strategy);
      const Outcome here = search(GetParam(), 1, true, problem, by(strategy));
      expect_same(here, search(Device::cpu, 2, false, problem, by(strategy)));
      EXPECT_GT(here.result.front->members.size(), 1u);
      EXPECT_GT(here.result.work.accepted, 0u);
    }
  }
}

TEST_P(FrontRun, LeavesTheSameFrontOfThreeAndOfManyMembers) {
  test::FrontMethod wide = by("nsga2");
  wide.population = 1500;  // pools beyond what one block sorts
  wide.islands = 1;
  expect_same(search(GetParam(), 1, true, problems::zdt(1), wide),
              search(Device::cpu, 2, false, problems::zdt(1), wide));
  const Problem three = problems::knapsack(60, 3, 2);
  for (const char* strategy : {"nsga3", "sms-emoa"}) {
    SCOPED_TRACE(strategy);
    expect_same(search(GetParam(), 1, true, three, by(strategy)),
                search(Device::cpu, 2, false, three, by(strategy)));
  }
}

TEST_P(FrontRun, CapturedTicksAreTheTicks) {
  for (const char* strategy : {"nsga2", "amosa"}) {
    const Problem problem = problems::dtlz(1);  // values of the device's own
    const Outcome captured = search(GetParam(), 1, true, problem, by(strategy));
    const Outcome plain = search(GetParam(), 1, false, problem, by(strategy));
    expect_same(captured, plain);
    EXPECT_EQ(captured.result.objective, plain.result.objective);
    EXPECT_EQ(captured.result.work.in_ticks.copies, 0u);
    EXPECT_EQ(captured.result.work.in_ticks.synchronizations, 0u);
  }
}

}  // namespace
}  // namespace kiln::test::front_run_test
