// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/watchdog/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kiln/backend.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"
#include "kiln/watchdog/heartbeat.hpp"

namespace kiln::test::watchdog_test {
namespace {

using namespace std::chrono_literals;

/// Looks every 0.1 s, from where it stopped, and gives the time of the first hang; -1: none.
class Looks {
 public:
  explicit Looks(const HangLimits& limits) : watch_(limits) {}
  double first_hang(const Pulse& pulse, double until_s) {
    for (; now_s_ < until_s; now_s_ += 0.1) {
      if (watch_.look(pulse, now_s_)) return now_s_;
    }
    return -1;
  }

 private:
  HangWatch watch_;
  double now_s_ = 100;
};

TEST(HangWatch, ASilentRunHangsAfterItsLimit) {
  Looks short_ticks(HangLimits{});
  EXPECT_NEAR(short_ticks.first_hang({.signs = 5, .working = true, .tick_s = 1e-3}, 110), 101.1,
              0.11);
  Looks long_ticks(HangLimits{});
  EXPECT_NEAR(long_ticks.first_hang({.signs = 5, .working = true, .tick_s = 0.3}, 110), 103.1,
              0.11);
}

TEST(HangWatch, SignsOfLifeBeginItsTimeAnew) {
  Looks looks(HangLimits{});
  for (std::uint64_t sign = 0; sign < 20; ++sign) {
    const double until_s = 100.9 + 0.9 * static_cast<double>(sign);
    EXPECT_EQ(looks.first_hang({.signs = sign, .working = true, .tick_s = 1e-3}, until_s), -1);
  }
}

TEST(HangWatch, TheHostMayTakeAnyTime) {
  Looks looks(HangLimits{});
  EXPECT_EQ(looks.first_hang({.signs = 5, .working = false, .tick_s = 1e-3}, 1000), -1);
}

TEST(HangWatch, BeforeTheFirstTickItHasAnotherLimit) {
  Looks looks(HangLimits{.first_s = 30});
  EXPECT_NEAR(looks.first_hang({.signs = 5, .working = true}, 200), 130.1, 0.11);
  Looks for_ever(HangLimits{.first_s = 0});
  EXPECT_EQ(for_ever.first_hang({.signs = 5, .working = true}, 10000), -1);
}

TEST(HangWatch, AStoppedProcessIsNoHang) {
  HangWatch watch(HangLimits{});
  const Pulse pulse{.signs = 5, .working = true, .tick_s = 1e-3};
  EXPECT_FALSE(watch.look(pulse, 100));
  EXPECT_FALSE(watch.look(pulse, 100.1));
  EXPECT_FALSE(watch.look(pulse, 5000));
}

TEST(Heartbeat, ShowsTheMedianOfTheLastTicks) {
  Heartbeat heart;
  EXPECT_EQ(heart.pulse().tick_s, 0);
  for (int i = 0; i < 5; ++i) heart.saw_ticks(1, 9);
  EXPECT_EQ(heart.pulse().tick_s, 9);
  for (int i = 0; i < 20; ++i) heart.saw_ticks(2, 2 + 0.01 * i);
  EXPECT_NEAR(heart.pulse().tick_s, 2.12, 1e-12) << "of 25: 5 long ones";
  for (int i = 0; i < 31; ++i) heart.saw_ticks(3, 0.5);
  EXPECT_EQ(heart.pulse().tick_s, 0.5);
  EXPECT_EQ(heart.pulse().steps, 3u);
  heart.forget_ticks();
  EXPECT_EQ(heart.pulse().tick_s, 0);
  heart.saw_ticks(4, 7);
  EXPECT_EQ(heart.pulse().tick_s, 7);
}

/// A run of a registered problem on the CPU, and what its heartbeat shows at its report points.
Pulse pulse_of_run(const std::string& family, const std::string& text, std::int64_t sweeps,
                   bool& worked_in_observer) {
  const Registry registry = builtin_registry();
  const Problem problem = registry.problem(family).make(text);
  const auto schedule = registry.schedule("simulated-annealing").make({});
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = 64;
  options.report_interval_s = 0;
  Heartbeat heart;
  const HeartbeatScope scope(&heart);
  Run run(problem, *schedule, {.sweeps = sweeps}, options, open_backend("cpu", 1));
  const Observer look([&](const ReportPoint&) { worked_in_observer |= heart.pulse().working; });
  static_cast<void>(run.advance({look}));
  return heart.pulse();
}

TEST(Heartbeat, IsThatOfTheRunsOfItsThread) {
  EXPECT_EQ(Heartbeat::of_this_thread(), nullptr);
  bool worked = false;
  const Pulse pulse = pulse_of_run("torus", "20x20,1", 500, worked);
  EXPECT_FALSE(worked) << "an observer may take any time";
  EXPECT_GT(pulse.signs, 4u);
  EXPECT_GT(pulse.tick_s, 0);
  EXPECT_GT(pulse.steps, 0u);
  EXPECT_FALSE(pulse.working);
  EXPECT_EQ(Heartbeat::of_this_thread(), nullptr);
}

TEST(Watchdog, AsksFirstAndGivesUpThen) {
  Heartbeat heart;
  heart.saw_ticks(1, 1e-3);
  std::atomic<int> asked{0}, given_up{0};
  const HangLimits limits{.min_s = 0.15};
  {
    const Watchdog dog(
        heart, limits, [&](const Hang& hang) { asked += hang.limit_s == 0.15 ? 1 : 100; },
        [&](const Hang&) { given_up += asked == 1 ? 1 : 100; });
    heart.begin_work();
    for (int i = 0; i < 3000 && given_up == 0; ++i) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(given_up, 1);
    heart.end_work();
    heart.begin_work();
    for (int i = 0; i < 3000 && asked == 1; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(asked, 2) << "a run that goes on may hang again";
  }
}

}  // namespace
}  // namespace kiln::test::watchdog_test
