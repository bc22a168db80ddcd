// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What every backend's queue does beside launching kernels.
#include "kiln/queue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/executors/loop_summaries.hpp"
#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/kernels/run/summarize.hpp"

#include "backends/backends.hpp"

namespace kiln::test::queue_test {
namespace {

class QueueOps : public DeviceTest {};
KILN_ON_EVERY_BACKEND(QueueOps);

TEST_P(QueueOps, CopiesWithinTheDeviceInOrder) {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{33}, std::int64_t{3'000'000}}) {
    std::vector<std::int32_t> values(idx(size));
    std::iota(values.begin(), values.end(), 1);
    DeviceArray<std::int32_t> from(queue(), values), to(queue(), size);
    to.zero();
    queue().copy(to.data(), from.data(), from.bytes());
    from.zero();
    EXPECT_EQ(to.download(), values);
  }
  queue().copy(nullptr, nullptr, 0);
}

TEST_P(QueueOps, AnEndedTimerHasWaitedForTheWork) {
  DeviceArray<std::int32_t> from(queue(), std::vector<std::int32_t>(1000, 7)), to(queue(), 1000);
  const Counters before = queue().counters();
  queue().begin_timer();
  queue().copy(to.data(), from.data(), from.bytes());
  const double seconds = queue().end_timer_s();

  EXPECT_TRUE(std::isfinite(seconds));
  EXPECT_GE(seconds, 0.0);
  EXPECT_EQ((queue().counters() - before).synchronizations, 1u);
  EXPECT_EQ(to.download(), std::vector<std::int32_t>(1000, 7));
}

TEST_P(QueueOps, ATimerMayBeginAgainButEndsOnce) {
  queue().begin_timer();
  queue().begin_timer();
  EXPECT_GE(queue().end_timer_s(), 0.0);
  EXPECT_THROW(queue().end_timer_s(), InvalidArgument);
}

TEST_P(QueueOps, ACaptureRefusesATimer) {
  DeviceArray<std::int32_t> array(queue(), 32);
  if (!queue().can_capture()) {
    EXPECT_THROW(queue().begin_capture(), InvalidArgument);
    return;
  }
  queue().begin_capture();
  EXPECT_THROW(queue().begin_timer(), InvalidArgument);
  array.zero();
  queue().end_capture();
}

// More launches than a queue has slots, of which two are under way.
TEST_P(QueueOps, ALoopWritesItsSummaryInItsLaunch) {
  constexpr int launches = 200;
  const DeviceArray<double> energy(queue(), std::vector<double>(32, 2));
  const DeviceArray<std::uint64_t> none(queue(), std::vector<std::uint64_t>(32));
  DeviceArray<RunControl> control = upload_control(queue(), {});
  const auto summarize = [&](const SummaryTarget& target) {
    queue().launch(
        Summarize{control.data(), energy.view(), none.view(), none.view(), {}, 1, target});
  };
  const auto body = [&] { queue().launch(AdvanceTick{control.data(), 1}); };
  std::string refusal;
  const auto loop = queue().capture_loop(
      control.data(), body, [&] { summarize(loop_summary_target(queue())); }, refusal);
  if (!loop) {
    EXPECT_FALSE(queue().can_capture()) << refusal;
    EXPECT_EQ(loop_summary_target(queue()).first, nullptr);
    EXPECT_THROW(post_loop_summary(queue()), InvalidArgument);
    return;
  }
  const Counters before = queue().counters();
  std::deque<std::uint64_t> ticks;
  const auto expect_oldest = [&] {
    const RunSummary summary = queue().wait_summary();
    EXPECT_EQ(summary.control.tick, ticks.front());
    EXPECT_EQ(summary.min_energy, 2.0);
    ticks.pop_front();
  };
  std::uint64_t tick = 0, plain = 0;
  for (int i = 1; i <= launches; ++i) {
    const std::uint64_t iterations = 1 + static_cast<std::uint64_t>(i) % 7;
    queue().replay_loop(*loop, iterations);
    ticks.push_back(tick += iterations);
    if (i % 5 == 0) {  // summaries by a launch come between
      summarize({queue().summary_target()});
      queue().post_summary();
      ++plain;
    } else {
      post_loop_summary(queue());
    }
    if (ticks.size() == 2) expect_oldest();
  }
  EXPECT_THROW((post_loop_summary(queue()), post_loop_summary(queue())), InvalidArgument)
      << "two are in flight";
  expect_oldest();
  EXPECT_EQ(queue().wait_summary().control.tick, tick) << "of the last loop, posted again";
  const Counters used = queue().counters() - before;
  EXPECT_EQ(used.launches, plain);
  EXPECT_EQ(used.graph_launches, static_cast<std::uint64_t>(launches));
}

// A run that has stopped has a summary, too.
TEST_P(QueueOps, ALoopThatDoesNotBeginWritesItsSummary) {
  RunControl stopped;
  stopped.tick = 12;
  stopped.stop = DeviceStop::target;
  const DeviceArray<double> energy(queue(), std::vector<double>(32, 2));
  const DeviceArray<std::uint64_t> none(queue(), std::vector<std::uint64_t>(32));
  DeviceArray<RunControl> control = upload_control(queue(), stopped);
  const auto body = [&] { queue().launch(AdvanceTick{control.data(), 1}); };
  const auto after = [&] {
    queue().launch(Summarize{control.data(),
                             energy.view(),
                             none.view(),
                             none.view(),
                             {},
                             1,
                             loop_summary_target(queue())});
  };
  std::string refusal;
  const auto loop = queue().capture_loop(control.data(), body, after, refusal);
  if (!loop) GTEST_SKIP() << refusal;
  queue().replay_loop(*loop, 5);
  post_loop_summary(queue());
  const RunSummary summary = queue().wait_summary();
  EXPECT_EQ(summary.control.tick, 12u);
  EXPECT_EQ(summary.control.stop, DeviceStop::target);
}

}  // namespace
}  // namespace kiln::test::queue_test
