// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_points.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Exact arithmetic.
KILN_CONFORMANCE_CASE(FrontPoints, exact)

namespace kiln::test::front_points_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t none = NondominatedRanks::no_front;

struct Members {
  std::int64_t objectives = 2;
  PointColumns columns;
  std::int64_t count = 0;
  std::vector<double> value, violation, ideal, nadir;
  std::vector<std::int32_t> rank;
};

std::vector<double> gather(Queue& queue, const Members& in, const RunControl& state = {}) {
  const DeviceArray<double> value(queue, in.value), violation(queue, in.violation);
  const DeviceArray<double> ideal(queue, in.ideal), nadir(queue, in.nadir);
  const DeviceArray<std::int32_t> rank(queue, in.rank);
  DeviceArray<double> front(queue, std::vector<double>(idx(in.objectives * in.count), -7));
  const auto control = upload_control(queue, state);
  const auto columns = static_cast<std::int64_t>(in.rank.size());
  queue.launch(FrontPoints{{value.data(), in.objectives, columns, columns},
                           violation.view(),
                           rank.view(),
                           in.columns,
                           ideal.view(),
                           nadir.view(),
                           {front.data(), in.objectives, in.count, in.count},
                           control.data(),
                           0});
  return front.download();
}

/// Two groups of two members behind one other point each.
Members two_groups() {
  return {2,
          {2, 3, 1},
          4,
          {-9, 3, 4, -9, 5, 2, /**/ -9, 9, 1, -9, 5, 13},
          {0, 0, -2, 0, 0, 0},
          {2, 1},
          {4, 9},
          {0, 0, 0, 0, 0, 0}};
}

class FrontPointsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(FrontPointsKernel);

TEST_P(FrontPointsKernel, TakesMembersInUnitsOfTheBox) {
  EXPECT_EQ(gather(queue(), two_groups()), (std::vector<double>{0.5, 1, 1.5, 0, 1, 0, 0.5, 1.5}));
}

TEST_P(FrontPointsKernel, LeavesOutWhatIsOnNoFirstFrontOrNotFeasible) {
  Members in = two_groups();
  in.rank = {0, 1, 0, 0, none, 0};
  EXPECT_EQ(gather(queue(), in), (std::vector<double>{inf, 1, inf, 0, inf, 0, inf, 1.5}));
  in.rank.assign(6, 0);
  in.violation = {0, 1e-9, -1, 0, nan, -0.0};
  EXPECT_EQ(gather(queue(), in), (std::vector<double>{inf, 1, inf, 0, inf, 0, inf, 1.5}));
}

TEST_P(FrontPointsKernel, MatchesCpuOnALargePopulation) {
  TestRandom random(2);
  Members in{4, {1000, 1500, 250}, 20000, {}, {}, {0, 1, 2, 3}, {5, 7, 9, 11}, {}};
  for (int i = 0; i < 30000; ++i) {
    in.violation.push_back(random.unit() - 0.7);
    in.rank.push_back(static_cast<std::int32_t>(random.between(0, 1)));
  }
  for (int i = 0; i < 120000; ++i) in.value.push_back(10 * random.unit());
  const std::vector<double> front = gather(queue(), in);
  EXPECT_EQ(bits_of(front), bits_of(gather(cpu_queue(), in)));
  for (std::int64_t member = 0; member < 20000; ++member) {
    const auto column = idx(member / 1000 * 1500 + 250 + member % 1000);
    const bool counts = in.rank[column] == 0 && in.violation[column] <= 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double low = in.ideal[k];
      const double x = (in.value[k * 30000 + column] - low) / (in.nadir[k] - low);
      ASSERT_EQ(front[k * 20000 + idx(member)], counts ? x : inf);
    }
  }
}

TEST_P(FrontPointsKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(gather(queue(), two_groups(), stopped), std::vector<double>(8, -7));
}

}  // namespace
}  // namespace kiln::test::front_points_test
