// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/graph_base_random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln::graph_base_random_test {
namespace {

using problems::detail::GraphBaseRandom;

std::vector<std::uint32_t> first_outputs(std::int64_t seed, std::size_t n) {
  GraphBaseRandom random(seed);
  std::vector<std::uint32_t> outputs;
  while (outputs.size() < n) outputs.push_back(random.next());
  return outputs;
}

TEST(GraphBaseRandom, GivesThePublishedCheckValues) {
  GraphBaseRandom random(-314159);

  EXPECT_EQ(random.next(), 119318998U);
  for (int k = 0; k < 133; ++k) random.next();
  EXPECT_EQ(random.uniform(0x55555555), 748103812);
}

TEST(GraphBaseRandom, GivesKnownOutputsForSeedsOfTheGset) {
  EXPECT_EQ(first_outputs(1, 4),
            (std::vector<std::uint32_t>{275547501, 20608703, 63752066, 1189259106}));
  EXPECT_EQ(first_outputs(8001, 5), (std::vector<std::uint32_t>{1414150523, 1816102906, 1089118783,
                                                                1397856254, 1180343539}));
}

TEST(GraphBaseRandom, DrawsKnownBits) {
  GraphBaseRandom random(20001);
  std::string bits;
  for (int k = 0; k < 32; ++k) bits += std::to_string(random.uniform(2));

  EXPECT_EQ(bits, "00001110111101000101110011100000");

  GraphBaseRandom same(20001);
  for (const char bit : bits) EXPECT_EQ(same.sign(), bit == '1' ? 1.0 : -1.0);
}

TEST(GraphBaseRandom, ConsumesAnOutputForARangeOfOne) {
  GraphBaseRandom random(1);

  EXPECT_EQ(random.uniform(1), 0);
  EXPECT_EQ(random.next(), 20608703U);
}

TEST(GraphBaseRandom, DependsOnTheSeedModuloTwoToThe31) {
  const std::int64_t two_to_31 = std::int64_t{1} << 31;

  EXPECT_EQ(first_outputs(-314159, 100), first_outputs(two_to_31 - 314159, 100));
  EXPECT_EQ(first_outputs(8001, 100), first_outputs(5 * two_to_31 + 8001, 100));
  EXPECT_NE(first_outputs(8001, 100), first_outputs(8002, 100));
}

TEST(GraphBaseRandom, FollowsItsRecurrenceAcrossRefreshes) {
  const std::vector<std::uint32_t> x = first_outputs(7, 500);

  // Outputs come from the end of each batch to its front, so the batches run backwards in time:
  // the recurrence holds for the sequence that reverses each batch of 55. The first batch lacks
  // the entry that seeding skips.
  std::vector<std::uint32_t> in_order;
  for (std::size_t start = 54; start + 55 <= x.size(); start += 55) {
    for (std::size_t k = 0; k < 55; ++k) in_order.push_back(x[start + 54 - k]);
  }
  ASSERT_GT(in_order.size(), 300U);
  for (std::size_t k = 55; k < in_order.size(); ++k) {
    ASSERT_EQ(in_order[k], (in_order[k - 55] - in_order[k - 24]) & 0x7fffffffU) << "at " << k;
  }
}

TEST(GraphBaseRandom, RefusesAnEmptyRange) {
  GraphBaseRandom random(1);

  EXPECT_THROW(random.uniform(0), InvalidArgument);
  EXPECT_THROW(random.uniform(-5), InvalidArgument);
}

}  // namespace
}  // namespace kiln::graph_base_random_test
