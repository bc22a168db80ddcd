// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/hypervolume.hpp"

#include <gtest/gtest.h>

#include <set>

#include "kiln/errors.hpp"

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Sums in an order of the backend's own; samples are named, their counts the same.
KILN_CONFORMANCE_CASE(Hypervolume, reordered)

namespace kiln::test::hypervolume_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Volumes {
  std::vector<double> volume, half_width, contribution;
};

struct Options {
  bool contributions = false;
  std::uint64_t samples = 1 << 14;
  std::uint64_t key = 3;
  RunControl control = {};
};

Volumes measure(Queue& queue, const Cloud& cloud, const std::vector<double>& reference,
                const Options& options = {}) {
  const DeviceCloud data(queue, cloud);
  const ObjectivePoints points = data.points();
  const auto groups = idx(points.groups.groups);
  const DeviceArray<double> at(queue, reference);
  DeviceArray<double> volume(queue, std::vector<double>(groups, -7));
  DeviceArray<double> half_width(queue, std::vector<double>(groups, -7));
  const std::size_t contributions = options.contributions ? idx(cloud.points()) : 0;
  DeviceArray<double> contribution(queue, std::vector<double>(contributions, -7));
  DeviceArray<std::byte> scratch(
      queue, Hypervolume::scratch_bytes(points.groups, cloud.points(), cloud.objectives));
  const auto control = upload_control(queue, options.control);
  queue.launch(Hypervolume{points.value, points.groups, at.view(), volume.view(), half_width.view(),
                           contribution.view(), scratch.view(), options.samples, options.key,
                           control.data(), 0});
  return {volume.download(), half_width.download(), contribution.download()};
}

/// The volume cell by cell: of the grid that all coordinates make, the cells that a point
/// dominates. Without point `without`, if that is not negative.
double by_cells(const Cloud& cloud, std::size_t group, const std::vector<double>& reference,
                std::int64_t without = -1) {
  const std::int64_t begin = cloud.begin(group), end = begin + cloud.sizes[group];
  std::vector<std::vector<double>> cuts;
  for (std::int64_t k = 0; k < cloud.objectives; ++k) {
    std::set<double> all{reference[idx(k)]};
    for (std::int64_t p = begin; p < end; ++p) {
      if (cloud.at(k, p) < reference[idx(k)]) all.insert(cloud.at(k, p));
    }
    cuts.emplace_back(all.begin(), all.end());
  }
  double volume = 0;
  std::vector<std::size_t> cell(cuts.size(), 0);
  for (;;) {
    double size = 1;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      size *= cell[k] + 1 < cuts[k].size() ? cuts[k][cell[k] + 1] - cuts[k][cell[k]] : 0.0;
    }
    bool dominated = false;
    for (std::int64_t p = begin; p < end && size > 0 && !dominated; ++p) {
      if (p == without) continue;
      dominated = true;
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        dominated &= cloud.at(static_cast<std::int64_t>(k), p) <= cuts[k][cell[k]];
      }
    }
    if (dominated) volume += size;
    std::size_t k = 0;
    while (k < cell.size() && ++cell[k] >= cuts[k].size()) cell[k++] = 0;
    if (k == cell.size()) return volume;
  }
}

/// Points of the positive part of the unit sphere.
Cloud sphere(std::int64_t objectives, std::int64_t size, std::uint64_t seed) {
  Cloud cloud = make_cloud(objectives, {size}, {}, seed);
  for (std::int64_t p = 0; p < size; ++p) {
    double square = 0;
    for (std::int64_t k = 0; k < objectives; ++k) square += cloud.at(k, p) * cloud.at(k, p);
    for (std::int64_t k = 0; k < objectives; ++k) cloud.at(k, p) /= std::sqrt(square);
  }
  return cloud;
}

class HypervolumeKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HypervolumeKernel);

