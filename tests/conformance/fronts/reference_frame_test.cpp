// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_frame.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Exact arithmetic, minima.
KILN_CONFORMANCE_CASE(ReferenceFrame, exact)

namespace kiln::test::reference_frame_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = NondominatedRanks::no_front;

struct Frame {
  std::vector<double> ideal, nadir, extreme;
  auto bits() const { return std::tuple(bits_of(ideal), bits_of(nadir), bits_of(extreme)); }
};

/// What a run begins with.
Frame fresh(const Cloud& cloud) {
  const std::size_t m = idx(cloud.objectives), groups = cloud.sizes.size();
  return {std::vector<double>(m * groups, inf), std::vector<double>(m * groups, -7),
          std::vector<double>(m * m * groups, inf)};
}

Frame measure(Queue& queue, const Cloud& cloud, const std::vector<std::int32_t>& ranks,
              const Frame& before, bool intercepts = true, const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const ObjectivePoints points = data.points();
  const std::int64_t m = cloud.objectives, groups = points.groups.groups;
  const DeviceArray<std::int32_t> rank(queue, ranks);
  DeviceArray<double> ideal(queue, before.ideal), nadir(queue, before.nadir);
  DeviceArray<double> extreme(queue, before.extreme);
  const auto control = upload_control(queue, state);
  queue.launch(ReferenceFrame{points.value,
                              points.groups,
                              rank.view(),
                              {ideal.data(), m, groups, groups},
                              {nadir.data(), m, groups, groups},
                              {extreme.data(), m * m, groups, groups},
                              intercepts,
                              control.data(),
                              0});
  return {ideal.download(), nadir.download(), extreme.download()};
}

/// Where the plane through the extreme points cuts the axes, behind the ideal; nothing where it
/// does not. In long double, by elimination on rows that pivots are looked for in all columns of.
std::optional<std::vector<double>> cuts_of(const Frame& frame, std::size_t m, std::size_t groups,
                                           std::size_t group) {
  std::vector<std::vector<long double>> a(m, std::vector<long double>(m + 1, 1));
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t k = 0; k < m; ++k) {
      a[r][k] = static_cast<long double>(frame.extreme[(r * m + k) * groups + group]) -
                frame.ideal[k * groups + group];
    }
  }
  std::vector<std::size_t> column_of(m);
  for (std::size_t r = 0; r < m; ++r) {
    std::size_t column = 0;
    for (std::size_t k = 0; k < m; ++k) {
      if (std::abs(a[r][k]) > std::abs(a[r][column])) column = k;
    }
    if (std::abs(a[r][column]) < 1e-15L) return std::nullopt;
    column_of[r] = column;
    for (std::size_t other = 0; other < m; ++other) {
      if (other == r) continue;
      const long double factor = a[other][column] / a[r][column];
      for (std::size_t k = 0; k <= m; ++k) a[other][k] -= factor * a[r][k];
    }
  }
  std::vector<double> cut(m);
  for (std::size_t r = 0; r < m; ++r) {
    const long double at = a[r][column_of[r]] / a[r][m];
    if (!(at > 1e-12L && at < 1e300L)) return std::nullopt;
    cut[column_of[r]] = static_cast<double>(at);
  }
  return cut;
}

/// How far a point is from an axis, with the weights of the definition.
double off_axis(const Cloud& cloud, const Frame& frame, std::size_t group, std::int64_t p,
                std::int64_t axis) {
  double most = -inf;
  for (std::int64_t k = 0; k < cloud.objectives; ++k) {
    const double moved = cloud.at(k, p) - frame.ideal[idx(k) * cloud.sizes.size() + group];
    most = std::max(most, moved / (k == axis ? 1.0 : 1e-6));
  }
  return most;
}

class ReferenceFrameKernel : public DeviceTest {
 protected:
  Frame measured(const Cloud& cloud, const std::vector<std::int32_t>& rank) {
    return measure(queue(), cloud, rank, fresh(cloud));
  }
};
KILN_ON_EVERY_BACKEND(ReferenceFrameKernel);

