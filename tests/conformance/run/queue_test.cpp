// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What every backend's queue does beside launching kernels.
#include "kiln/queue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kiln/errors.hpp"

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

}  // namespace
}  // namespace kiln::test::queue_test