TEST_P(HypervolumeKernel, MeasuresByHand) {
  Cloud plane;
  plane.sizes = {4};
  plane.value = {1, 2, 3, 2, /**/ 3, 2, 1, 3};  // a staircase, and a point behind it
  const Volumes flat = measure(queue(), plane, {4, 4}, {true});
  EXPECT_EQ(flat.volume, (std::vector<double>{6}));
  EXPECT_EQ(flat.half_width, (std::vector<double>{0}));
  EXPECT_EQ(flat.contribution, (std::vector<double>{1, 1, 1, 0}));

  Cloud space;
  space.objectives = 3;
  space.sizes = {3};
  space.value = {0, 1, 1, /**/ 1, 0, 1, /**/ 1, 1, 0};
  const Volumes solid = measure(queue(), space, {2, 2, 2}, {true});
  EXPECT_EQ(solid.volume, (std::vector<double>{4}));  // three bars of two cubes share one
  EXPECT_EQ(solid.contribution, (std::vector<double>{1, 1, 1}));

  Cloud line;
  line.objectives = 1;
  line.sizes = {3};
  line.value = {3, 1, 1.5};
  EXPECT_EQ(measure(queue(), line, {2}, {true}).volume, (std::vector<double>{1}));
  EXPECT_EQ(measure(queue(), line, {2}, {true}).contribution, (std::vector<double>{0, 0.5, 0}));
}

TEST_P(HypervolumeKernel, IgnoresPointsBeyondTheReference) {
  for (std::int64_t objectives = 1; objectives <= 6; ++objectives) {
    Cloud cloud = make_cloud(objectives, {5}, {}, 1);
    for (std::int64_t k = 0; k < objectives; ++k) {
      cloud.at(k, 0) = 0.5;
      cloud.at(k, 1) = 0.5;  // twice the same
      for (std::int64_t p = 2; p < 5; ++p) cloud.at(k, p) = 0.1;
    }
    cloud.at(0, 2) = 1;
    cloud.at(objectives - 1, 3) = nan;
    cloud.at(objectives / 2, 4) = inf;
    const Options options{objectives <= Hypervolume::max_contributions};
    const Volumes all = measure(queue(), cloud, std::vector<double>(6, 1.0), options);
    EXPECT_EQ(all.volume, (std::vector<double>{std::pow(0.5, objectives)})) << objectives;
    for (const double lost : all.contribution) EXPECT_EQ(lost, 0);
    const std::vector<double> low(6, 0.05);
    EXPECT_EQ(measure(queue(), cloud, low).volume, (std::vector<double>{0}));
  }
}

TEST_P(HypervolumeKernel, MatchesTheCellsOfTheGrid) {
  std::uint64_t seed = 1;
  for (std::int64_t objectives = 1; objectives <= 4; ++objectives) {
    const bool contributions = objectives <= Hypervolume::max_contributions;
    for (const std::int64_t size : {1, 2, 7, 14}) {
      const CloudStyle style{seed % 2 == 0 ? 4 : 0, 0.1, 0.02, 0};
      const Cloud cloud = make_cloud(objectives, {size, 3, size, 0, 9}, style, seed++);
      const std::vector<double> reference(4, style.levels > 0 ? 3.0 : 0.9);
      const Volumes all = measure(queue(), cloud, reference, {contributions});
      for (std::size_t g = 0; g < cloud.sizes.size(); ++g) {
        const double whole = by_cells(cloud, g, reference);
        EXPECT_NEAR(all.volume[g], whole, double_tolerance * whole) << objectives << " " << size;
        for (std::int64_t p = cloud.begin(g); contributions && p < cloud.begin(g) + cloud.sizes[g];
             ++p) {
          const double lost = whole - by_cells(cloud, g, reference, p);
          EXPECT_NEAR(all.contribution[idx(p)], lost, double_tolerance * (1 + whole)) << p;
        }
      }
    }
  }
}

// The volume of the points of a front z = 3 - x - y on a grid, in whole cells.
TEST_P(HypervolumeKernel, CountsCellsBelowALargeFront) {
  Cloud cloud;
  cloud.objectives = 3;
  const std::int64_t n = 60;
  std::vector<double> of[3];
  for (std::int64_t x = 0; x < n; ++x) {
    for (std::int64_t y = 0; x + y < n; ++y) {
      of[0].push_back(static_cast<double>(x));
      of[1].push_back(static_cast<double>(y));
      of[2].push_back(static_cast<double>(n - 1 - x - y));
    }
  }
  for (const auto& one : of) cloud.value.insert(cloud.value.end(), one.begin(), one.end());
  cloud.sizes = {static_cast<std::int64_t>(of[0].size())};
  const Volumes all = measure(queue(), cloud, {n, n, n}, {true});
  // Not dominated: cells (i, j, k) with i + j + k < n - 1.
  EXPECT_EQ(all.volume[0], static_cast<double>(n * n * n - (n - 1) * n * (n + 1) / 6));
  EXPECT_EQ(all.contribution, std::vector<double>(of[0].size(), 1));
}

