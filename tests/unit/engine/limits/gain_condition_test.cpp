// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/limits/gain_condition.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "kiln/errors.hpp"

namespace kiln::gain_condition_test {
namespace {

using Unit = GainCondition::Unit;

TEST(GainCondition, ReadsBoundsAndUnits) {
  const GainCondition share{0.1, true, 1'000'000'000, Unit::attempts};
  for (const char* text : {"gain<0.1% in 1e9 attempts", "gain < 0.1 % in 1e9attempts",
                           "  gain<1e-1%in 1G attempts "}) {
    EXPECT_EQ(GainCondition::parse(text), share) << text;
  }
  EXPECT_EQ(GainCondition::parse("gain<2 in 5000 sweeps"),
            (GainCondition{2, false, 5000, Unit::sweeps}));
  EXPECT_EQ(GainCondition::parse("gain<2.5% in 10k evaluations"),
            (GainCondition{2.5, true, 10000, Unit::evaluations}));
  for (const char* text :
       {"gain<0.1% in 1000 attempts", "gain<2 in 7 sweeps", "gain<1e-05% in 40 evaluations"}) {
    EXPECT_EQ(GainCondition::parse(text).text(), text);
  }
}

std::string complaint(const std::string& text) {
  try {
    GainCondition::parse(text);
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message() + "; " + error.expected();
  }
  return "no complaint";
}

TEST(GainCondition, SaysWhereATextIsWrong) {
  const std::string like = ", as in gain<0.1% in 1e9 attempts";
  const auto at = [](int position, const std::string& rest) {
    return "budget.stop_when: position " + std::to_string(position) + ": " + rest;
  };
  EXPECT_EQ(complaint(""), at(1, "the condition begins with the end; 'gain'" + like));
  EXPECT_EQ(complaint("loss<1 in 3 sweeps"),
            at(1, "the condition begins with 'loss'; 'gain'" + like));
  EXPECT_EQ(complaint("gain"), at(5, "'gain' is followed by the end; '<'" + like));
  EXPECT_EQ(complaint("gain>1 in 3 sweeps"), at(5, "'gain' is followed by '>'; '<'" + like));
  EXPECT_EQ(complaint("gain<=1% in 3 sweeps"),
            at(6, "'=' is no finite number; a bound such as 0.1% or 2"));
  EXPECT_EQ(complaint("gain<nan in 3 sweeps"),
            at(6, "'nan' is no finite number; a bound such as 0.1% or 2"));
  EXPECT_EQ(complaint("gain<0% in 3 sweeps"), at(6, "no gain is below 0; a bound greater than 0"));
  EXPECT_EQ(complaint("gain<100% in 3 sweeps"),
            at(6, "each run gains less than that; a bound below 100 %"));
  EXPECT_EQ(complaint("gain<-1 in 3 sweeps"), at(6, "no gain is below 0; a bound greater than 0"));
  EXPECT_EQ(complaint("gain<1% 3 sweeps"), at(9, "the bound is followed by '3'; 'in'" + like));
  EXPECT_EQ(complaint("gain<1% in 0 sweeps"), at(12, "that is no work; a number of at least 1"));
  EXPECT_EQ(complaint("gain<1% in"),
            at(11, "the end is no number of units of work; a number such as 1000, 10k or 1e9"));
  EXPECT_EQ(complaint("gain<1% in x sweeps"),
            at(12, "'x' is no number of units of work; a number such as 1000, 10k or 1e9"));
  EXPECT_EQ(complaint("gain<1% in 1e99 sweeps"),
            at(12, "'1e99' is no number of units of work; a number such as 1000, 10k or 1e9"));
  EXPECT_EQ(complaint("gain<1% in 3"),
            at(13, "the end is no unit of work; sweeps, attempts or evaluations"));
  EXPECT_EQ(complaint("gain<1% in 3 epochs"),
            at(14, "'epochs' is no unit of work; sweeps, attempts or evaluations"));
  EXPECT_EQ(complaint("gain<1% in 3 sweeps or more"),
            at(21, "'or' follows the condition; as in gain<0.1% in 1e9 attempts"));
}

// A limit of time is another one.
TEST(GainCondition, RefusesTimes) {
  for (const char* text : {"gain<1% in 30s", "gain<1% in 30 s", "gain<1% in 30 seconds",
                           "gain<1% in 1.5 minutes", "gain<1% in 500ms", "gain<1% in 2h"}) {
    EXPECT_EQ(complaint(text),
              "budget.stop_when_time: position 12: after a time each repeat would end at another "
              "place; sweeps, attempts or evaluations")
        << text;
  }
}

TEST(GainCondition, ComparesGains) {
  const GainCondition share{1, true, 1, Unit::sweeps}, step{3, false, 1, Unit::sweeps};
  EXPECT_TRUE(share.holds(1000, 1009));
  EXPECT_FALSE(share.holds(1000, 1011));
  EXPECT_FALSE(share.holds(99, 100));  // exactly the bound
  EXPECT_TRUE(share.holds(-1000, -1009));
  EXPECT_FALSE(share.holds(-1000, -1011));
  EXPECT_FALSE(share.holds(1, 0));  // every gain is large beside 0
  EXPECT_TRUE(share.holds(0, 0));
  EXPECT_TRUE(step.holds(10, 7.5));
  EXPECT_FALSE(step.holds(10, 7));
  EXPECT_TRUE(step.holds(-1, 1));
  EXPECT_FALSE(step.holds(std::numeric_limits<double>::quiet_NaN(), 1));
  const double largest = std::numeric_limits<double>::max();
  EXPECT_FALSE(share.holds(largest, -largest));
  EXPECT_TRUE(share.holds(largest, largest));
  // Each gain is the bound, as decimals and with the rounding of doubles.
  const GainCondition tenth{0.1, false, 1, Unit::sweeps}, tenths{10, true, 1, Unit::sweeps};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(tenth.holds(i / 10.0, (i + 1) / 10.0)) << i;
    EXPECT_TRUE(i == 0 || !tenths.holds(0.9 * i, i)) << i;
    EXPECT_TRUE(tenth.holds(i / 10.0, (i + 0.9) / 10.0)) << i;
  }
  const GainCondition half{50, true, 1, Unit::sweeps};
  EXPECT_TRUE(half.holds(1.1e308, 1e308));
  EXPECT_FALSE(half.holds(1.6e308, 1e308));
}

TEST(GainCondition, RefusesWhatNoTextGives) {
  for (const GainCondition& bad :
       {GainCondition{0, true, 5, Unit::sweeps}, GainCondition{-1, true, 5, Unit::sweeps},
        GainCondition{std::numeric_limits<double>::infinity(), true, 5, Unit::sweeps},
        GainCondition{1, true, 0, Unit::sweeps}, GainCondition{100, true, 5, Unit::sweeps},
        GainCondition{1, true, 5, static_cast<Unit>(9)}}) {
    EXPECT_THROW(check_gain(bad), InvalidArgument);
  }
  check_gain({1, true, 5, Unit::attempts});
}

}  // namespace
}  // namespace kiln::gain_condition_test
