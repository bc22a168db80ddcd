// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"

#include "backends/backends.hpp"
#include "series.hpp"

namespace kiln::test {
namespace {

using Values = std::vector<double>;

Values normal_values(std::int64_t n, std::uint64_t seed) { return ar1_chains(0, 1, n, seed); }

// The total cost of segments that begin at 0 and the changes, as the documentation states it.
double cost_of(const Values& x, const std::vector<std::int64_t>& changes, double variance) {
  std::vector<std::int64_t> bounds{0};
  bounds.insert(bounds.end(), changes.begin(), changes.end());
  bounds.push_back(static_cast<std::int64_t>(x.size()));
  double total = 0;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    double mean = 0;
    for (std::int64_t t = bounds[i]; t < bounds[i + 1]; ++t) mean += x[idx(t)];
    mean /= static_cast<double>(bounds[i + 1] - bounds[i]);
    for (std::int64_t t = bounds[i]; t < bounds[i + 1]; ++t) {
      total += (x[idx(t)] - mean) * (x[idx(t)] - mean) / variance;
    }
  }
  return total + 3 * std::log(static_cast<double>(x.size())) * static_cast<double>(changes.size());
}

std::vector<std::int64_t> rows_of(const ChangePoints& found) {
  std::vector<std::int64_t> rows;
  for (const ChangePoint& change : found.changes) rows.push_back(change.row);
  return rows;
}

// The long-run variance of the noise that explains the changes: the search says it by its
// estimates alone, so it is computed here once more, from variances of differences without the
// fifth of them that is largest, at lags 1 to 8 (or a tenth of the rows).
double long_run_variance(const Values& x, double a) {
  const std::size_t lags = std::clamp<std::size_t>(x.size() / 10, 2, 8);
  double log_sum = 0;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    Values squares;
    for (std::size_t t = lag; t < x.size(); ++t) squares.push_back(std::pow(x[t] - x[t - lag], 2));
    std::ranges::sort(squares);
    squares.resize(static_cast<std::size_t>(0.8 * static_cast<double>(squares.size())));
    const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
    const double variance = sum / (static_cast<double>(squares.size()) * 0.437725) / 2;
    log_sum += std::log(variance / (1 - std::pow(a, lag)));
  }
  return std::exp(log_sum / static_cast<double>(lags)) * (1 + a) / (1 - a);
}

// Every set of changes of segments of three rows or more, of 22 rows.
TEST(SeriesChangePoints, AreTheBestOfAllPartitions) {
  int with_changes = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Values x = normal_values(22, seed);
    for (std::size_t t = 9; t < 22; ++t) x[t] += seed % 3 == 0 ? 20 : 6;
    const ChangePoints found = find_change_points(x);
    const double variance = long_run_variance(x, found.autocorrelation);
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::int64_t> best;
    for (std::uint32_t set = 0; set < 1u << 17; ++set) {  // bit i: a change at row i + 3
      if ((set & (set >> 1)) != 0 || (set & (set >> 2)) != 0) continue;
      std::vector<std::int64_t> changes;
      for (int i = 0; i < 17; ++i) {
        if ((set >> i & 1) != 0) changes.push_back(i + 3);
      }
      const double cost = cost_of(x, changes, variance);
      if (cost < least) {
        least = cost;
        best = changes;
      }
    }
    EXPECT_EQ(rows_of(found), best) << "seed " << seed;
    with_changes += best.empty() ? 0 : 1;
  }
  EXPECT_GE(with_changes, 8);
}

// The least cost by trying every begin of every segment, without pruning.
double least_cost(const Values& x, double variance) {
  const double penalty = 3 * std::log(static_cast<double>(x.size()));
  Values least(x.size() + 1, std::numeric_limits<double>::infinity());
  least[0] = -penalty;
  for (std::size_t begin = 0; begin < x.size(); ++begin) {
    double sum = 0, squares = 0;
    for (std::size_t end = begin + 1; end <= x.size(); ++end) {
      sum += x[end - 1];
      squares += x[end - 1] * x[end - 1];
      if (end < begin + 3) continue;
      const double cost = (squares - sum * sum / static_cast<double>(end - begin)) / variance;
      least[end] = std::min(least[end], least[begin] + cost + penalty);
    }
  }
  return least.back();
}

