// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "kiln/errors.hpp"
#include "kiln/registry.hpp"
#include "kiln/schedules/pipeline.hpp"

namespace kiln::test::pipeline_text_test {
namespace {

PipelineText parsed(const std::string& text) { return PipelineText(text, builtin_registry()); }

std::string canonical(const std::string& text) { return parsed(text).canonical(); }

std::string complaint(const std::string& text) {
  try {
    parsed(text);
  } catch (const InvalidArgument& error) {
    return error.message();
  }
  return "accepted";
}

TEST(PipelineText, HasStagesWithParametersAndLimits) {
  const PipelineText text = parsed(
      "sa ( sweeps = 2000,cooling=pid )>pt(betas='0.1,0.5,1', ladder=\"list\",time_limit=2m)");
  ASSERT_EQ(text.stages().size(), 2u);
  EXPECT_EQ(text.stages()[0].schedule, "simulated-annealing");
  EXPECT_EQ(text.stages()[0].limit.sweeps, 2000);
  EXPECT_EQ(text.stages()[0].parameters.at("cooling"), "pid");
  EXPECT_EQ(text.stages()[1].parameters.at("betas"), "0.1,0.5,1");
  EXPECT_EQ(text.stages()[1].limit.time_limit_s, 120);
  EXPECT_EQ(text.make()->name(), "simulated-annealing > parallel-tempering");
  EXPECT_EQ(text.make()->parameters().at("1.cooling"), "pid");
}

TEST(PipelineText, TheCanonicalTextIsItsOwn) {
  for (const char* text : {"sa(sweeps=10,cooling=pid)>pt", "pt(betas='0.1,0.5',ladder=list)",
                           "sa(time-limit=500ms) > sa()", "sa(sweeps=5) > pa(sweeps=7) > pt"}) {
    const std::string once = canonical(text);
    EXPECT_EQ(canonical(once), once);
  }
  EXPECT_EQ(canonical("sa(cooling=pid,sweeps=10)>pt"),
            "simulated-annealing(sweeps=10, cooling=pid) > parallel-tempering");
  EXPECT_EQ(canonical("sa(time_limit=500ms)>pt(betas=\"0.1,0.5\",ladder=list)"),
            "simulated-annealing(time_limit=0.5s) > parallel-tempering(betas='0.1,0.5', "
            "ladder=list)");
}

TEST(PipelineText, AComplaintHasItsColumn) {
  const auto expect = [](const std::string& text, const std::string& begin) {
    EXPECT_TRUE(complaint(text).starts_with(begin)) << text << ": " << complaint(text);
  };
  expect("sa(sweeps=10) > temperng", "column 17 of the schedule: unknown schedule 'temperng'");
  expect(
      "sa(sweeps=10, coolng=pid) > pt",
      "column 15 of the schedule: 'coolng' is no parameter of 'simulated-annealing'; the nearest "
      "is 'cooling'");
  expect("sa(sweeps=10 > pt", "column 14 of the schedule: unexpected '>' after a value");
  expect("sa(sweeps=10", "column 3 of the schedule: the bracket that opens here is not closed");
  expect("sa(sweeps=10,", "column 3 of the schedule: the bracket that opens here is not closed");
  expect("sa(sweeps=10) > ", "column 17 of the schedule: a stage is missing before the end");
  expect("> pt", "column 1 of the schedule: a stage is missing before '>'");
  expect("sa(sweeps=10) > > pt", "column 17 of the schedule: a stage is missing before '>'");
  expect("sa(sweeps=10) pt", "column 15 of the schedule: unexpected 'p'");
  expect("sa(sweeps=10)) > pt", "column 14 of the schedule: unexpected ')'");
  expect("sa(, sweeps=10) > pt", "column 4 of the schedule: a parameter is missing before ','");
  expect("sa(sweeps) > pt", "column 4 of the schedule: 'sweeps' has no value");
  expect("sa(sweeps=) > pt", "column 11 of the schedule: 'sweeps' has no value");
  expect("sa(sweeps=0) > pt", "column 11 of the schedule: sweeps=0 is not a number of sweeps");
  expect("sa(sweeps=1e3) > pt", "column 11 of the schedule: sweeps=1e3 is not a number of sweeps");
  expect("sa(time_limit=-1s) > pt", "column 15 of the schedule: time_limit=-1s is not a time");
  expect("sa(sweeps=10, sweeps=20) > pt", "column 15 of the schedule: 'sweeps' is given twice");
  expect("pt(betas='0.1,0.5) > sa", "column 10 of the schedule: the quote that begins here");
  expect("pt(betas=0.1,0.5) > sa", "column 14 of the schedule: '0.5' has no value");
  expect("sa(sweeps=10) > pt(rungs=many)", "column 17 of the schedule: ");
  expect("sa(cooling=(pid)) > pt", "column 12 of the schedule: 'cooling' has no value");
}

TEST(PipelineText, IsMoreThanAName) {
  EXPECT_TRUE(PipelineText::is_one("sa > pt"));
  EXPECT_TRUE(PipelineText::is_one("sa(sweeps=10)"));
  EXPECT_FALSE(PipelineText::is_one("simulated-annealing"));
}

}  // namespace
}  // namespace kiln::test::pipeline_text_test
