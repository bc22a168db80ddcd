// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Problems of several objectives on the command line: fronts, their files, and what is refused.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"

namespace kiln::test {
namespace {

using nlohmann::json;
using Front = ProgramTest;

std::vector<std::string> front_run(const std::string& problem, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"solve", problem, "--device", "cpu"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json document(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST_F(Front, SeveralObjectivesChooseTheirScheduleAndEndByThemselves) {
  const json result = document(run(front_run("zdt:1", {"--json", "--quiet"})));

  EXPECT_EQ(result["schedule"]["name"], "multi-objective");
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_EQ(result["work"]["sweeps"], 250);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["objective"]["sense"], "maximize");
  const json& front = result["front"];
  EXPECT_EQ(front["objectives"], (json{"f1", "f2"}));
  EXPECT_EQ(front["points"].size(), front["solutions"].size());
  EXPECT_GT(front["points"].size(), 90u);
  EXPECT_EQ(front["solutions"][0].size(), 30u);
  EXPECT_EQ(front["hypervolume"], result["objective"]["best"]);
  EXPECT_GT(front["hypervolume"].get<double>(), 0.865);
  EXPECT_LT(front["hypervolume"].get<double>(), 0.8767);  // of the whole true front
  EXPECT_LT(result["diagnostics"]["igd"].get<double>(), 0.01);
  EXPECT_EQ(result["diagnostics"]["evaluations"], 25100);
}

TEST_F(Front, AFolderHasTheFrontAsATableAndAsAPicture) {
  const Outcome outcome = run(front_run("re:24", {"--sweeps", "20", "-o", "run"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("hypervolume"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n  knee "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n  least weight "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("generations"), std::string::npos) << outcome.err;
  std::istringstream table(read("run/front.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "weight,violation,x[1],x[2]");
  const json front = json::parse(read("run/result.json"))["front"];
  std::size_t rows = 0;
  for (; std::getline(table, line); ++rows) EXPECT_EQ(std::ranges::count(line, ','), 3) << line;
  EXPECT_EQ(rows, front["points"].size());
  EXPECT_EQ(read("run/front.svg").rfind("<svg", 0), 0u);
  EXPECT_TRUE(exists("run/solution.txt"));
}

TEST_F(Front, MaximisedObjectivesAreShownAsUsersReadThem) {
  const json result =
      document(run(front_run("knapsack:30,2,1", {"--sweeps", "50", "--json", "--quiet"})));

  EXPECT_EQ(result["front"]["senses"], (json{"maximize", "maximize"}));
  for (const json& point : result["front"]["points"]) EXPECT_GT(point[0].get<double>(), 0);
}

TEST_F(Front, TheTargetIsAVolume) {
  const json result = document(
      run(front_run("zdt:1", {"--target", "0.8", "--json", "--quiet", "--sweeps", "500"})));

  EXPECT_EQ(result["stop"], "target_reached");
  EXPECT_GE(result["front"]["hypervolume"].get<double>(), 0.8);
}

TEST_F(Front, OfOtherSchedulesIsAVolume) {
  const Outcome outcome = run(front_run(
      "zdt:1", {"--schedule", "simulated-annealing", "--sweeps", "4", "--replicas", "8", "-q"}));
  EXPECT_NE(outcome.out.find("   hypervolume "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" (maximised)"), std::string::npos) << outcome.out;
}

TEST_F(Front, OtherSchedulesWeighTheObjectives) {
  const Outcome outcome =
      run(front_run("zdt:1", {"--schedule", "simulated-annealing", "-p", "groups=20", "--replicas",
                              "20", "--sweeps", "50", "--json", "--scalarize", "chebyshev"}));

  const json result = document(outcome);
  EXPECT_EQ(result["verified"], true);
  EXPECT_GT(result["front"]["points"].size(), 5u);
  EXPECT_NE(outcome.err.find("weighs the objectives"), std::string::npos) << outcome.err;
}

TEST_F(Front, FrontsToCompareWithComeFromFiles) {
  write("same.csv", "f1,f2\n0,1\n0.25,0.5\n1,0\n");
  const json result = document(run(
      front_run("zdt:1", {"--sweeps", "5", "--json", "--quiet", "--reference-front", "same.csv"})));
  EXPECT_GT(result["diagnostics"]["igd"].get<double>(), 0);

  write("other.csv", "1,2,3\n");
  const Outcome other = run(front_run("zdt:1", {"--reference-front", "other.csv"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err.rfind(
                "error[front.dimension]: other.csv has points of 3 objectives, zdt:1 has 2\n", 0),
            0u)
      << other.err;
  const Outcome missing = run(front_run("zdt:1", {"--reference-front", "none.csv"}));
  EXPECT_EQ(missing.exit_code, 3) << missing.err;
  const Outcome single = run(front_run("function:branin", {"--reference-front", "same.csv"}));
  EXPECT_EQ(single.exit_code, 2);
  EXPECT_EQ(single.err.rfind("error[cli.conflict]: --reference-front is for problems of several "
                             "objectives, which function:branin is not\n",
                             0),
            0u)
      << single.err;
}

TEST_F(Front, WhatDoesNotFitIsRefused) {
  const auto error_of = [&](const std::string& problem, std::vector<std::string> more) {
    const Outcome outcome = run(front_run(problem, std::move(more)));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(error_of("zdt:1", {"-p", "population=2"}),
            "error[config.option]: population must be at least 4");
  EXPECT_EQ(error_of("zdt:1", {"-p", "reference=1"}),
            "error[config.option]: reference has 1 values for 2 objectives");
  EXPECT_EQ(error_of("zdt:1", {"-p", "epsilon=0.1,0"}),
            "error[config.option]: each epsilon must be greater than 0");
  EXPECT_EQ(error_of("dtlz:2,4", {"-p", "strategy=sms-emoa"}),
            "error[config.option]: strategy=sms-emoa is for two or three objectives, not 4; nsga3 "
            "takes more");
  EXPECT_EQ(error_of("gset:G1", {"--schedule", "multi-objective"}),
            "error[objective.outputs]: objective 'gset:G1' gives one value");
  EXPECT_EQ(error_of("zdt:1", {"--scalarize", "sum"}),
            "error[cli.range]: --scalarize=sum is none of chebyshev, augmented and weighted-sum");
  EXPECT_EQ(error_of("zdt:7", {}), "error[problem.unknown]: unknown zdt '7'");
}

TEST_F(Front, AReferencePointInsideTheFrontIsSaid) {
  const Outcome outcome = run(front_run("zdt:1", {"-p", "reference=0.5,0.5"}));

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("lie beyond the reference"), std::string::npos) << outcome.err;
}

TEST_F(Front, ARunIsRepeatedFromItsFolder) {
  ASSERT_EQ(run(front_run("zdt:2", {"--sweeps", "10", "-o", "a", "-p", "islands=2"})).exit_code, 0);
  const Outcome again = run(std::vector<std::string>{"solve", "--repeat", "a", "-o", "b"});

  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("a/front.csv"), read("b/front.csv"));
}

}  // namespace
}  // namespace kiln::test
