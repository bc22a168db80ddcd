// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/telemetry/incumbent.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kiln/problem.hpp"

namespace kiln::incumbent_test {
namespace {

Incumbent at(double time_s, double value, std::int64_t sweeps = 0) {
  return {.time_s = time_s, .sweeps = sweeps, .value = value};
}

TEST(PrimalGap, IsBetweenZeroAndOne) {
  EXPECT_EQ(primal_gap(90, 100, Sense::maximize), 0.1);
  EXPECT_EQ(primal_gap(125, 100, Sense::minimize), 0.2);
  EXPECT_EQ(primal_gap(-90, -100, Sense::minimize), 0.1);
  EXPECT_EQ(primal_gap(-5, 100, Sense::maximize), 1);
  EXPECT_EQ(primal_gap(0, 100, Sense::maximize), 1);
  EXPECT_EQ(primal_gap(7, 0, Sense::minimize), 1);
  EXPECT_EQ(primal_gap(0, 0, Sense::minimize), 0);
  // Better than the reference is no gap.
  EXPECT_EQ(primal_gap(101, 100, Sense::maximize), 0);
  EXPECT_EQ(primal_gap(-101, -100, Sense::minimize), 0);
}

// A staircase, whose area can be counted: 1 for 2 s, 0.5 for 3 s, 0.1 for 4 s, 0 for 1 s.
TEST(PrimalIntegral, IsTheAreaUnderTheGap) {
  const std::vector<Incumbent> all{at(2, 50), at(5, 90), at(9, 100)};
  EXPECT_NEAR(primal_integral(all, 100, Sense::maximize, 10), 2 + 1.5 + 0.4, 1e-12);
  EXPECT_NEAR(primal_integral(all, 100, Sense::maximize, 7), 2 + 1.5 + 0.2, 1e-12);
  EXPECT_EQ(primal_integral({}, 100, Sense::maximize, 7), 7);
}

TEST(TimeToGap, NamesTheFirstThatIsSoClose) {
  const std::vector<Incumbent> all{at(1, 50, 10), at(2, 95, 20), at(3, 99.95, 30)};
  const std::vector<TimeToGap> table = time_to_gap(all, 100, Sense::maximize, 0);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].gap, 0.1);
  EXPECT_EQ(table[0].time_s, 2);
  EXPECT_EQ(table[1].gap, 0.01);
  EXPECT_EQ(table[1].sweeps, 30);
  EXPECT_EQ(table[2].gap, 0.001);
  EXPECT_EQ(time_to_gap(all, 100, Sense::maximize, 0.06).size(), 5u);
  EXPECT_EQ(time_to_gap(all, 99, Sense::maximize, 0).size(), 5u) << "better than known";
  EXPECT_TRUE(time_to_gap(all, 0, Sense::minimize, 0).empty());
}

TEST(IncumbentList, KeepsAllOfTheFirstThenOnePerPercentAndTheLast) {
  IncumbentList list;
  constexpr std::int64_t first = IncumbentList::all_of_first, most = 3000000;
  for (std::int64_t i = 1; i <= most; ++i) list.add(at(0, -static_cast<double>(i), i));

  const std::vector<Incumbent>& kept = list.kept();
  EXPECT_EQ(list.found(), most);
  EXPECT_EQ(kept.back().sweeps, most);
  for (std::int64_t i = 0; i < first; ++i) {
    ASSERT_EQ(kept[static_cast<std::size_t>(i)].sweeps, i + 1);
  }
  // ln(3000) / ln(1.01) = 804.6; steps of whole sweeps are a little longer.
  EXPECT_GT(kept.size(), 1000u + 750);
  EXPECT_LT(kept.size(), 1000u + 806);
  for (std::size_t i = 1000; i < list.settled(); ++i) {
    EXPECT_GE(static_cast<double>(kept[i].sweeps), 1.01 * static_cast<double>(kept[i - 1].sweeps));
  }
}

TEST(IncumbentList, GoesOnAsItWasRestored) {
  IncumbentList whole, half;
  for (std::int64_t i = 1; i <= 5000; ++i) {
    whole.add(at(0, 0, i));
    half.add(at(0, 0, i));
    if (i % 700 != 0) continue;
    IncumbentList other;
    other.restore(half.kept(), half.found(), half.last_may_go());
    half = other;
  }
  ASSERT_EQ(half.kept().size(), whole.kept().size());
  EXPECT_EQ(half.found(), whole.found());
  for (std::size_t i = 0; i < whole.kept().size(); ++i) {
    EXPECT_EQ(half.kept()[i].sweeps, whole.kept()[i].sweeps);
  }
}

}  // namespace
}  // namespace kiln::incumbent_test
