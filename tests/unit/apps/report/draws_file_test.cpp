// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Histograms and ranks of draws, against counting in the plainest way.
#include "report/draws_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kiln::cli::draws_file_test {
namespace {

namespace fs = std::filesystem;

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::reduce(counts.begin(), counts.end());
}

std::vector<double> normal_draws(std::size_t n, std::uint32_t seed, double shift = 0) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& x : values) x = normal(generator) + shift;
  return values;
}

/// How many of `all` are less, or equal and before.
std::size_t rank_of(const std::vector<double>& all, std::size_t i) {
  std::size_t rank = 0;
  for (std::size_t j = 0; j < all.size(); ++j) {
    rank += all[j] < all[i] || (all[j] == all[i] && j < i) ? 1 : 0;
  }
  return rank;
}

TEST(DrawsFile, HistogramCountsEveryDrawOnce) {
  std::vector<double> values = normal_draws(5000, 1);
  values[7] = std::numeric_limits<double>::quiet_NaN();
  values[8] = std::numeric_limits<double>::infinity();
  const QuantityDraws one = histogram_of("x", values);
  EXPECT_EQ(sum(one.counts) + one.below + one.above + one.not_finite, 5000);
  EXPECT_EQ(one.not_finite, 2);
  EXPECT_EQ(one.below, 4);  // a thousandth of 4998 at each end
  EXPECT_EQ(one.above, 4);
  const double width = (one.high - one.low) / static_cast<double>(histogram_bins);
  for (std::size_t b = 0; b < histogram_bins; ++b) {
    // Edges are rounded; no draw of these lies on one.
    const double from = one.low + static_cast<double>(b) * width, to = from + width;
    const auto within = std::ranges::count_if(values, [&](double x) {
      const bool last = b + 1 == histogram_bins;
      return x >= from && (last ? x <= one.high : x < to) && x <= one.high;
    });
    EXPECT_EQ(one.counts[b], within) << b;
  }
}

TEST(DrawsFile, HistogramOfEqualDrawsHasOneBin) {
  const QuantityDraws one = histogram_of("x", std::vector<double>(100, 3.5));
  EXPECT_EQ(one.counts[0], 100);
  EXPECT_EQ(sum(one.counts), 100);
  EXPECT_EQ(histogram_of("x", std::vector<double>(3, NAN)).not_finite, 3);
}

TEST(DrawsFile, RanksAreThoseAmongAllChains) {
  std::vector<double> values = normal_draws(4 * 100, 2);
  values[17] = values[250];  // a tie
  QuantityDraws one;
  count_ranks(values, 4, one);
  ASSERT_EQ(one.ranks.size(), 4u);
  for (std::size_t shown = 0; shown < 4; ++shown) {
    std::vector<std::int64_t> expected(rank_bins);
    const auto chain = static_cast<std::size_t>(one.rank_chains[shown]);
    for (std::size_t t = 0; t < 100; ++t) {
      ++expected[rank_of(values, chain * 100 + t) * rank_bins / values.size()];
    }
    EXPECT_EQ(one.ranks[shown], expected) << "chain " << chain;
    EXPECT_EQ(sum(one.ranks[shown]), 100);
  }
}

// The chain that disagrees is what the plot is for: it must be among those that are shown.
TEST(DrawsFile, TheChainThatDisagreesIsShownFirst) {
  std::vector<double> values = normal_draws(30 * 200, 3);
  for (std::size_t t = 0; t < 200; ++t) values[21 * 200 + t] += 1.5;
  QuantityDraws one;
  count_ranks(values, 30, one);
  ASSERT_EQ(one.ranks.size(), max_rank_chains);
  EXPECT_EQ(one.rank_chains.front(), 21);
  EXPECT_GT(one.ranks.front().back(), 3 * 10) << "its draws have high ranks";
}

class DrawsFileOnDisk : public testing::Test {
 protected:
  DrawsFileOnDisk()
      : path_(fs::temp_directory_path() / ("kiln-draws-" + std::to_string(::getpid()))) {}
  ~DrawsFileOnDisk() override { fs::remove(path_); }

  static std::string header(const std::string& shape) {
    std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
    text.resize(117, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
  }
  void write(const std::string& start, const std::vector<double>& values) const {
    std::ofstream out(path_, std::ios::binary);
    out << start;
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(8 * values.size()));
  }
  std::optional<DrawsFile> read(std::size_t quantities) {
    return read_draws_file(path_, std::vector<std::string>(quantities, "q"), why_);
  }

  fs::path path_;
  std::string why_;
};

TEST_F(DrawsFileOnDisk, ColumnsAreQuantities) {
  const std::vector<double> first = normal_draws(3 * 50, 5), second = normal_draws(3 * 50, 6, 9);
  std::vector<double> both;
  for (std::size_t i = 0; i < first.size(); ++i) both.insert(both.end(), {first[i], second[i]});
  write(header("(3, 50, 2)"), both);
  const std::optional<DrawsFile> file = read(2);
  ASSERT_TRUE(file) << why_;
  EXPECT_EQ(file->chains, 3);
  EXPECT_EQ(file->draws, 50);
  EXPECT_EQ(file->stride, 1);
  EXPECT_EQ(file->all[0].counts, histogram_of("q", first).counts);
  EXPECT_EQ(file->all[1].counts, histogram_of("q", second).counts);
  QuantityDraws ranks;
  count_ranks(second, 3, ranks);
  EXPECT_EQ(file->all[1].ranks, ranks.ranks);
}

TEST_F(DrawsFileOnDisk, LongChainsAreThinnedByWholeDraws) {
  // Draw t of each chain is t: those that are kept are multiples of the stride.
  std::vector<double> values;
  for (int chain = 0; chain < 2; ++chain) {
    for (int t = 0; t < 700'000; ++t) values.push_back(t);
  }
  write(header("(2, 700000, 1)"), values);
  const std::optional<DrawsFile> file = read(1);
  ASSERT_TRUE(file) << why_;
  EXPECT_EQ(file->stride, 22);
  const QuantityDraws& one = file->all[0];
  EXPECT_EQ(sum(one.counts) + one.below + one.above, 2 * 31819);
  EXPECT_EQ(one.low, 22 * 31) << "the outermost 63 of 0, 0, 22, 22, ... are outside";
  EXPECT_EQ(one.high, 22 * (31818 - 31));
  EXPECT_EQ(file->rank_stride, 4 * 22);
  EXPECT_EQ(sum(one.ranks[0]), 7955);
}

TEST_F(DrawsFileOnDisk, WhatIsNoSuchArrayIsLeftOut) {
  const std::vector<double> values = normal_draws(12, 1);
  for (const char* shape : {"(3, 4)", "(3, 4, 1, 1)", "(-3, 4, 1)", "(3, 5, 1)", "(3, 4, 2)",
                            "(99999999999999999999, 4, 1)", "(1099511627776, 1099511627776, 8)"}) {
    write(header(shape), values);
    EXPECT_FALSE(read(1)) << shape;
    EXPECT_NE(why_, "") << shape;
  }
  write(header("(3, 4, 1)"), values);
  ASSERT_TRUE(read(1));
  EXPECT_FALSE(read(2)) << "result.json has another number of quantities";
  const auto whole = fs::file_size(path_);
  for (std::uintmax_t size = 0; size < whole; ++size) {
    write(header("(3, 4, 1)"), values);
    fs::resize_file(path_, size);
    EXPECT_FALSE(read(1)) << size << " bytes";
  }
}

}  // namespace
}  // namespace kiln::cli::draws_file_test
