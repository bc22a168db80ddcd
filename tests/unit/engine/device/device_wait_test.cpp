// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/device_wait.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "kiln/device/device_fault.hpp"
#include "kiln/errors.hpp"

namespace kiln::device_wait_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class DeviceTimeout : public testing::Test {
 protected:
  static std::chrono::nanoseconds timeout_of(const char* text) {
    ::setenv("KILN_DEVICE_TIMEOUT", text, 1);
    return device_timeout();
  }
  ~DeviceTimeout() override { ::unsetenv("KILN_DEVICE_TIMEOUT"); }
};

TEST_F(DeviceTimeout, HasADefaultAndUnits) {
  ::unsetenv("KILN_DEVICE_TIMEOUT");
  EXPECT_EQ(device_timeout(), 10min);
  EXPECT_EQ(timeout_of(""), 10min);
  EXPECT_EQ(timeout_of("250ms"), 250ms);
  EXPECT_EQ(timeout_of("30s"), 30s);
  EXPECT_EQ(timeout_of("1.5m"), 90s);
  EXPECT_EQ(timeout_of("2h"), 2h);
  EXPECT_EQ(timeout_of("0"), 0ns);
}

TEST_F(DeviceTimeout, RefusesWhatIsNoTime) {
  for (const char* text :
       {"30", "s", "-1s", "30 s", "1d", "nan", "nans", "infs", "1e40h", "0s", "10s!"}) {
    try {
      timeout_of(text);
      ADD_FAILURE() << text;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "device.timeout") << text;
    }
  }
}

// Pauses until the time is up; seconds that it took.
double wait_out(DeviceWait wait) {
  const auto begin = Clock::now();
  while (wait.pause()) continue;
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(DeviceWait, EndsWithItsTime) {
  const double seconds = wait_out({100us, 200ms});
  EXPECT_GE(seconds, 0.2);
  EXPECT_LT(seconds, 5);
}

TEST(DeviceWait, GoesOnForEverWithoutATime) {
  DeviceWait wait(100us, 0ns);
  const auto begin = Clock::now();
  while (Clock::now() - begin < 50ms) ASSERT_TRUE(wait.pause());
}

// A burst of looks at first, and then few: a host core is for other work.
TEST(DeviceWait, SpinsOnlyAtFirst) {
  DeviceWait wait(2ms, 0ns);
  int at_first = 0, later = 0;
  const auto begin = Clock::now();
  for (auto now = begin; now - begin < 100ms; now = Clock::now()) {
    ASSERT_TRUE(wait.pause());
    ++(now - begin < 2ms ? at_first : later);
  }
  EXPECT_GT(at_first, 1000);
  EXPECT_LT(later, 98000 / 30 + 1);
}

// Who stops a process does not stop its device.
TEST(DeviceWait, DoesNotCountTheTimeOfAStoppedProcess) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    DeviceWait wait(0ns, 2s);
    const auto begin = Clock::now();
    while (Clock::now() - begin < 5s) {
      if (!wait.pause()) ::_exit(Clock::now() - begin < 2800ms ? 1 : 0);
    }
    ::_exit(2);
  }
  std::this_thread::sleep_for(300ms);
  ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(2200ms);
  ::kill(child, SIGCONT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 1) << "2.5 s, 2.2 of them stopped, count as 1.3 s";
}

TEST(DeviceWait, SilenceIsAFaultThatEndsTheDevice) {
  EXPECT_FALSE(has_silent_device());
  try {
    throw_no_answer("wait for a summary", 2.5);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), "device.no_answer");
    EXPECT_EQ(error.message(), "the device has not answered for 2.5 s: wait for a summary");
    EXPECT_TRUE(ends_device(error));
  }
  EXPECT_TRUE(has_silent_device());
}

}  // namespace
}  // namespace kiln::device_wait_test
