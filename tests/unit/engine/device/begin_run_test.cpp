// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Runs whose device refuses them at their beginning. The CPU acts out the device: it refuses
// queues, which a run makes when its plan was accepted.
#include "kiln/device/begin_run.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/device/device_fault.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::begin_run_test {
namespace {

/// The CPU, of which the first calls for a queue fail.
class ScarceCpu final : public Backend {
 public:
  /// @param error  number of a cudaError_t
  ScarceCpu(int error, int refusals) : error_(error), refusals_(refusals) {}
  DeviceInfo info() const override {
    DeviceInfo info = cpu_->info();
    info.name = name;
    info.memory_free = memory_free;
    return info;
  }
  std::unique_ptr<Queue> make_queue() override {
    if (++queues <= refusals_) throw_device_fault(error_, "allocate device memory");
    return cpu_->make_queue();
  }

  std::string name = "cpu";
  std::uint64_t memory_free = 0;
  int queues = 0;  // that were asked for

 private:
  int error_, refusals_;
  std::shared_ptr<Backend> cpu_ = open_backend("cpu", 1).backend;
};

class BeginRun : public testing::Test {
 protected:
  BeginRun() {
    Graph graph{60, {}};
    for (std::int32_t i = 0; i < 60; ++i) graph.edges.push_back({i, (i + 1) % 60, 1.0 - i % 3});
    problem = make_maxcut(graph, "ring");
    options.threads = 1;
  }
  static constexpr int out_of_memory = 2, busy = 46;

  BegunRun begin(Schedule& schedule, std::shared_ptr<ScarceCpu> backend) {
    return begin_run(problem, schedule, {.sweeps = 64}, options, {std::move(backend), {}});
  }
  std::int64_t replicas(Schedule& schedule, int refusals) {
    return begin(schedule, std::make_shared<ScarceCpu>(out_of_memory, refusals))
        .run->batch()
        .replicas();
  }

  Problem problem;
  RunOptions options;
  SimulatedAnnealing annealing;
};

TEST_F(BeginRun, HalvesTheDefaultUntilTheDeviceHasTheMemory) {
  const std::int64_t wanted = replicas(annealing, 0);
  ASSERT_GE(wanted, 128);
  const auto device = std::make_shared<ScarceCpu>(out_of_memory, 2);

  const BegunRun begun = begin(annealing, device);

  EXPECT_EQ(device->queues, 3);
  EXPECT_EQ(begun.run->batch().replicas(), wanted / 4);
  EXPECT_FALSE(begun.moved);
  EXPECT_EQ(begun.fewer_replicas,
            std::to_string(wanted / 4) + " replicas instead of " + std::to_string(wanted) +
                ", because the device has no memory for more (allocate device memory)");
}

TEST_F(BeginRun, TakesThePathOfARunWithThatNumberGiven) {
  BegunRun begun = begin(annealing, std::make_shared<ScarceCpu>(out_of_memory, 1));
  const Result halved = begun.run->advance();
  SimulatedAnnealing schedule;
  options.replicas = begun.run->batch().replicas();

  const BegunRun given = begin(schedule, std::make_shared<ScarceCpu>(out_of_memory, 0));
  const Result result = given.run->advance();

  EXPECT_EQ(given.fewer_replicas, "");
  EXPECT_EQ(result.solution, halved.solution);
  EXPECT_EQ(result.work.accepted, halved.work.accepted);
  EXPECT_EQ(result.draw_naming, halved.draw_naming);
}

TEST_F(BeginRun, KeepsLaddersWhole) {
  ParallelTempering tempering({.rungs = 12});
  const std::int64_t wanted = replicas(tempering, 0);
  for (const int refusals : {1, 2}) {
    ParallelTempering schedule({.rungs = 12});
    const std::int64_t left = replicas(schedule, refusals);
    EXPECT_EQ(left % 12, 0);
    EXPECT_LE(left, wanted >> refusals);
    EXPECT_GT(left, (wanted >> refusals) - 12 * 32);
    EXPECT_GE(left, 12);
  }
}

TEST_F(BeginRun, EndsWithTheFirstErrorWhereNoFewerAreTaken) {
  const auto device = std::make_shared<ScarceCpu>(out_of_memory, 1000);
  try {
    begin(annealing, device);
    FAIL() << "a run without memory";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.message(), "allocate device memory");
    EXPECT_EQ(error.fix(), "use a smaller problem, or a device with more memory");
  }
  EXPECT_EQ(device->queues, 8) << "512 replicas or 128, halved down to one";
}

TEST_F(BeginRun, NeverHalvesBelowTheLeastOfASchedule) {
  PopulationAnnealing population;
  const std::int64_t wanted = replicas(population, 0);
  const std::int64_t least = PopulationAnnealing().needs(problem, {.sweeps = 64}).min_replicas;
  ASSERT_GT(least, 1);
  int halvings = 0;
  while ((wanted >> (halvings + 1)) >= least) ++halvings;
  PopulationAnnealing schedule;
  const auto device = std::make_shared<ScarceCpu>(out_of_memory, 1000);

  EXPECT_THROW(begin(schedule, device), OutOfDeviceMemory);

  EXPECT_EQ(device->queues, 1 + halvings);
}

TEST_F(BeginRun, LeavesAGivenNumberAloneAndNamesOneThatFits) {
  options.replicas = 96;
  const auto device = std::make_shared<ScarceCpu>(out_of_memory, 1);
  try {
    begin(annealing, device);
    FAIL() << "another number than was given";
  } catch (const OutOfDeviceMemory& error) {
    ASSERT_EQ(error.fix_steps().steps().size(), 1u);
    EXPECT_EQ(error.fix_steps().steps()[0].code, FixCode::set_replicas);
    EXPECT_EQ(error.fix_steps().steps()[0].argument, "32") << "whole words of the half";
  }
  EXPECT_EQ(device->queues, 1);
}

// What the plan knows is refused before the start, as ever.
TEST_F(BeginRun, HalvesNoPlanThatDoesNotFit) {
  const auto device = std::make_shared<ScarceCpu>(out_of_memory, 0);
  device->memory_free = 4096;
  EXPECT_THROW(begin(annealing, device), OutOfDeviceMemory);
  EXPECT_EQ(device->queues, 0);
}

TEST_F(BeginRun, PassesOverABusyDeviceIfItMayChoose) {
  options.device = "auto";
  const auto device = std::make_shared<ScarceCpu>(busy, 1);
  device->name = "cuda:0";

  const BegunRun begun = begin(annealing, device);

  EXPECT_TRUE(begun.moved);
  const OpenedBackend& now = begun.run->backend();
  EXPECT_NE(now.backend->info().name, "cuda:0");
  EXPECT_NE(now.fallback_reason.find("cuda:0: allocate device memory"), std::string::npos);
}

TEST_F(BeginRun, RefusesABusyDeviceThatWasNamed) {
  options.device = "cuda:0";
  const auto device = std::make_shared<ScarceCpu>(busy, 1);
  device->name = "cuda:0";
  EXPECT_THROW(begin(annealing, device), NoDevice);
  EXPECT_EQ(device->queues, 1);
}

}  // namespace
}  // namespace kiln::begin_run_test
