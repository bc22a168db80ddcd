// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/niche_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Named draws, comparisons and counts.
KILN_CONFORMANCE_CASE(NicheScores, exact)

namespace kiln::test::niche_scores_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = NondominatedRanks::no_front;

struct Crowd {
  std::vector<std::int64_t> sizes;
  std::int64_t keep = 0, lines = 0;
  std::vector<std::int32_t> rank, line;
  std::vector<double> distance;
  std::vector<std::uint64_t> key;  ///< [groups]
  RunControl control = {};

  std::int64_t begin(std::size_t group) const {
    std::int64_t sum = 0;
    for (std::size_t g = 0; g < group; ++g) sum += sizes[g];
    return sum;
  }
};

std::vector<double> choose(Queue& queue, const Crowd& in) {
  const auto groups = static_cast<std::int64_t>(in.sizes.size());
  std::vector<std::int64_t> begins;
  for (std::size_t g = 0; g <= in.sizes.size(); ++g) begins.push_back(in.begin(g));
  std::vector<std::uint64_t> keys;  // two slots in each group
  for (const std::uint64_t key : in.key) keys.insert(keys.end(), {key, ~key});
  const DeviceArray<std::int64_t> offset(queue, begins);
  const DeviceArray<std::int32_t> rank(queue, in.rank), line(queue, in.line);
  const DeviceArray<double> distance(queue, in.distance);
  const DeviceArray<std::uint64_t> key(queue, keys);
  DeviceArray<double> score(queue, std::vector<double>(in.rank.size(), -7));
  const std::vector<std::int32_t> before(idx(groups * in.lines), -7);
  DeviceArray<std::int32_t> taken(queue, before), left(queue, before);
  const auto control = upload_control(queue, in.control);
  NicheScores kernel;
  kernel.groups = {groups, *std::max_element(in.sizes.begin(), in.sizes.end()), offset.view()};
  kernel.keep = in.keep;
  kernel.rank = rank.view();
  kernel.line = line.view();
  kernel.distance = distance.view();
  kernel.lines = in.lines;
  kernel.score = score.view();
  kernel.taken = taken.view();
  kernel.left = left.view();
  kernel.key = key.view();
  kernel.group_slots = 2;
  kernel.control = control.data();
  kernel.step_offset = 3;
  queue.launch(kernel);
  return score.download();
}

Crowd make_crowd(const std::vector<std::int64_t>& sizes, std::int64_t keep, std::int64_t lines,
                 std::int32_t fronts, std::uint64_t seed) {
  TestRandom random(seed);
  Crowd crowd{sizes, keep, lines, {}, {}, {}, {}};
  for (std::size_t g = 0; g < sizes.size(); ++g) crowd.key.push_back(random.word());
  for (std::int64_t p = 0; p < crowd.begin(sizes.size()); ++p) {
    const bool ranked = random.unit() > 0.05, lined = random.unit() > 0.03;
    crowd.rank.push_back(ranked ? static_cast<std::int32_t>(random.between(0, fronts - 1)) : none);
    // Few lines have most of the points.
    const auto drawn = static_cast<double>(lines) * random.unit() * random.unit();
    crowd.line.push_back(lined ? static_cast<std::int32_t>(drawn) : -1);
    crowd.distance.push_back(lined ? static_cast<double>(random.between(0, 9)) / 8 : inf);
  }
  crowd.control.step = 9;
  return crowd;
}

/// The first front that does not fit into the points that are kept; after all where they fit.
std::int32_t split_of(const Crowd& in, std::int64_t begin, std::int64_t end) {
  std::vector<std::int32_t> ranks;
  for (std::int64_t c = begin; c < end; ++c) {
    if (in.rank[idx(c)] != none) ranks.push_back(in.rank[idx(c)]);
  }
  std::sort(ranks.begin(), ranks.end());
  const auto keep = idx(in.keep);
  if (ranks.size() <= keep) return none;
  return ranks[keep];
}

