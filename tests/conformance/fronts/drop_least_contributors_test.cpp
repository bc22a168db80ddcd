// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/drop_least_contributors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kiln/fronts/indicators.hpp"

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Exact arithmetic and comparisons, given the contributions.
KILN_CONFORMANCE_CASE(DropLeastContributors, exact)

namespace kiln::test::drop_least_contributors_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = NondominatedRanks::no_front;
using Ranks = std::vector<std::int32_t>;

/// A cloud with what the kernel changes, on a device.
class Dropping {
 public:
  Dropping(Queue& queue, const Cloud& cloud, const Ranks& ranks, std::int64_t keep,
           const RunControl& state = {})
      : queue_(queue),
        cloud_(cloud),
        data_(queue, cloud),
        rank_(queue, ranks),
        front_(queue, std::vector<double>(idx(cloud.objectives * cloud.points()), -7)),
        score_(queue, std::vector<double>(idx(cloud.points()), -7)),
        excess_(queue, Ranks(cloud.sizes.size(), -7)),
        control_(upload_control(queue, state)),
        keep_(keep) {}

  void begin() { launch({}, true, 1); }
  void drop(const std::vector<double>& contributions, std::int64_t rounds_left) {
    launch(contributions, false, rounds_left);
  }
  std::vector<double> front() const { return front_.download(); }
  std::vector<double> score() const { return score_.download(); }
  Ranks excess() const { return excess_.download(); }

  /// What each point of the fronts as they are adds to their volumes, by the host.
  std::vector<double> contributions() const {
    const std::vector<double> values = front(), reference(idx(cloud_.objectives), 2.0);
    std::vector<double> all(idx(cloud_.points()), 0.0);
    for (std::size_t g = 0; g < cloud_.sizes.size(); ++g) {
      Points points;
      for (std::int64_t p = cloud_.begin(g); p < cloud_.begin(g + 1); ++p) {
        points.emplace_back();
        for (std::int64_t k = 0; k < cloud_.objectives; ++k) {
          points.back().push_back(values[idx(k * cloud_.points() + p)]);
        }
      }
      const std::vector<double> of_group = hypervolume_contributions(points, reference);
      std::copy(of_group.begin(), of_group.end(), all.begin() + cloud_.begin(g));
    }
    return all;
  }

 private:
  void launch(const std::vector<double>& contributions, bool begin, std::int64_t rounds_left) {
    const std::int64_t n = cloud_.points();
    const DeviceArray<double> contribution(queue_, contributions);
    DropLeastContributors kernel;
    kernel.value = data_.points().value;
    kernel.groups = data_.points().groups;
    kernel.rank = rank_.view();
    kernel.keep = keep_;
    kernel.begin = begin;
    kernel.rounds_left = rounds_left;
    kernel.front = {front_.data(), cloud_.objectives, n, n};
    kernel.contribution = contribution.view();
    kernel.score = score_.view();
    kernel.excess = excess_.view();
    kernel.control = control_.data();
    queue_.launch(kernel);
    queue_.wait();
  }

  Queue& queue_;
  const Cloud& cloud_;
  DeviceCloud data_;
  DeviceArray<std::int32_t> rank_;
  DeviceArray<double> front_, score_;
  DeviceArray<std::int32_t> excess_;
  DeviceArray<RunControl> control_;
  std::int64_t keep_;
};

/// Points on a sphere or a plane, so that none dominates another.
Cloud front_of(std::int64_t objectives, const std::vector<std::int64_t>& sizes,
               std::uint64_t seed) {
  Cloud cloud = make_cloud(objectives, sizes, {}, seed);
  for (std::int64_t p = 0; p < cloud.points(); ++p) {
    double sum = 0;
    for (std::int64_t k = 0; k < objectives; ++k) sum += cloud.at(k, p) * cloud.at(k, p);
    for (std::int64_t k = 0; k < objectives; ++k) cloud.at(k, p) /= std::sqrt(sum);
  }
  return cloud;
}

