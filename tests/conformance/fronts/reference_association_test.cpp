// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_association.hpp"

#include <gtest/gtest.h>

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Exact arithmetic; sums over the objectives in their order.
KILN_CONFORMANCE_CASE(ReferenceAssociation, exact)

namespace kiln::test::reference_association_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

struct Lines {
  std::int64_t count = 0;
  std::vector<double> direction;     ///< [objectives][count]
  std::vector<double> ideal, nadir;  ///< [objectives][groups]
};

struct Nearest {
  std::vector<std::int32_t> line;
  std::vector<double> distance;
};

Nearest associate(Queue& queue, const Cloud& cloud, const Lines& lines,
                  const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const ObjectivePoints points = data.points();
  const std::int64_t m = cloud.objectives, groups = points.groups.groups;
  const DeviceArray<double> direction(queue, lines.direction), ideal(queue, lines.ideal);
  const DeviceArray<double> nadir(queue, lines.nadir);
  DeviceArray<std::int32_t> line(queue, std::vector<std::int32_t>(idx(cloud.points()), -7));
  DeviceArray<double> distance(queue, std::vector<double>(idx(cloud.points()), -7));
  const auto control = upload_control(queue, state);
  queue.launch(ReferenceAssociation{points.value,
                                    points.groups,
                                    {ideal.data(), m, groups, groups},
                                    {nadir.data(), m, groups, groups},
                                    {direction.data(), m, lines.count, lines.count},
                                    line.view(),
                                    distance.view(),
                                    control.data(),
                                    0});
  return {line.download(), distance.download()};
}

Lines some_lines(std::int64_t objectives, std::int64_t count, std::size_t groups,
                 std::uint64_t seed) {
  TestRandom random(seed);
  Lines lines{count, {}, {}, {}};
  for (std::int64_t i = 0; i < objectives * count; ++i) lines.direction.push_back(random.unit());
  for (std::size_t i = 0; i < idx(objectives) * groups; ++i) {
    lines.ideal.push_back(-random.unit());
    lines.nadir.push_back(1 + random.unit());
  }
  return lines;
}

/// Distance to every line in long double, by the angle between point and line.
void expect_nearest(const Cloud& cloud, const Lines& lines, const Nearest& all) {
  const std::size_t groups = cloud.sizes.size();
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::int64_t p = cloud.begin(g); p < cloud.begin(g) + cloud.sizes[g]; ++p) {
      long double nearest = inf, of_chosen = inf, size = 0;
      for (std::int64_t which = 0; which < lines.count; ++which) {
        long double xx = 0, ww = 0, xw = 0;
        for (std::int64_t k = 0; k < cloud.objectives; ++k) {
          const std::size_t at = idx(k) * groups + g;
          const long double x = (static_cast<long double>(cloud.at(k, p)) - lines.ideal[at]) /
                                (static_cast<long double>(lines.nadir[at]) - lines.ideal[at]);
          const long double w = lines.direction[idx(k * lines.count + which)];
          xx += x * x;
          ww += w * w;
          xw += x * w;
        }
        const long double distance = std::sqrt(std::max(0.0L, xx - xw * xw / ww));
        nearest = std::min(nearest, distance);
        if (which == all.line[idx(p)]) of_chosen = distance;
        size = std::sqrt(xx);
      }
      const auto tolerance = static_cast<double>(size) * double_tolerance;
      ASSERT_NEAR(static_cast<double>(of_chosen), static_cast<double>(nearest), 1e-9) << p;
      ASSERT_NEAR(all.distance[idx(p)], static_cast<double>(nearest), 1e3 * tolerance) << p;
    }
  }
}

class ReferenceAssociationKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReferenceAssociationKernel);

TEST_P(ReferenceAssociationKernel, AssociatesByHand) {
  Cloud cloud;
  cloud.sizes = {4};
  cloud.value = {3, 1, 2, 1, /**/ 1, 5, 3, 1};
  // With ideal (1, 1) and nadir (3, 5): (1, 0), (0, 1), (0.5, 0.5), (0, 0).
  const Lines lines{3, {0, 2, 1, /**/ 7, 2, 0}, {1, 1}, {3, 5}};

  const Nearest all = associate(queue(), cloud, lines);

  EXPECT_EQ(all.line, (std::vector<std::int32_t>{2, 0, 1, 0}));
  EXPECT_EQ(all.distance, (std::vector<double>{0, 0, 0, 0}));
}

TEST_P(ReferenceAssociationKernel, TakesTheFirstOfEqualLines) {
  Cloud cloud;
  cloud.sizes = {2};
  cloud.value = {0.5, 4, /**/ 0.5, 3};
  Lines lines{100, std::vector<double>(200, 0.0), {0, 0}, {1, 1}};
  for (std::size_t i = 0; i < 100; ++i) lines.direction[i + (i % 2) * 100] = 1;  // axes in turn
  const Nearest all = associate(queue(), cloud, lines);
  EXPECT_EQ(all.line, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(all.distance, (std::vector<double>{0.5, 3}));
}

TEST_P(ReferenceAssociationKernel, SaysWhereThereIsNoLine) {
  Cloud cloud;
  cloud.sizes = {4};
  cloud.value = {inf, std::numeric_limits<double>::quiet_NaN(), -inf, 1, /**/ 1, 1, 1, 1};
  const Lines lines{2, {0, 1, /**/ 0, 0}, {0, 0}, {1, 0}};  // the first has no length
  const Nearest all = associate(queue(), cloud, lines);
  EXPECT_EQ(all.line, (std::vector<std::int32_t>{-1, -1, -1, 1}));
  EXPECT_EQ(all.distance, (std::vector<double>{inf, inf, inf, 1}));
  EXPECT_EQ(associate(queue(), cloud, {0, {}, {0, 0}, {1, 1}}).line,
            std::vector<std::int32_t>(4, -1));
}

TEST_P(ReferenceAssociationKernel, FindsTheNearestLineAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 31, 33, 257}) {
    for (const std::int64_t objectives : {1, 2, 3, 15, 40}) {
      for (const std::int64_t lines : {1, 31, 32, 33, 91}) {
        SCOPED_TRACE(std::to_string(size) + " x " + std::to_string(objectives) + " x " +
                     std::to_string(lines));
        const Cloud cloud = make_cloud(objectives, {size}, {}, seed);
        const Lines of = some_lines(objectives, lines, 1, seed++);
        expect_nearest(cloud, of, associate(queue(), cloud, of));
      }
    }
  }
}

TEST_P(ReferenceAssociationKernel, MatchesCpuOnManyGroups) {
  for (const auto& sizes :
       {std::vector<std::int64_t>(60, 50), std::vector<std::int64_t>{3, 0, 1200, 32, 1, 65, 0}}) {
    const Cloud cloud = make_cloud(3, sizes, {}, sizes.size());
    const Lines lines = some_lines(3, 91, sizes.size(), 2);
    const Nearest here = associate(queue(), cloud, lines);
    expect_nearest(cloud, lines, here);
    const Nearest there = associate(cpu_queue(), cloud, lines);
    EXPECT_EQ(here.line, there.line);
    EXPECT_EQ(bits_of(here.distance), bits_of(there.distance));
  }
}

TEST_P(ReferenceAssociationKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Cloud cloud = make_cloud(2, {5}, {}, 1);
  EXPECT_EQ(associate(queue(), cloud, some_lines(2, 3, 1, 1), stopped).line,
            std::vector<std::int32_t>(5, -7));
}

}  // namespace
}  // namespace kiln::test::reference_association_test