TEST_P(ReferenceFrameKernel, KeepsTheLeastThatAFirstFrontHad) {
  Cloud cloud;
  cloud.sizes = {5};
  cloud.value = {3, 1, 2, -9, -8, /**/ 1, 3, 2, -9, -8};
  const std::vector<std::int32_t> rank{0, 0, 0, 1, none};

  const Frame first = measure(queue(), cloud, rank, fresh(cloud), false);
  EXPECT_EQ(first.ideal, (std::vector<double>{1, 1}));
  EXPECT_EQ(first.nadir, (std::vector<double>{3, 3}));
  EXPECT_EQ(first.extreme, std::vector<double>(4, inf)) << "nobody asked for these";

  cloud.value = {3, 2, 2, -9, -8, /**/ 0, 4, 2, -9, -8};
  const Frame second = measure(queue(), cloud, rank, first, false);
  EXPECT_EQ(second.ideal, (std::vector<double>{1, 0}));
  EXPECT_EQ(second.nadir, (std::vector<double>{3, 4}));
}

TEST_P(ReferenceFrameKernel, CutsTheAxesOfAKnownPlane) {
  for (const std::int64_t m : {2, 3, 5, 10, 16}) {
    Cloud cloud;
    cloud.objectives = m;
    cloud.sizes = {m + 200};
    cloud.value.resize(idx(m * (m + 200)));
    TestRandom random(idx(m));
    for (std::int64_t p = 0; p < m + 200; ++p) {
      // Near each axis one point; all lie where the sum of (f_k - k) / (k + 2) is 1.
      std::vector<double> share;
      double sum = 0;
      for (std::int64_t k = 0; k < m; ++k) {
        share.push_back(p < m ? (p == k ? 50 : 1) : 1 + random.unit());
        sum += share.back();
      }
      for (std::int64_t k = 0; k < m; ++k) {
        cloud.at(k, p) = static_cast<double>(k) + static_cast<double>(k + 2) * share[idx(k)] / sum;
      }
    }
    Frame before = fresh(cloud);
    for (std::int64_t k = 0; k < m; ++k) before.ideal[idx(k)] = static_cast<double>(k);
    const Frame frame = measure(queue(), cloud, std::vector<std::int32_t>(idx(m + 200), 0), before);
    for (std::int64_t k = 0; k < m; ++k) {
      EXPECT_EQ(frame.ideal[idx(k)], static_cast<double>(k));
      EXPECT_NEAR(frame.nadir[idx(k)], static_cast<double>(2 * k + 2), 1e-11) << m;
      for (std::int64_t j = 0; j < m; ++j) {
        EXPECT_EQ(frame.extreme[idx(k * m + j)], cloud.at(j, k)) << "axis " << k;
      }
    }
  }
}

TEST_P(ReferenceFrameKernel, FallsBackWhereNoPlaneCutsTheAxes) {
  Cloud cloud;
  cloud.objectives = 3;
  cloud.sizes = {3};
  // One point only, thrice: no plane, no extent.
  cloud.value = {1, 1, 1, /**/ 2, 2, 2, /**/ 5, 5, 5};
  EXPECT_EQ(measured(cloud, {0, 0, 0}).nadir, (std::vector<double>{2, 3, 6}));
  // A line in space, flat in the last objective.
  cloud.value = {0, 1, 2, /**/ 4, 2, 0, /**/ 5, 5, 5};
  EXPECT_EQ(measured(cloud, {0, 0, 0}).nadir, (std::vector<double>{2, 4, 6}));
  // One of two points: the other one is on the second front.
  Cloud pair;
  pair.sizes = {2};
  pair.value = {0, 1, /**/ 7, 8};
  EXPECT_EQ(measured(pair, {0, 1}).nadir, (std::vector<double>{1, 8}));
  // A coordinate without end has no extent that a plane could have.
  pair.value = {0, 1, /**/ inf, 0};
  EXPECT_EQ(measured(pair, {0, 0}).nadir, (std::vector<double>{1, inf}));
}

TEST_P(ReferenceFrameKernel, StaysWhereAFrontIsEmpty) {
  const Cloud cloud = make_cloud(2, {10, 0}, {}, 1);
  Frame before = fresh(cloud);
  before.ideal = {-1, -2, -3, -4};
  const Frame after = measure(queue(), cloud, std::vector<std::int32_t>(10, none), before);
  EXPECT_EQ(after.ideal, before.ideal);
  EXPECT_EQ(after.nadir, (std::vector<double>{0, -1, -2, -3}));
  EXPECT_EQ(after.extreme, before.extreme);
}