/// Steady-state selection as it is defined: whose absence costs the least volume goes, again and
/// again. Gives the members that are left.
std::vector<std::int64_t> by_removal(const Cloud& cloud, std::vector<std::int64_t> members,
                                     std::size_t keep) {
  std::vector<double> low(idx(cloud.objectives), inf), high(idx(cloud.objectives), -inf);
  for (const std::int64_t p : members) {
    for (std::int64_t k = 0; k < cloud.objectives; ++k) {
      low[idx(k)] = std::min(low[idx(k)], cloud.at(k, p));
      high[idx(k)] = std::max(high[idx(k)], cloud.at(k, p));
    }
  }
  const auto volume_without = [&](std::int64_t missing) {
    Points points;
    for (const std::int64_t p : members) {
      if (p == missing) continue;
      points.emplace_back();
      for (std::int64_t k = 0; k < cloud.objectives; ++k) {
        points.back().push_back((cloud.at(k, p) - low[idx(k)]) / (high[idx(k)] - low[idx(k)]));
      }
    }
    return hypervolume(points, std::vector<double>(idx(cloud.objectives), 2.0));
  };
  while (members.size() > keep) {
    std::size_t least = 0;
    double most = -inf;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double volume = volume_without(members[i]);
      if (volume > most) {
        most = volume;
        least = i;
      }
    }
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return members;
}

class DropLeastContributorsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DropLeastContributorsKernel);

TEST_P(DropLeastContributorsKernel, BeginsByHand) {
  Cloud cloud;
  cloud.sizes = {7};
  cloud.value = {9, 1, 3, 2, 9, 0, 5, /**/ 9, 8, 4, 6, 9, 0, 4};
  Dropping data(queue(), cloud, {2, 1, 1, 1, none, 0, 1}, 3);
  data.begin();
  EXPECT_EQ(data.front(), (std::vector<double>{inf, 0, 0.5, 0.25, inf, inf, 1,  //
                                               inf, 1, 0, 0.5, inf, inf, 0}));
  EXPECT_EQ(data.score(), std::vector<double>(7, 1));
  EXPECT_EQ(data.excess(), (Ranks{2}));
}