/// What is true of every right choice, whatever the draws are.
void expect_spread(const Crowd& in, const std::vector<double>& score, std::size_t group) {
  const std::int64_t begin = in.begin(group), end = in.begin(group + 1);
  const std::int32_t split = split_of(in, begin, end);
  std::vector<std::int64_t> before(idx(in.lines)), taken(idx(in.lines)), left(idx(in.lines));
  std::vector<std::int64_t> nearest(idx(in.lines), -1);
  std::int64_t chosen = 0, could = 0;
  for (std::int64_t c = begin; c < end; ++c) {
    const auto p = idx(c);
    ASSERT_TRUE(score[p] == 0 || score[p] == 1) << c;
    chosen += score[p] == 1 ? 1 : 0;
    could += in.rank[p] < split || (in.rank[p] == split && split != none && in.line[p] >= 0);
    if (in.rank[p] < split) {
      ASSERT_EQ(score[p], 1) << c << " is on a front before";
    }
    if (in.rank[p] > split || in.rank[p] == none || (in.rank[p] == split && in.line[p] < 0)) {
      ASSERT_EQ(score[p], 0) << c;
    }
    if (in.line[p] < 0 || in.rank[p] > split || in.rank[p] == none) continue;
    const auto l = idx(in.line[p]);
    if (in.rank[p] < split) {
      ++before[l];
      continue;
    }
    ++(score[p] == 1 ? taken : left)[l];
    const std::int64_t so_far = nearest[l];
    if (so_far < 0 || in.distance[p] < in.distance[idx(so_far)]) nearest[l] = c;
  }
  EXPECT_EQ(chosen, std::min(in.keep, could));
  std::int64_t fullest = 0;  // of the lines that were given points
  for (std::size_t l = 0; l < taken.size(); ++l) {
    if (taken[l] > 0) fullest = std::max(fullest, before[l] + taken[l]);
    if (before[l] == 0 && taken[l] > 0) {
      EXPECT_EQ(score[idx(nearest[l])], 1) << "line " << l;
    }
  }
  for (std::size_t l = 0; l < taken.size(); ++l) {
    if (left[l] > 0) {
      EXPECT_GE(before[l] + taken[l], fullest - 1) << "line " << l;
    }
  }
}

class NicheScoresKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(NicheScoresKernel);

TEST_P(NicheScoresKernel, ChoosesByHand) {
  Crowd crowd{{9}, 5, 3, {}, {}, {}, {1}};
  crowd.rank = {0, 0, 2, 1, 1, 1, 1, 1, none};
  crowd.line = {0, 0, 1, 1, 0, 1, 2, 1, 2};
  crowd.distance = {3, 4, 0, 0.5, 0, 0.25, 7, 0.25, 0};
  // Line 0 has two points already: lines 1 and 2 get one each, their nearest and first, then one of
  // those left on line 1 follows.
  const std::vector<double> score = choose(queue(), crowd);
  EXPECT_EQ(score[3] + score[7], 1);
  std::vector<double> others = score;
  others[3] = others[7] = 0;
  EXPECT_EQ(others, (std::vector<double>{1, 1, 0, 0, 0, 1, 1, 0, 0}));
}

TEST_P(NicheScoresKernel, TakesFrontsThatFitAsTheyAre) {
  Crowd crowd{{6}, 4, 2, {0, 1, 1, 2, 0, none}, {0, 0, -1, -1, 0, 1}, {1, 1, inf, inf, 1, 1}, {1}};
  EXPECT_EQ(choose(queue(), crowd), (std::vector<double>{1, 1, 1, 0, 1, 0}));
  crowd.keep = 5;
  EXPECT_EQ(choose(queue(), crowd), (std::vector<double>{1, 1, 1, 1, 1, 0}));
  crowd.keep = 6;  // more than there are on fronts
  EXPECT_EQ(choose(queue(), crowd), (std::vector<double>{1, 1, 1, 1, 1, 0}));
  crowd.rank.assign(6, none);
  EXPECT_EQ(choose(queue(), crowd), std::vector<double>(6, 0));
}

TEST_P(NicheScoresKernel, EndsWherePointsHaveNoLines) {
  const Crowd crowd{{5}, 4, 2, {0, 0, 0, 0, 0}, {-1, 1, -1, 1, -1}, {inf, 2, inf, 1, inf}, {1}};
  EXPECT_EQ(choose(queue(), crowd), (std::vector<double>{0, 1, 0, 1, 0}));
}

// NaN is farther away than everything: the least column of a line that has nothing else.
TEST_P(NicheScoresKernel, CountsDistancesThatAreNoNumbersAsInfinite) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Crowd crowd{{7}, 3, 3, {0, 0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 2, 2, 2}, {}, {1}};
  crowd.distance = {nan, 4, nan, nan, nan, 2, 3};
  EXPECT_EQ(choose(queue(), crowd), (std::vector<double>{0, 1, 1, 0, 0, 1, 0}));
  crowd.keep = 6;
  const std::vector<double> most = choose(queue(), crowd);
  EXPECT_EQ(std::count(most.begin(), most.end(), 1.0), 6);
  Crowd large = make_crowd({700, 33}, 300, 40, 1, 5);
  large.distance.assign(large.distance.size(), nan);
  EXPECT_EQ(choose(queue(), large), choose(cpu_queue(), large));
}

