// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that never ends. Each test runs it in a process of its own, which ends as a program has
// to: without the driver's handlers of exit().
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/cuda/queue.cuh"
#include "kiln/device/device_fault.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/kernels/run/advance_tick.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) continue;
}

// Prints the errors of two calls; 70 if the second fails at once and the queue can be destroyed.
template <class Call>
[[noreturn]] void call_behind_a_hang(const Call& call) {
  ::setenv("KILN_DEVICE_TIMEOUT", "1s", 1);
  int errors = 0;
  {
    const std::shared_ptr<Backend> backend = open_backend("cuda").backend;
    const std::unique_ptr<Queue> queue = backend->make_queue();
    const std::vector<RunControl> controls(1 << 16);
    DeviceArray<RunControl> control(*queue, controls);
    SharedArray<int> flag(*queue, 1);
    // Before the hang: the first launch of a kernel loads it, and an instance of a graph takes
    // memory.
    queue->launch(AdvanceTick{control.data(), 1, {}});
    queue->begin_capture();
    for (int k = 0; k < 40; ++k) queue->launch(AdvanceTick{control.data(), 1, {}});
    const std::unique_ptr<TickGraph> graph = queue->end_capture();
    queue->replay(*graph);
    queue->wait();
    wait_for<<<1, 1, 0, cuda::stream_of(*queue)>>>(flag.data());
    ::alarm(20);  // a wait without an end
    for (int k = 0; k < 2; ++k) {
      try {
        call(*queue, control, *graph);
      } catch (const CudaError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ++errors;
      }
    }
  }
  ::_exit(errors == 2 && has_silent_device() ? 70 : 1);
}

class SilentDevice : public testing::Test {
 protected:
  void SetUp() override {
    skip_without(Device::cuda);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  static testing::ExitedWithCode ends() { return testing::ExitedWithCode(70); }
};

TEST_F(SilentDevice, EndsAWaitInTime) {
  EXPECT_EXIT(call_behind_a_hang([](Queue& queue, auto&, auto&) { queue.wait(); }), ends(),
              "device.no_answer: the device has not answered for 1 s: wait for the device");
}

TEST_F(SilentDevice, EndsALargeCopyInTime) {
  EXPECT_EXIT(call_behind_a_hang([](Queue&, auto& control, auto&) { control.download(); }), ends(),
              "wait before a copy to the host");
}

// The driver lets a launch wait for room, without a deadline.
TEST_F(SilentDevice, EndsManyLaunchesInTime) {
  const auto launch = [](Queue& queue, DeviceArray<RunControl>& control, TickGraph&) {
    for (int k = 0; k < 5000; ++k) queue.launch(AdvanceTick{control.data(), 1, {}});
  };
  EXPECT_EXIT(call_behind_a_hang(launch), ends(), "wait for earlier launches");
}

TEST_F(SilentDevice, EndsManyReplaysInTime) {
  const auto replay = [](Queue& queue, auto&, TickGraph& graph) {
    for (int k = 0; k < 5000; ++k) queue.replay(graph);
  };
  EXPECT_EXIT(call_behind_a_hang(replay), ends(), "wait for earlier launches");
}

}  // namespace
}  // namespace kiln::test
