// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fix.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kiln::fix_test {
namespace {

TEST(Fix, OfATextIsThatText) {
  EXPECT_EQ(Fix("do this").sentence(), "do this");
  EXPECT_EQ(Fix(std::string("do that")).sentence(), "do that");
  EXPECT_TRUE(Fix().empty());
  EXPECT_TRUE(Fix("").empty());
  EXPECT_EQ(Fix().sentence(), "");
}

TEST(Fix, IsWordedForTheInterfaceInCpp) {
  EXPECT_EQ(Fix::use_device("cpu").sentence(), "run with RunOptions::device = \"cpu\"");
  EXPECT_EQ(Fix::set_replicas(1056).sentence(), "set RunOptions::replicas = 1056");
  EXPECT_EQ(Fix::longer_time_limit().sentence(), "raise Budget::time_limit_s");
  EXPECT_EQ(Fix::work_limit(640).sentence(), "set Budget::work_limit = 640");
  EXPECT_EQ(Fix::drop_requirement("Parametric").sentence(),
            "choose a schedule or options that do not require Parametric");
  EXPECT_EQ(
      Fix::drop_need("heat_bath").sentence(),
      "set the option moves = \"metropolis\", or choose a schedule or options that do not set "
      "Needs::heat_bath");
  EXPECT_EQ(Fix::drop_need("unpacked").sentence(),
            "choose a schedule or options that do not set Needs::unpacked");
  EXPECT_EQ(Fix::choose_schedule("constraints").sentence(),
            "choose a schedule whose ScheduleEntry::constraints is true");
  EXPECT_EQ(Fix::list_names("problem").sentence(), "Registry::problems() lists them");
}

TEST(Fix, JoinsWaysOfWhichOneIsEnough) {
  const Fix two = Fix("wait").or_else(Fix::use_device("cpu"));
  EXPECT_EQ(two.sentence(), "wait, or run with RunOptions::device = \"cpu\"");
  const Fix three = Fix::use_another_gpu().or_else("wait").or_else("stop");
  EXPECT_EQ(three.sentence(), "try another GPU (RunOptions::device = \"cuda:N\"), wait, or stop");
  EXPECT_EQ(Fix().or_else("wait").sentence(), "wait");
}

TEST(Fix, IsWordedByAProgram) {
  const Fix fix = Fix("wait").or_else(Fix::set_replicas(64));
  const std::string words = fix.worded([](const FixStep& step) {
    EXPECT_EQ(step.code, FixCode::set_replicas) << "a text needs no words";
    return "-n " + step.argument;
  });
  EXPECT_EQ(words, "wait, or -n 64");
}

}  // namespace
}  // namespace kiln::fix_test
