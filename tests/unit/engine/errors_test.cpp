// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kiln::errors_test {
namespace {

TEST(Error, WhatIsOneReadableBlock) {
  const InvalidArgument error("input.value", "wrong", "right would be", "do this");
  EXPECT_STREQ(error.what(), "input.value: wrong\n  right would be\n  fix: do this");
  EXPECT_EQ(error.code(), "input.value");
  EXPECT_EQ(error.message(), "wrong");
  EXPECT_EQ(error.expected(), "right would be");
  EXPECT_EQ(error.fix(), "do this");
  EXPECT_EQ(error.fix_steps().steps().size(), 1u);
  EXPECT_STREQ(InvalidArgument("a.b", "c").what(), "a.b: c");
}

TEST(Error, EveryKindIsAnError) {
  EXPECT_THROW(throw ObjectiveError("a", "b"), Error);
  EXPECT_THROW(throw NoDevice("a", "b"), Error);
  EXPECT_THROW(throw ParseError("f", {}, 0), std::runtime_error);
}

TEST(ParseError, NamesThePlaceOfTheFirstIssue) {
  EXPECT_EQ(ParseError("f", {{3, 7, "bad", "good"}, {4, 1, "worse", ""}}, 9).message(),
            "f:3:7: bad");
  EXPECT_EQ(ParseError("f", {{3, 7, "bad", "good"}}, 9).expected(), "expected: good");
  EXPECT_EQ(ParseError("f", {{3, 0, "bad", ""}}, 1).message(), "f:3: bad");
  EXPECT_EQ(ParseError("f", {{0, 0, "empty", ""}}, 1).message(), "f: empty");
  EXPECT_EQ(ParseError("f", {}, 0).message(), "f: unreadable");
  EXPECT_EQ(ParseError("f", {{3, 7, "bad", "good"}}, 9).total(), 9);
}

TEST(OutOfDeviceMemory, KeepsTheNumbers) {
  const OutOfDeviceMemory error("too much", 100, 7, Fix::set_replicas(32));
  EXPECT_EQ(error.bytes_needed(), 100u);
  EXPECT_EQ(error.bytes_free(), 7u);
  EXPECT_EQ(error.fix(), "set RunOptions::replicas = 32");
  EXPECT_TRUE(std::string(error.what()).ends_with("\n  fix: set RunOptions::replicas = 32"));
}

TEST(NearestName, FindsSlipsOfTheFinger) {
  const std::vector<std::string> names{"linear", "geometric", "exponential", "list"};
  EXPECT_EQ(nearest_name("linear", names), "linear");
  EXPECT_EQ(nearest_name("lineer", names), "linear");
  EXPECT_EQ(nearest_name("geomtric", names), "geometric");
  EXPECT_EQ(nearest_name("exponentail", names), "exponential");
  EXPECT_EQ(nearest_name("lst", names), "list");
}

TEST(NearestName, GivesNothingWhereNothingIsMeant) {
  EXPECT_EQ(nearest_name("temperature", {"linear", "list"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("", {"linear"}), "");
}

// One digit is as near as one letter, and means something else.
TEST(NearestName, TakesNoNumberForAnother) {
  const std::vector<std::string> names{"G1", "G9", "G22", "hartmann6", "matern52"};
  for (const char* word : {"G999", "G2", "G99", "g9999", "G23", "hartmann3", "matern51"}) {
    EXPECT_EQ(nearest_name(word, names), "") << word;
  }
  EXPECT_EQ(nearest_name("g22", names), "G22");
  EXPECT_EQ(nearest_name("hartman6", names), "hartmann6");
  EXPECT_EQ(nearest_name("hartman", names), "hartmann6");
  EXPECT_EQ(nearest_name("matern-52", names), "matern52");
}

TEST(NearestName, PrefersTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("beta", {"betb", "betc"}), "betb");
}

}  // namespace
}  // namespace kiln::errors_test
