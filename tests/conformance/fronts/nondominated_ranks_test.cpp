// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Comparisons and counts.
KILN_CONFORMANCE_CASE(NondominatedRanks, exact)

namespace kiln::test::nondominated_ranks_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t none = NondominatedRanks::no_front;

struct Ranks {
  std::vector<std::int32_t> rank, fronts, unranked;
  friend bool operator==(const Ranks&, const Ranks&) = default;
};

Ranks rank(Queue& queue, const Cloud& cloud, const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const auto groups = static_cast<std::int64_t>(cloud.sizes.size());
  DeviceArray<std::int32_t> rank(queue, std::vector<std::int32_t>(idx(cloud.points()), -7));
  DeviceArray<std::int32_t> fronts(queue, std::vector<std::int32_t>(idx(groups), -7));
  DeviceArray<std::int32_t> unranked(queue, std::vector<std::int32_t>(idx(groups), -7));
  const ObjectivePoints points = data.points();
  const std::int64_t bytes =
      NondominatedRanks::scratch_bytes(points.groups, cloud.points(), cloud.objectives);
  DeviceArray<std::byte> scratch(queue, std::vector<std::byte>(idx(bytes), std::byte{0x5A}));
  const auto control = upload_control(queue, state);
  queue.launch(NondominatedRanks{points, rank.view(), fronts.view(), unranked.view(),
                                 scratch.view(), control.data(), 0});
  return {rank.download(), fronts.download(), unranked.download()};
}

/// Fronts as they are defined: those that nobody left dominates are taken away, again and again.
Ranks by_removal(const Cloud& cloud) {
  Ranks all{std::vector<std::int32_t>(idx(cloud.points()), none), {}, {}};
  for (std::size_t g = 0; g < cloud.sizes.size(); ++g) {
    std::vector<std::int64_t> left;
    std::int32_t without = 0, front = 0;
    for (std::int64_t p = cloud.begin(g); p < cloud.begin(g) + cloud.sizes[g]; ++p) {
      if (cloud.has_nan(p)) {
        ++without;
      } else {
        left.push_back(p);
      }
    }
    for (; !left.empty(); ++front) {
      std::vector<std::int64_t> rest;
      for (const std::int64_t p : left) {
        const bool beaten = std::any_of(left.begin(), left.end(),
                                        [&](std::int64_t q) { return cloud.dominates(q, p); });
        if (beaten) {
          rest.push_back(p);
        } else {
          all.rank[idx(p)] = front;
        }
      }
      left = rest;
    }
    all.fronts.push_back(front);
    all.unranked.push_back(without);
  }
  return all;
}

class NondominatedRanksKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(NondominatedRanksKernel);

TEST_P(NondominatedRanksKernel, RanksByHand) {
  Cloud cloud;
  cloud.sizes = {6};
  cloud.value = {1, 2, 3, 2, 3, 3, /**/ 3, 2, 1, 3, 2, 3};

  const Ranks all = rank(queue(), cloud);

  EXPECT_EQ(all.rank, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 2}));
  EXPECT_EQ(all.fronts, (std::vector<std::int32_t>{3}));
}

TEST_P(NondominatedRanksKernel, PutsInfeasiblePointsBehindAndNanOnNoFront) {
  Cloud cloud;
  cloud.sizes = {9};
  cloud.value = {0,    -0.0, 1,   1, -9, -9,   -8, nan, -1,  //
                 -0.0, 0,    inf, 1, -9, -inf, -8, 0,   0};
  cloud.violation = {0, 0, -1, 0, 0.5, 0.25, 0.5, 0, nan};

  const Ranks all = rank(queue(), cloud);

  EXPECT_EQ(all.rank, (std::vector<std::int32_t>{0, 0, 2, 1, 4, 3, 4, none, none}));
  EXPECT_EQ(all.fronts, (std::vector<std::int32_t>{5}));
  EXPECT_EQ(all.unranked, (std::vector<std::int32_t>{2}));
}

// 10,000 small populations with everything that ties, in launches of a hundred.
TEST_P(NondominatedRanksKernel, MatchesRemovalOnTenThousandCases) {
  TestRandom random(1);
  for (int batch = 0; batch < 100; ++batch) {
    const std::int64_t objectives = 1 + batch % 8;
    CloudStyle style;
    style.levels = batch % 3 == 0 ? 0 : 2 + batch % 7;
    style.share_copies = batch % 2 == 0 ? 0.3 : 0.0;
    style.share_nan = batch % 5 == 0 ? 0.05 : 0.0;
    style.share_infeasible = batch % 7 == 0 ? 0.4 : 0.0;
    std::vector<std::int64_t> sizes;
    for (int g = 0; g < 100; ++g) sizes.push_back(random.between(0, g % 10 == 0 ? 70 : 33));
    const Cloud cloud = make_cloud(objectives, sizes, style, idx(batch));
    ASSERT_EQ(rank(queue(), cloud), by_removal(cloud)) << "batch " << batch;
  }
}