TEST_P(NicheScoresKernel, SpreadsAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 2, 31, 33, 184, 257, 1025, 2000}) {
    for (const std::int64_t lines : {1, 7, 91, 300}) {
      for (const std::int32_t fronts : {1, 3}) {
        SCOPED_TRACE(std::to_string(size) + " points, " + std::to_string(lines) + " lines");
        const Crowd crowd = make_crowd({size}, size / 2 + 1, lines, fronts, seed++);
        expect_spread(crowd, choose(queue(), crowd), 0);
      }
    }
  }
}

TEST_P(NicheScoresKernel, KeepsGroupsApart) {
  for (const auto& sizes :
       {std::vector<std::int64_t>(64, 184), std::vector<std::int64_t>{3, 0, 700, 32, 1, 65, 0}}) {
    const Crowd crowd = make_crowd(sizes, 92, 91, 2, sizes.size());
    const std::vector<double> score = choose(queue(), crowd);
    for (std::size_t g = 0; g < sizes.size(); ++g) expect_spread(crowd, score, g);
    EXPECT_EQ(score, choose(cpu_queue(), crowd));
  }
}

TEST_P(NicheScoresKernel, MatchesCpuAtOtherSteps) {
  Crowd crowd = make_crowd(std::vector<std::int64_t>(20, 150), 75, 40, 1, 3);
  const std::vector<double> first = choose(queue(), crowd);
  EXPECT_EQ(first, choose(cpu_queue(), crowd));
  ++crowd.control.step;
  const std::vector<double> later = choose(queue(), crowd);
  EXPECT_NE(first, later);
  EXPECT_EQ(later, choose(cpu_queue(), crowd));
}

// 4000 groups of five lines: one with two points before, the others with one each and three points
// left on them; one point is taken.
TEST_P(NicheScoresKernel, DrawsLinesAndPointsAlike) {
  constexpr std::int64_t groups = 4000;
  Crowd crowd{std::vector<std::int64_t>(groups, 18), 7, 5, {}, {}, {}, {}};
  for (std::uint64_t g = 0; g < groups; ++g) {
    crowd.key.push_back(g);
    for (const std::int32_t line : {0, 1, 2, 3, 4, 0}) {
      crowd.rank.push_back(0);
      crowd.line.push_back(line);
    }
    for (std::int32_t i = 0; i < 12; ++i) {
      crowd.rank.push_back(1);
      crowd.line.push_back(1 + i % 4);
    }
    for (int i = 0; i < 18; ++i) crowd.distance.push_back(i);
  }
  const std::vector<double> score = choose(queue(), crowd);
  std::int64_t of_line[4] = {}, of_point[3] = {}, taken = 0;
  for (std::size_t c = 0; c < score.size(); ++c) {
    const std::size_t member = c % 18;
    if (member < 6 || score[c] == 0) continue;
    ++taken;
    ++of_line[(member - 6) % 4];
    ++of_point[(member - 6) / 4];
  }
  EXPECT_EQ(taken, groups);
  for (const std::int64_t n : of_line) EXPECT_NEAR(double(n), 1000, 5 * 27.4);
  for (const std::int64_t n : of_point) EXPECT_NEAR(double(n), 1333.3, 5 * 29.8);
}

TEST_P(NicheScoresKernel, NamesDrawsByTheKeyOfTheGroup) {
  const Crowd both = make_crowd({150, 150}, 75, 20, 1, 8);
  Crowd second = both;
  second.sizes = {150};
  second.rank.erase(second.rank.begin(), second.rank.begin() + 150);
  second.line.erase(second.line.begin(), second.line.begin() + 150);
  second.distance.erase(second.distance.begin(), second.distance.begin() + 150);
  second.key = {both.key[1]};
  const std::vector<double> score = choose(queue(), both);
  EXPECT_EQ(choose(queue(), second), std::vector<double>(score.begin() + 150, score.end()));
  second.key = {both.key[0]};
  EXPECT_NE(choose(queue(), second), std::vector<double>(score.begin() + 150, score.end()));
}

TEST_P(NicheScoresKernel, DoesNothingOnceStopped) {
  Crowd crowd = make_crowd({20}, 10, 3, 2, 1);
  crowd.control.stop = DeviceStop::target;
  EXPECT_EQ(choose(queue(), crowd), std::vector<double>(20, -7));
}

}  // namespace
}  // namespace kiln::test::niche_scores_test
