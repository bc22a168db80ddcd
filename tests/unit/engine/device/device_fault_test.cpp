// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Each class of fault ends in its own state. The CPU backend acts out those of a GPU: an observer
// of launches throws what a failed call throws, and goes on doing so where no call can succeed.
#include "kiln/device/device_fault.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "kiln/checkpoint.hpp"
#include "kiln/kernels/run/end_tick.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "temporary_folder.hpp"

namespace kiln::device_fault_test {
namespace {

std::string text_of(int error) {
  try {
    throw_device_fault(error, "launch sweep: an illegal memory access (file.cpp:7)");
  } catch (const Error& thrown) {
    return thrown.what();
  }
}

TEST(DeviceFault, IsClassedByItsNumber) {
  for (const int bug : {700, 710, 714, 719}) {
    EXPECT_EQ(device_fault_of(bug), DeviceFault::engine_bug) << bug;
    EXPECT_NE(text_of(bug).find("engine bug: launch sweep"), std::string::npos) << bug;
  }
  for (const int hardware : {214, 220, 226}) {
    EXPECT_EQ(device_fault_of(hardware), DeviceFault::hardware) << hardware;
  }
  for (const int busy : {46, 802, 803, 810}) {
    EXPECT_EQ(device_fault_of(busy), DeviceFault::busy) << busy;
    EXPECT_THROW(throw_device_fault(busy, ""), NoDevice);
  }
  EXPECT_EQ(device_fault_of(702), DeviceFault::lost);
  EXPECT_EQ(device_fault_of(2), DeviceFault::memory);
  EXPECT_THROW(throw_device_fault(2, ""), OutOfDeviceMemory);
  EXPECT_EQ(device_fault_of(1), DeviceFault::other);
  EXPECT_THROW(throw_device_fault(1, ""), CudaError);
}

TEST(DeviceFault, EndsTheDeviceOrLeavesIt) {
  for (const int error : {700, 710, 714, 719, 214, 220, 226, 702}) {
    EXPECT_TRUE(ends_device(device_fault_of(error))) << error;
    try {
      throw_device_fault(error, "a call");
    } catch (const Error& thrown) {
      EXPECT_TRUE(ends_device(thrown)) << error;
    }
  }
  for (const int error : {1, 2, 46, 802}) {
    EXPECT_FALSE(ends_device(device_fault_of(error))) << error;
  }
}

/// Lets the end of a tick fail, and all later launches where the fault ends the device.
class Faulty final : public LaunchObserver {
 public:
  Faulty(int error, int good_ticks) : error_(error), good_(good_ticks) {}
  void before(const LaunchInfo& launch) override {
    const bool ends_tick = std::string_view(launch.kernel) == EndTick::name;
    if (failed == 0 && (!ends_tick || good_-- > 0)) return;
    ++failed;
    if (failed > 1 && !ends_device(device_fault_of(error_))) return;
    throw_device_fault(error_, "launch");
  }
  void after(const LaunchInfo&) override {}
  int failed = 0;

 private:
  int error_, good_;
};

class FaultyRun : public testing::TestWithParam<int> {
 protected:
  static RunOptions options() {
    RunOptions options;
    options.device = "cpu";
    options.threads = 1;
    options.replicas = 32;
    return options;
  }
  static Problem ring() {
    Graph graph{24, {}};
    for (std::int32_t i = 0; i < 24; ++i) graph.edges.push_back({i, (i + 1) % 24, 1.0 - i % 3});
    return make_maxcut(graph, "ring");
  }
  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

// What the run makes of a fault in the middle: it throws it, writes no checkpoint of half a tick,
// and the last good one continues to the same end.
TEST_P(FaultyRun, KeepsItsLastCheckpoint) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "checkpoint.kiln";
  const Problem problem = ring();
  SimulatedAnnealing whole_schedule, schedule, again_schedule;
  kiln::Run whole(problem, whole_schedule, {.sweeps = 400}, options(), open_backend("cpu", 1));
  const Result expected = whole.advance();
  {
    kiln::Run run(problem, schedule, {.sweeps = 400}, options(), open_backend("cpu", 1));
    run.advance_to({.sweeps = 160});
    write_checkpoint(file, run);
    const std::string before = bytes_of(file);
    Faulty faulty(GetParam(), 3);
    run.queue().observe_launches(&faulty);

    EXPECT_NE(test::code_of([&] { run.advance(); }), "accepted");

    EXPECT_GE(faulty.failed, 1);
    EXPECT_NE(test::code_of([&] { write_checkpoint(file, run); }), "accepted");
    EXPECT_EQ(bytes_of(file), before);
    run.queue().observe_launches(nullptr);
  }
  kiln::Run again(problem, again_schedule, {.sweeps = 400}, options(), open_backend("cpu", 1));
  Checkpoint(file).restore(again);
  const Result continued = again.advance();
  EXPECT_EQ(continued.solution, expected.solution);
  EXPECT_EQ(continued.work.accepted, expected.work.accepted);
}

INSTANTIATE_TEST_SUITE_P(Errors, FaultyRun, testing::Values(2, 46, 214, 700, 702, 719, 1));

}  // namespace
}  // namespace kiln::device_fault_test