TEST_P(HypervolumeKernel, MatchesCpuOnLargeSets) {
  for (std::int64_t objectives = 2; objectives <= 4; ++objectives) {
    const std::int64_t size = objectives == 4 ? 300 : 2500;
    const Cloud cloud = sphere(objectives, size, 5);
    const Options options{objectives <= Hypervolume::max_contributions};
    const std::vector<double> reference(4, 1.1);
    const Volumes here = measure(queue(), cloud, reference, options);
    const Volumes there = measure(cpu_queue(), cloud, reference, options);
    EXPECT_NEAR(here.volume[0], there.volume[0], double_tolerance * there.volume[0]);
    double sum = 0;
    for (std::size_t p = 0; p < here.contribution.size(); ++p) {
      EXPECT_NEAR(here.contribution[p], there.contribution[p], double_tolerance);
      sum += here.contribution[p];
    }
    EXPECT_LT(sum, here.volume[0]);
  }
}

// Sets of six points, whose volumes are known cell by cell.
TEST_P(HypervolumeKernel, SamplesWithinItsInterval) {
  int inside = 0, cases = 0;
  for (const std::int64_t objectives : {5, 6}) {
    const Cloud cloud = make_cloud(objectives, std::vector<std::int64_t>(20, 6), {}, 8);
    const std::vector<double> reference(6, 1.1);
    const Volumes all = measure(queue(), cloud, reference, {false, 1 << 14});
    const Volumes more = measure(queue(), cloud, reference, {false, 1 << 16});
    for (std::size_t g = 0; g < 20; ++g) {
      const double whole = by_cells(cloud, g, reference);
      EXPECT_LT(all.half_width[g], 0.1 * whole);
      EXPECT_LT(more.half_width[g], all.half_width[g]);
      EXPECT_NEAR(all.volume[g], whole, 3 * all.half_width[g]);
      inside += std::abs(all.volume[g] - whole) <= all.half_width[g] ? 1 : 0;
      ++cases;
    }
  }
  // 95 % of 40: fewer than 32 has probability below 4e-4.
  EXPECT_GE(inside, 32) << "of " << cases;
}

TEST_P(HypervolumeKernel, CountsTheSameSamplesEverywhere) {
  const Cloud cloud = sphere(10, 100, 3);
  const std::vector<double> reference(10, 1.1);
  const Volumes here = measure(queue(), cloud, reference, {false, 1 << 13});
  const Volumes there = measure(cpu_queue(), cloud, reference, {false, 1 << 13});
  EXPECT_EQ(bits_of(here.volume), bits_of(there.volume));
  EXPECT_EQ(bits_of(here.half_width), bits_of(there.half_width));
  const Volumes other = measure(queue(), cloud, reference, {false, 1 << 13, 4});
  EXPECT_NE(bits_of(here.volume), bits_of(other.volume));
}

TEST_P(HypervolumeKernel, RefusesWhatItCannotMeasure) {
  const Cloud cloud = make_cloud(4, {3}, {}, 1);
  EXPECT_THROW(measure(queue(), cloud, std::vector<double>(4, 1.0), {true}), InvalidArgument);
}

TEST_P(HypervolumeKernel, DoesNothingOnceStopped) {
  Options stopped;
  stopped.control.stop = DeviceStop::target;
  for (const std::int64_t objectives : {2, 3, 7}) {
    const Cloud cloud = make_cloud(objectives, {5}, {}, 1);
    EXPECT_EQ(measure(queue(), cloud, std::vector<double>(7, 1.0), stopped).volume,
              (std::vector<double>{-7}));
  }
}

}  // namespace
}  // namespace kiln::test::hypervolume_test