TEST_P(ReferenceFrameKernel, KeepsAnExtremePointThatIsNearer) {
  Cloud cloud;
  cloud.sizes = {2};
  cloud.value = {0, 4, /**/ 4, 0};
  const Frame first = measured(cloud, {0, 0});
  EXPECT_EQ(first.extreme, (std::vector<double>{4, 0, 0, 4}));
  EXPECT_EQ(first.nadir, (std::vector<double>{4, 4}));
  // The axis of the second objective loses its point, that of the first gets a nearer one.
  cloud.value = {1, 2, /**/ 3, 0};
  const Frame second = measure(queue(), cloud, {0, 0}, first);
  EXPECT_EQ(second.ideal, (std::vector<double>{0, 0}));
  EXPECT_EQ(second.extreme, (std::vector<double>{2, 0, 0, 4}));
  EXPECT_EQ(second.nadir, (std::vector<double>{2, 4}));
}

TEST_P(ReferenceFrameKernel, MatchesTheDefinitionOnRandomFronts) {
  int cut = 0, fallen_back = 0;
  std::uint64_t seed = 1;
  for (const std::int64_t m : {2, 3, 4, 6}) {
    std::vector<std::int64_t> sizes(40, 30);
    sizes.insert(sizes.end(), {1, 700, 2, 1500});
    const Cloud cloud = make_cloud(m, sizes, {seed % 2 == 0 ? 6 : 0, 0.1, 0, 0}, seed);
    TestRandom random(seed++);
    std::vector<std::int32_t> rank;
    for (std::int64_t p = 0; p < cloud.points(); ++p) {
      rank.push_back(static_cast<std::int32_t>(random.between(0, 1)));
    }
    const Frame frame = measured(cloud, rank);
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      std::vector<double> least(idx(m), inf), most(idx(m), -inf), nearest(idx(m), inf);
      const std::int64_t begin = cloud.begin(g), end = begin + sizes[g];
      for (std::int64_t p = begin; p < end; ++p) {
        if (rank[idx(p)] != 0) continue;
        for (std::int64_t k = 0; k < m; ++k) {
          least[idx(k)] = std::min(least[idx(k)], cloud.at(k, p));
          most[idx(k)] = std::max(most[idx(k)], cloud.at(k, p));
          nearest[idx(k)] = std::min(nearest[idx(k)], off_axis(cloud, frame, g, p, k));
        }
      }
      if (least[0] == inf) continue;
      const auto cuts = cuts_of(frame, idx(m), sizes.size(), g);
      ++(cuts ? cut : fallen_back);
      for (std::size_t k = 0; k < idx(m); ++k) {
        const std::size_t at = k * sizes.size() + g;
        ASSERT_EQ(frame.ideal[at], least[k]);
        const double worst = most[k] > least[k] ? most[k] : least[k] + 1;
        const double nadir = cuts ? least[k] + (*cuts)[k] : worst;
        ASSERT_NEAR(frame.nadir[at], nadir, 1e-6 * nadir) << "group " << g << ", " << m;
        double of_extreme = -inf;
        for (std::size_t j = 0; j < idx(m); ++j) {
          const double moved = frame.extreme[(k * idx(m) + j) * sizes.size() + g] -
                               frame.ideal[j * sizes.size() + g];
          of_extreme = std::max(of_extreme, moved / (j == k ? 1.0 : 1e-6));
        }
        ASSERT_NEAR(of_extreme, nearest[k], 1e-9 * nearest[k]);
      }
    }
  }
  EXPECT_GT(cut, 30);
  EXPECT_GT(fallen_back, 30);
}

TEST_P(ReferenceFrameKernel, MatchesCpu) {
  for (const auto& sizes : {std::vector<std::int64_t>(60, 50),
                            std::vector<std::int64_t>{3, 0, 1200, 32, 1, 65, 20000}}) {
    const Cloud cloud = make_cloud(3, sizes, {}, sizes.size());
    const std::vector<std::int32_t> rank(idx(cloud.points()), 0);
    const Frame first = measured(cloud, rank);
    EXPECT_EQ(first.bits(), measure(cpu_queue(), cloud, rank, fresh(cloud)).bits());
    const Cloud next = make_cloud(3, sizes, {}, 77);
    EXPECT_EQ(measure(queue(), next, rank, first).bits(),
              measure(cpu_queue(), next, rank, first).bits());
  }
}

TEST_P(ReferenceFrameKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Cloud cloud = make_cloud(2, {50}, {}, 1);
  const Frame before = fresh(cloud);
  const std::vector<std::int32_t> rank(50, 0);
  EXPECT_EQ(measure(queue(), cloud, rank, before, true, stopped).bits(), before.bits());
}

}  // namespace
}  // namespace kiln::test::reference_frame_test
