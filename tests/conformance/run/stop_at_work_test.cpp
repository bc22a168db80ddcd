// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/stop_at_work.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Whole numbers.
KILN_CONFORMANCE_CASE(StopAtWork, exact)

namespace kiln::test::stop_at_work_test {
namespace {

class StopAtWorkKernel : public DeviceTest {
 protected:
  RunControl after(const std::vector<std::uint64_t>& counts, std::uint64_t limit,
                   const RunControl& before = {}) const {
    const DeviceArray<std::uint64_t> work(queue(), counts);
    DeviceArray<RunControl> control = upload_control(queue(), before);
    queue().launch(StopAtWork{work.view(), limit, control.data()});
    return control.download().front();
  }
};
KILN_ON_EVERY_BACKEND(StopAtWorkKernel);

TEST_P(StopAtWorkKernel, StopsWhereTheSumReachesTheLimit) {
  for (const std::int64_t size : {0, 1, 31, 32, 33, 1023, 1024, 1025, 5000}) {
    std::vector<std::uint64_t> counts(idx(size));
    TestRandom random(idx(size));
    for (std::uint64_t& count : counts) {
      count = static_cast<std::uint64_t>(random.between(0, 1000));
    }
    const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});

    EXPECT_EQ(after(counts, sum + 1).stop, DeviceStop::none) << size;
    EXPECT_EQ(after(counts, sum).stop, DeviceStop::work_limit) << size;
    if (sum == 0) continue;
    EXPECT_EQ(after(counts, sum - 1).stop, DeviceStop::work_limit) << size;
  }
}

// The last count of all threads alone.
TEST_P(StopAtWorkKernel, CountsBeyond32Bits) {
  std::vector<std::uint64_t> counts(2049, 0);
  counts.back() = (std::uint64_t{1} << 40) + 3;

  EXPECT_EQ(after(counts, (std::uint64_t{1} << 40) + 4).stop, DeviceStop::none);
  EXPECT_EQ(after(counts, (std::uint64_t{1} << 40) + 3).stop, DeviceStop::work_limit);
}

TEST_P(StopAtWorkKernel, EndsARunThatIsOnlyHeld) {
  const DeviceArray<std::uint64_t> work(queue(), std::vector<std::uint64_t>{5});
  RunControl before;
  before.stop = DeviceStop::held;
  DeviceArray<RunControl> control = upload_control(queue(), before);
  queue().launch(StopAtWork{work.view(), 6, control.data()});
  EXPECT_EQ(control.download().front().stop, DeviceStop::held);
  queue().launch(StopAtWork{work.view(), 5, control.data()});
  EXPECT_EQ(control.download().front().stop, DeviceStop::work_limit);
}

TEST_P(StopAtWorkKernel, ChangesNothingElse) {
  RunControl before;
  before.tick = 4;
  before.step = 9;
  before.best_key = 77;

  const RunControl stopped = after({5, 6}, 11, before);
  EXPECT_EQ(stopped.tick, 4u);
  EXPECT_EQ(stopped.step, 9u);
  EXPECT_EQ(stopped.best_key, 77u);

  for (const DeviceStop reason : {DeviceStop::target, DeviceStop::step_limit}) {
    before.stop = reason;
    EXPECT_EQ(after({5, 6}, 11, before).stop, reason);
  }
}

}  // namespace
}  // namespace kiln::test::stop_at_work_test