TEST(SeriesChangePoints, LoseNothingByPruning) {
  std::size_t changes = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    // Values without a variance: the largest ones make segments of the shortest length.
    Values x = normal_values(150, seed);
    TestRandom random(seed);
    for (double& value : x) value += std::tan(std::numbers::pi * (random.unit() - 0.5));
    const ChangePoints found = find_change_points(x);
    const double variance = long_run_variance(x, found.autocorrelation);
    EXPECT_NEAR(cost_of(x, rows_of(found), variance), least_cost(x, variance), 1e-8) << seed;
    changes += found.changes.size();
  }
  EXPECT_GE(changes, 300u);
}

TEST(SeriesChangePoints, FindAStepInTheMiddle) {
  int found_near = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Values x = normal_values(400, seed);
    for (std::size_t t = 200; t < 400; ++t) x[t] += 1.5;
    const ChangePoints found = find_change_points(x);
    if (found.changes.size() != 1) continue;
    found_near += std::abs(found.changes[0].row - 200) <= 5 ? 1 : 0;
    EXPECT_NEAR(found.changes[0].mean_after - found.changes[0].mean_before, 1.5, 0.5);
    EXPECT_NEAR(found.changes[0].deviation_after, 1, 0.25);
  }
  EXPECT_GE(found_near, 36);
}

// With the variance of differences alone, the noise would look half as strong and change often.
TEST(SeriesChangePoints, AreRareInAutocorrelatedNoise) {
  int without = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    without += find_change_points(ar1_chains(0.5, 1, 400, seed)).changes.empty() ? 1 : 0;
  }
  EXPECT_GE(without, 95);
}

// Noise that swings to and fro is not an autoregression of order 1, but no drift either.
TEST(SeriesChangePoints, AreFoundInNoiseThatOscillates) {
  std::mt19937_64 words(4);
  Values x{0, 0};
  for (int t = 0; t < 500; ++t) {
    x.push_back(0.5 * x[x.size() - 1] - 0.6 * x[x.size() - 2] + next_normal(words));
  }
  EXPECT_TRUE(find_change_points(x).changes.empty());
  for (std::size_t t = 250; t < x.size(); ++t) x[t] += 2;
  const ChangePoints found = find_change_points(x);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found.changes[0].row), 250, 5);
}

TEST(SeriesChangePoints, OfTheMeanHardlyTouchTheEstimateOfTheNoise) {
  Values x = ar1_chains(0.5, 1, 4000, 3);
  const double before = find_change_points(x).autocorrelation;
  for (std::size_t t = 0; t < x.size(); ++t) x[t] += 5.0 * static_cast<double>(t / 500 % 2);
  const ChangePoints found = find_change_points(x);
  EXPECT_NEAR(before, 0.5, 0.08);
  EXPECT_NEAR(found.autocorrelation, before, 0.03);
  EXPECT_EQ(found.changes.size(), 7u);
}

TEST(SeriesChangePoints, OfAStepWithoutNoiseAreExact) {
  Values x(100, 2.0);
  for (std::size_t t = 37; t < 100; ++t) x[t] = 2.5;
  const ChangePoints found = find_change_points(x);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(found.changes[0].row, 37);
  EXPECT_TRUE(find_change_points(Values(100, 2.0)).changes.empty());
}

TEST(SeriesChangePoints, OfTheVarianceNeedTheirOwnCost) {
  Values x = normal_values(600, 5);
  for (std::size_t t = 300; t < 600; ++t) x[t] *= 3;
  const ChangePoints found = find_change_points(x, ChangeKind::mean_and_variance);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found.changes[0].row), 300, 12);
  EXPECT_GT(found.changes[0].deviation_after, 2 * found.changes[0].deviation_before);
  int without = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    without +=
        find_change_points(normal_values(400, seed), ChangeKind::mean_and_variance).changes.empty()
            ? 1
            : 0;
  }
  EXPECT_GE(without, 38);
}

TEST(SeriesChangePoints, OfLongSeriesAreLocatedByBlocks) {
  Values x = normal_values(50000, 7);
  for (std::size_t t = 20000; t < 50000; ++t) x[t] += 1;
  const ChangePoints found = find_change_points(x);
  EXPECT_EQ(found.rows_per_block, 3);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found.changes[0].row), 20000, 20);
}

TEST(SeriesChangePoints, NeedTwentyFiniteValues) {
  EXPECT_THROW(find_change_points(Values(19, 1.0)), InvalidArgument);
  Values x = normal_values(30, 1);
  x[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(find_change_points(x), InvalidArgument);
}

}  // namespace
}  // namespace kiln::test