TEST_P(NondominatedRanksKernel, MatchesRemovalAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 31, 32, 33, 255, 257, 1000, 1024, 1025, 1153, 1500}) {
    for (const std::int64_t objectives : {1, 2, 3, 5, 7}) {
      SCOPED_TRACE(std::to_string(size) + " x " + std::to_string(objectives));
      const CloudStyle style{seed % 2 == 0 ? 12 : 0, 0.05, 0.01, seed % 3 == 0 ? 0.3 : 0.0};
      const Cloud cloud = make_cloud(objectives, {size}, style, seed++);
      ASSERT_EQ(rank(queue(), cloud), by_removal(cloud));
    }
  }
}

TEST_P(NondominatedRanksKernel, RanksLargeGroupsSideBySide) {
  for (const std::int64_t objectives : {1, 2, 3, 6}) {
    const CloudStyle style{40, 0.1, 0.02, 0.2};
    for (const auto& sizes : {std::vector<std::int64_t>{1300, 1300, 1300},
                              std::vector<std::int64_t>{2100, 0, 5, 1024, 1, 1500}}) {
      const Cloud cloud = make_cloud(objectives, sizes, style, sizes.size());
      ASSERT_EQ(rank(queue(), cloud), by_removal(cloud)) << objectives;
    }
  }
}

// Where every point dominates the next, there are as many fronts as points.
TEST_P(NondominatedRanksKernel, FollowsTheLongestChain) {
  for (const std::int64_t size : {100, 3000}) {
    for (const std::int64_t objectives : {1, 2, 3, 4, 9}) {
      Cloud cloud;
      cloud.objectives = objectives;
      cloud.sizes = {size};
      cloud.value.resize(idx(objectives * size));
      std::vector<std::int32_t> expected;
      for (std::int64_t p = 0; p < size; ++p) {
        const std::int64_t place = p * 7 % size;  // 7 divides neither size
        expected.push_back(static_cast<std::int32_t>(place));
        for (std::int64_t k = 0; k < objectives; ++k) {
          cloud.at(k, p) = static_cast<double>(place / (k + 1));
        }
      }
      EXPECT_EQ(rank(queue(), cloud).rank, expected) << size << " x " << objectives;
    }
  }
}

TEST_P(NondominatedRanksKernel, HoldsOneFrontAndOnePointTogether) {
  Cloud front = make_cloud(3, {2000}, {}, 3);  // on a plane, where none dominates another
  for (std::int64_t p = 0; p < 2000; ++p) front.at(2, p) = 4 - front.at(0, p) - front.at(1, p);
  EXPECT_EQ(rank(queue(), front).rank, std::vector<std::int32_t>(2000, 0));

  Cloud equal;
  equal.sizes = {3000};
  equal.value.assign(6000, 0.5);
  EXPECT_EQ(rank(queue(), equal).rank, std::vector<std::int32_t>(3000, 0));

  Cloud unusable = equal;
  unusable.value.assign(6000, nan);
  const Ranks all = rank(queue(), unusable);
  EXPECT_EQ(all.rank, std::vector<std::int32_t>(3000, none));
  EXPECT_EQ(all.fronts, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(all.unranked, (std::vector<std::int32_t>{3000}));
}

TEST_P(NondominatedRanksKernel, MatchesCpuOnLargePopulations) {
  for (const std::int64_t objectives : {2, 3, 5}) {
    const CloudStyle style{0, 0.01, 0.001, objectives == 3 ? 0.1 : 0.0};
    const Cloud cloud = make_cloud(objectives, {20011}, style, 9);
    EXPECT_EQ(rank(queue(), cloud), rank(cpu_queue(), cloud)) << objectives;
  }
}

TEST_P(NondominatedRanksKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  for (const std::int64_t size : {5, 1500}) {
    const Ranks all = rank(queue(), make_cloud(2, {size}, {}, 1), stopped);
    EXPECT_EQ(all.rank, std::vector<std::int32_t>(idx(size), -7));
    EXPECT_EQ(all.fronts, (std::vector<std::int32_t>{-7}));
  }
}

}  // namespace
}  // namespace kiln::test::nondominated_ranks_test
