// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/simulated_annealing.hpp"
#include "kiln/version.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::plan_test {
namespace {

Problem ising() { return make_ising(test::random_ising(40, 2, 3, 1), "ising"); }

RunPlan plan_of(const Problem& problem, std::int64_t replicas, std::int64_t groups = 1) {
  SimulatedAnnealingOptions chosen;
  chosen.groups = groups;
  SimulatedAnnealing schedule(chosen);
  RunOptions options;
  options.replicas = replicas;
  options.seed = 7;
  return plan_run(problem, schedule, {.sweeps = 10}, options, open_backend("cpu", 1));
}

TEST(Plan, IsWhatARunTakes) {
  const Problem problem = ising();
  for (const std::int64_t asked : {0, 100}) {
    const RunPlan plan = plan_of(problem, asked, 5);
    SimulatedAnnealingOptions chosen;
    chosen.groups = 5;
    SimulatedAnnealing schedule(chosen);
    RunOptions options;
    options.replicas = asked;
    kiln::Run run(problem, schedule, {.sweeps = 10}, options, open_backend("cpu", 1));

    EXPECT_EQ(plan.shape.replicas, run.batch().replicas());
    EXPECT_EQ(plan.shape.groups, run.batch().groups());
    EXPECT_EQ(plan.shape.seed, 7u);
    EXPECT_EQ(plan.device.name, "cpu");
  }
}

TEST(Plan, AddsUpWhatBatchAndProblemNeed) {
  const Problem problem = ising();
  const RunPlan plan = plan_of(problem, 64);

  EXPECT_EQ(plan.batch_bytes,
            ReplicaBatch::bytes_needed(problem.objective->space(),
                                       problem.objective->execution().layouts, {64, 1, 7}));
  const auto& sweeping = *problem.objective->as<HostScratch>();
  const std::uint64_t scratch = sweeping.host_scratch_bytes(2, 1, plan.draw_naming);
  EXPECT_GT(scratch, 0u);
  EXPECT_EQ(plan.objective_bytes, problem.objective->device_bytes({}, 64));
  EXPECT_GT(plan.scratch_bytes, scratch) << "one thread sweeps";
  EXPECT_GE(plan.owned_bytes[MemoryOwner::engine], scratch);
  EXPECT_EQ(plan.bytes_needed(), plan.batch_bytes + plan.objective_bytes + plan.scratch_bytes);
  EXPECT_GT(plan.copy_bytes, plan.batch_bytes) << "with the schedule's own";
  EXPECT_LT(plan.copy_bytes, plan.batch_bytes + plan.scratch_bytes);
}

TEST(Plan, KeepsATwentiethFree) {
  RunPlan plan = plan_of(ising(), 640);
  plan.objective_bytes = 1000;
  plan.batch_bytes = 12000;
  plan.scratch_bytes = 6500;
  plan.scratch_fixed_bytes = 500;
  plan.device.memory_free = 21000;
  EXPECT_TRUE(plan.fits());
  EXPECT_EQ(plan.fitting_replicas(), 640);
  EXPECT_NO_THROW(require_memory(plan));

  plan.device.memory_free = 10000;
  EXPECT_FALSE(plan.fits());
  EXPECT_EQ(plan.fitting_replicas(), 256) << "8000 of 18000 bytes, in whole words of 32";
  EXPECT_EQ(test::complaint([&] { require_memory(plan); }).substr(0, 58),
            "run.memory: 640 replicas do not fit into the free memory: ");
  plan.given = GivenNumber::none;
  try {
    require_memory(plan);
    FAIL() << "a plan that does not fit must be refused";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.bytes_needed(), 19500u);
    EXPECT_EQ(error.bytes_free(), 10000u);
    EXPECT_EQ(error.fix(), "set RunOptions::replicas = 256");
  }

  plan.device.memory_free = 900;
  EXPECT_EQ(plan.fitting_replicas(), 0);
  plan.device.memory_free = 0;
  EXPECT_TRUE(plan.fits()) << "what is not known refuses nothing";
}

TEST(Plan, RefusesWhatABatchWouldRefuse) {
  const Problem problem = ising();

  EXPECT_THROW(plan_of(problem, -1), InvalidArgument);
  EXPECT_THROW(plan_of(problem, 100, 3), InvalidArgument);
  EXPECT_THROW(plan_of(problem, std::int64_t{1} << 31), InvalidArgument);
  EXPECT_THROW(plan_of(Problem{}, 32), InvalidArgument);
}

TEST(ProbeDevices, HasEitherADeviceOrAComplaint) {
  const std::vector<DeviceProbe> probes = probe_devices();
  ASSERT_GE(probes.size(), 2u);
  EXPECT_EQ(probes[0].name, "cpu");
  EXPECT_TRUE(probes[0].info.has_value());
  for (const DeviceProbe& probe : probes) {
    EXPECT_NE(probe.info.has_value(), probe.complaint.has_value()) << probe.name;
    if (probe.info) {
      EXPECT_EQ(probe.info->name, probe.name);
    }
    if (probe.complaint) {
      EXPECT_FALSE(probe.complaint->fix().empty()) << probe.name;
    }
  }
  const auto n_usable =
      std::ranges::count_if(probes, [](const DeviceProbe& p) { return p.info.has_value(); });
  EXPECT_EQ(static_cast<std::size_t>(n_usable), list_devices().size());
}

TEST(BuildInfo, SaysWhyThereIsNoCuda) {
  const BuildInfo build = build_info();
  EXPECT_FALSE(build.compiler.empty());
  EXPECT_EQ(build.cuda, build.cuda_off_reason.empty());
}

}  // namespace
}  // namespace kiln::plan_test