TEST_P(DropLeastContributorsKernel, DropsByHand) {
  Cloud cloud;
  cloud.sizes = {8};
  cloud.value.assign(16, 1);  // no extent: all at the origin of their box
  Dropping data(queue(), cloud, {0, 0, 0, 0, 0, 0, 0, 1}, 2);
  data.begin();
  EXPECT_EQ(data.excess(), (Ranks{5}));
  EXPECT_EQ(data.front()[0], 0);
  // Five too many in two rounds: three of the least go, of the equal ones the last.
  data.drop({4, 1, 2, 2, 3, 1, 2, 0}, 2);
  EXPECT_EQ(data.score(), (std::vector<double>{1, 0, 1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(data.excess(), (Ranks{2}));
  EXPECT_EQ(data.front()[6], inf);
  EXPECT_EQ(data.front()[8 + 6], inf);
  data.drop({inf, 0, inf, 3, inf, 0, 0, 0}, 1);
  EXPECT_EQ(data.score(), (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(data.excess(), (Ranks{0}));
  data.drop(std::vector<double>(8, 0), 1);
  EXPECT_EQ(data.score(), (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 1}));
}

TEST_P(DropLeastContributorsKernel, DropsNothingWhereAllFit) {
  const Cloud cloud = make_cloud(2, {6, 0, 3}, {}, 1);
  for (const std::int64_t keep : {4, 5, 9}) {
    Dropping data(queue(), cloud, {0, none, 1, 1, none, 2, 0, 0, 0}, keep);
    data.begin();
    EXPECT_EQ(data.excess(), (Ranks{0, 0, 0}));
    data.drop(std::vector<double>(9, 0), 1);
    EXPECT_EQ(data.score(), std::vector<double>(9, 1));
  }
}

TEST_P(DropLeastContributorsKernel, MatchesOneByOneWithExactContributions) {
  for (const std::int64_t objectives : {2, 3, 4}) {
    const std::vector<std::int64_t> sizes{40, 5, 61};
    const Cloud cloud = front_of(objectives, sizes, idx(objectives));
    Ranks rank;
    for (std::int64_t p = 0; p < cloud.points(); ++p) {
      rank.push_back(p % 7 == 0 ? 0 : p % 11 == 0 ? 2 : 1);
    }
    const std::int64_t keep = 20;
    Dropping data(queue(), cloud, rank, keep);
    data.begin();
    const Ranks excess = data.excess();
    const std::int64_t most = *std::max_element(excess.begin(), excess.end());
    for (std::int64_t left = most; left > 0; --left) {
      const std::vector<double> before = data.score();
      data.drop(data.contributions(), left);
      const std::vector<double> after = data.score();
      const double gone = std::accumulate(before.begin(), before.end(), 0.0) -
                          std::accumulate(after.begin(), after.end(), 0.0);
      ASSERT_LE(gone, 3) << "one of each group";
    }
    const std::vector<double> score = data.score();
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      std::vector<std::int64_t> members, left;
      std::size_t before = 0;
      for (std::int64_t p = cloud.begin(g); p < cloud.begin(g + 1); ++p) {
        before += rank[idx(p)] == 0 ? 1 : 0;
        if (rank[idx(p)] == 1) members.push_back(p);
        if (rank[idx(p)] == 1 && score[idx(p)] == 1) left.push_back(p);
        if (rank[idx(p)] != 1) {
          EXPECT_EQ(score[idx(p)], 1);
        }
      }
      EXPECT_EQ(left, by_removal(cloud, members, idx(keep) - before)) << objectives << ", " << g;
    }
  }
}

TEST_P(DropLeastContributorsKernel, SharesTheExcessOutOverRounds) {
  const Cloud cloud = front_of(2, {50}, 3);
  Dropping data(queue(), cloud, Ranks(50, 0), 33);
  data.begin();
  std::int64_t gone = 0;
  for (const auto& [left, total] : {std::pair{5, 4}, {4, 8}, {3, 11}, {2, 14}, {1, 17}}) {
    data.drop(data.contributions(), left);
    const std::vector<double> score = data.score();
    gone = std::count(score.begin(), score.end(), 0.0);
    EXPECT_EQ(gone, total);
  }
  EXPECT_EQ(data.excess(), (Ranks{0}));
}

TEST_P(DropLeastContributorsKernel, MatchesCpu) {
  for (const auto& sizes :
       {std::vector<std::int64_t>(64, 200), std::vector<std::int64_t>{3, 0, 3000, 200, 1}}) {
    const Cloud cloud = make_cloud(3, sizes, {9, 0.1, 0, 0}, sizes.size());
    TestRandom random(7);
    Ranks rank;
    std::vector<double> contribution;
    for (std::int64_t p = 0; p < cloud.points(); ++p) {
      rank.push_back(static_cast<std::int32_t>(random.between(0, 2)));
      contribution.push_back(static_cast<double>(random.between(0, 20)));
    }
    Dropping here(queue(), cloud, rank, 100), there(cpu_queue(), cloud, rank, 100);
    here.begin();
    there.begin();
    for (const std::int64_t left : {3, 2, 1}) {
      here.drop(contribution, left);
      there.drop(contribution, left);
      EXPECT_EQ(here.score(), there.score());
      EXPECT_EQ(bits_of(here.front()), bits_of(there.front()));
      EXPECT_EQ(here.excess(), there.excess());
    }
  }
}

TEST_P(DropLeastContributorsKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Cloud cloud = make_cloud(2, {5}, {}, 1);
  Dropping data(queue(), cloud, Ranks(5, 0), 2, stopped);
  data.begin();
  data.drop(std::vector<double>(5, 0), 1);
  EXPECT_EQ(data.score(), std::vector<double>(5, -7));
  EXPECT_EQ(data.excess(), (Ranks{-7}));
}

}  // namespace
}  // namespace kiln::test::drop_least_contributors_test
