// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/crowding_distance.hpp"

#include <gtest/gtest.h>

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Comparisons; the terms of a point are added in the order of the objectives.
KILN_CONFORMANCE_CASE(CrowdingDistance, exact)

namespace kiln::test::crowding_distance_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = NondominatedRanks::no_front;

std::vector<double> spread(Queue& queue, const Cloud& cloud, const std::vector<std::int32_t>& ranks,
                           const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const ObjectivePoints points = data.points();
  const DeviceArray<std::int32_t> rank(queue, ranks);
  DeviceArray<double> distance(queue, std::vector<double>(idx(cloud.points()), -7));
  DeviceArray<std::byte> scratch(queue,
                                 CrowdingDistance::scratch_bytes(points.groups, cloud.points()));
  const auto control = upload_control(queue, state);
  queue.launch(CrowdingDistance{points.value, points.groups, rank.view(), distance.view(),
                                scratch.view(), control.data(), 0});
  return distance.download();
}

/// Neighbours looked for one by one, as the definition has them.
std::vector<double> by_definition(const Cloud& cloud, const std::vector<std::int32_t>& rank) {
  std::vector<double> all(idx(cloud.points()), 0.0);
  for (std::size_t g = 0; g < cloud.sizes.size(); ++g) {
    const std::int64_t begin = cloud.begin(g), end = begin + cloud.sizes[g];
    for (std::int64_t p = begin; p < end; ++p) {
      if (rank[idx(p)] == none) continue;
      for (std::int64_t k = 0; k < cloud.objectives; ++k) {
        const double x = cloud.at(k, p);
        std::int64_t before = -1, after = -1, members = 0;
        double least = inf, greatest = -inf;
        for (std::int64_t q = begin; q < end; ++q) {
          if (rank[idx(q)] != rank[idx(p)]) continue;
          const double y = cloud.at(k, q);
          ++members;
          least = std::min(least, y);
          greatest = std::max(greatest, y);
          if (q == p) continue;
          const bool is_before = y < x || (y == x && q < p);
          if (is_before && (before < 0 || y >= cloud.at(k, before))) before = q;
          if (!is_before && (after < 0 || y < cloud.at(k, after))) after = q;
        }
        if (members <= 2) all[idx(p)] = inf;
        if (!(least < greatest)) continue;
        if (before < 0 || after < 0) {
          all[idx(p)] = inf;
        } else if (greatest - least < inf) {
          all[idx(p)] += (cloud.at(k, after) - cloud.at(k, before)) / (greatest - least);
        }
      }
    }
  }
  return all;
}

std::vector<std::int32_t> some_ranks(const Cloud& cloud, std::int32_t fronts, std::uint64_t seed) {
  TestRandom random(seed);
  std::vector<std::int32_t> rank;
  for (std::int64_t p = 0; p < cloud.points(); ++p) {
    rank.push_back(random.unit() < 0.05 ? none
                                        : static_cast<std::int32_t>(random.between(0, fronts - 1)));
  }
  return rank;
}

class CrowdingDistanceKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CrowdingDistanceKernel);

TEST_P(CrowdingDistanceKernel, MeasuresByHand) {
  Cloud cloud;
  cloud.sizes = {8};
  //             a front of four | of one | of two | of none
  cloud.value = {0, 1, 3, 4, 7, 5, 5, 1, /**/ 8, 4, 2, 0, 7, 5, 5, 1};
  const std::vector<double> all = spread(queue(), cloud, {0, 0, 0, 0, 1, 2, 2, none});
  EXPECT_EQ(all, (std::vector<double>{inf, 0.75 + 0.75, 0.75 + 0.5, inf, inf, inf, inf, 0}));
}

TEST_P(CrowdingDistanceKernel, KnowsTiesAndRangesThatSayNothing) {
  Cloud cloud;
  cloud.objectives = 3;
  cloud.sizes = {5};
  cloud.value = {1, 2, 1, 2, 1.5, /**/ 6, 6, 6, 6, 6, /**/ -inf, 0, 1, 2, inf};
  const std::vector<double> all = spread(queue(), cloud, {0, 0, 0, 0, 0});
  // By the first objective 0, 2, 4, 1, 3: ties by column. The third one spans too much.
  EXPECT_EQ(all, (std::vector<double>{inf, 0.5, 0.5, inf, inf}));
}

TEST_P(CrowdingDistanceKernel, MatchesTheDefinitionAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 2, 3, 31, 32, 33, 257, 1000, 1024, 1025, 2500}) {
    for (const std::int64_t objectives : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(size) + " x " + std::to_string(objectives));
      const CloudStyle style{seed % 2 == 0 ? 20 : 0, 0.1, 0, 0};
      const Cloud cloud = make_cloud(objectives, {size}, style, seed);
      const auto rank = some_ranks(cloud, 1 + static_cast<std::int32_t>(seed % 4), seed);
      ++seed;
      ASSERT_EQ(bits_of(spread(queue(), cloud, rank)), bits_of(by_definition(cloud, rank)));
    }
  }
}

TEST_P(CrowdingDistanceKernel, KeepsGroupsApart) {
  for (const auto& sizes :
       {std::vector<std::int64_t>(60, 50), std::vector<std::int64_t>{3, 0, 1200, 32, 1, 65, 0}}) {
    const Cloud cloud = make_cloud(3, sizes, {8, 0, 0, 0}, sizes.size());
    const auto rank = some_ranks(cloud, 3, 2);
    EXPECT_EQ(bits_of(spread(queue(), cloud, rank)), bits_of(by_definition(cloud, rank)));
  }
}

TEST_P(CrowdingDistanceKernel, MatchesCpuOnALargePopulation) {
  const Cloud cloud = make_cloud(3, {20011}, {}, 4);
  const auto rank = some_ranks(cloud, 50, 4);
  EXPECT_EQ(bits_of(spread(queue(), cloud, rank)), bits_of(spread(cpu_queue(), cloud, rank)));
}

TEST_P(CrowdingDistanceKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  for (const std::int64_t size : {5, 1100}) {
    const Cloud cloud = make_cloud(2, {size}, {}, 1);
    EXPECT_EQ(spread(queue(), cloud, some_ranks(cloud, 2, 1), stopped),
              std::vector<double>(idx(size), -7));
  }
}

}  // namespace
}  // namespace kiln::test::crowding_distance_test
