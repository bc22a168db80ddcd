// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/mark_duplicates.hpp"

#include <gtest/gtest.h>

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Comparisons.
KILN_CONFORMANCE_CASE(MarkDuplicates, exact)

namespace kiln::test::mark_duplicates_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t none = NondominatedRanks::no_front;
using Ranks = std::vector<std::int32_t>;

Ranks mark(Queue& queue, const Cloud& cloud, const Ranks& before, const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const ObjectivePoints points = data.points();
  DeviceArray<std::int32_t> rank(queue, before);
  const auto bytes = idx(MarkDuplicates::scratch_bytes(points.groups));
  DeviceArray<std::byte> scratch(queue, std::vector<std::byte>(bytes, std::byte{0x5A}));
  const auto control = upload_control(queue, state);
  queue.launch(MarkDuplicates{points, rank.view(), scratch.view(), control.data(), 0});
  return rank.download();
}

bool same(const Cloud& cloud, std::int64_t a, std::int64_t b) {
  bool all = cloud.violation_of(a) == cloud.violation_of(b);
  for (std::int64_t k = 0; k < cloud.objectives; ++k) all &= cloud.at(k, a) == cloud.at(k, b);
  return all;
}

/// Each point against all before it in its group.
Ranks by_definition(const Cloud& cloud, const Ranks& before) {
  Ranks rank = before;
  for (std::size_t g = 0; g < cloud.sizes.size(); ++g) {
    const std::int64_t begin = cloud.begin(g);
    for (std::int64_t p = begin; p < begin + cloud.sizes[g]; ++p) {
      for (std::int64_t q = begin; q < p; ++q) {
        if (before[idx(q)] != none && same(cloud, p, q)) rank[idx(p)] = none;
      }
    }
  }
  return rank;
}

/// Ranks that say which column they are from; points with a NaN and some others are on no front.
Ranks some_ranks(const Cloud& cloud, std::uint64_t seed) {
  TestRandom random(seed);
  Ranks rank;
  for (std::int64_t p = 0; p < cloud.points(); ++p) {
    const bool out = cloud.has_nan(p) || random.unit() < 0.1;
    rank.push_back(out ? none : static_cast<std::int32_t>(p));
  }
  return rank;
}

class MarkDuplicatesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MarkDuplicatesKernel);

TEST_P(MarkDuplicatesKernel, MarksByHand) {
  Cloud cloud;
  cloud.sizes = {9};
  //                   equal to the first      | another violation | an infinity twice
  cloud.value = {0.0, -0.0, 1, 0.0, 1, 0.0, 0.0, inf, inf,  //
                 2.0, 2.00, 2, 2.0, 3, 2.0, 2.0, 1.0, 1.0};
  cloud.violation = {0, -0.0, 0, 0, 0, 0.5, -1, 0, 0};
  EXPECT_EQ(mark(queue(), cloud, {4, 5, 6, 4, 7, 8, 4, 1, 1}),
            (Ranks{4, none, 6, none, 7, 8, 4, 1, none}));
}

TEST_P(MarkDuplicatesKernel, LeavesAloneWhatIsOnNoFrontOrNan) {
  Cloud cloud;
  cloud.objectives = 1;
  cloud.sizes = {6};
  cloud.value = {1, 1, 1, nan, nan, 1};
  // The first column of a value is the first one that is on a front; a NaN equals nothing.
  EXPECT_EQ(mark(queue(), cloud, {none, 3, none, 0, 0, 3}), (Ranks{none, 3, none, 0, 0, none}));
}

TEST_P(MarkDuplicatesKernel, MatchesTheDefinitionAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 2, 31, 32, 33, 64, 65, 1000, 1024, 1025, 3000}) {
    for (const std::int64_t objectives : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(size) + " x " + std::to_string(objectives));
      CloudStyle style{0, 0.3, 0.02, seed % 3 == 0 ? 0.4 : 0.0};
      if (seed % 2 == 0) style.levels = 3 + size / 4;
      const Cloud cloud = make_cloud(objectives, {size}, style, seed);
      const Ranks rank = some_ranks(cloud, seed++);
      ASSERT_EQ(mark(queue(), cloud, rank), by_definition(cloud, rank));
    }
  }
}

TEST_P(MarkDuplicatesKernel, KeepsGroupsApart) {
  for (const auto& sizes :
       {std::vector<std::int64_t>(60, 50), std::vector<std::int64_t>{3, 0, 1200, 32, 1, 65, 0}}) {
    const Cloud cloud = make_cloud(2, sizes, {5, 0, 0.01, 0}, sizes.size());
    const Ranks rank = some_ranks(cloud, 2);
    EXPECT_EQ(mark(queue(), cloud, rank), by_definition(cloud, rank));
  }
}

TEST_P(MarkDuplicatesKernel, FindsOnePointInManyCopies) {
  for (const std::int64_t size : {100, 5000}) {
    Cloud cloud;
    cloud.sizes = {size};
    for (std::int64_t i = 0; i < 2 * size; ++i) cloud.value.push_back(i % 2 == 0 ? 0.0 : -0.0);
    Ranks expected(idx(size), none);
    expected[0] = 0;
    EXPECT_EQ(mark(queue(), cloud, Ranks(idx(size), 0)), expected);
  }
}

TEST_P(MarkDuplicatesKernel, MatchesCpuOnALargePopulation) {
  const Cloud cloud = make_cloud(2, {50021}, {300, 0, 0, 0.2}, 4);
  const Ranks rank = some_ranks(cloud, 4), marked = mark(queue(), cloud, rank);
  EXPECT_EQ(marked, mark(cpu_queue(), cloud, rank));
  EXPECT_NE(marked, rank);
}

TEST_P(MarkDuplicatesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  Cloud cloud;
  cloud.sizes = {1100};
  cloud.value.assign(2200, 1.0);
  EXPECT_EQ(mark(queue(), cloud, Ranks(1100, 2), stopped), Ranks(1100, 2));
}

}  // namespace
}  // namespace kiln::test::mark_duplicates_test
