// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Limits that a repeat keeps: --work-limit and --until.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::limits_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class Limits : public ProgramTest {
 protected:
  static Words schools(Words more) {
    Words words{"sample", "posterior:eight-schools", "--device", "cpu", "--chains", "4"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

// 64 spins of 10 replicas: 640 attempts a sweep.
TEST_F(Limits, WorkBecomesSweepsAndTheRepeatKeepsIt) {
  const Words torus{"torus:8x8,1", "--replicas", "10", "--work-limit", "32k", "--json"};
  const json first = result_of(run(solve(torus[0], {torus[1], torus[2], torus[3], torus[4],
                                                    torus[5], "-o", "run", "--threads", "1"})));
  EXPECT_EQ(first["stop"], "work_limit");
  EXPECT_EQ(first["work"]["sweeps"], 50);
  EXPECT_EQ(first["work"]["attempts"], 32000);
  EXPECT_EQ(first["work"]["unit"], "attempts");
  EXPECT_EQ(first["work"]["limit"], 32000);
  EXPECT_EQ(first["schedule"]["parameters"]["anneal_sweeps"], "50");

  const json again = result_of(run({"solve", "--repeat", "run", "--json", "--threads", "2"}));
  EXPECT_EQ(again["stop"], "work_limit");
  EXPECT_EQ(again["work"], first["work"]);
  EXPECT_EQ(again["solution"], first["solution"]);
}

TEST_F(Limits, TheUnitIsThatOfTheSchedule) {
  const json named = result_of(
      run(solve("torus:8x8,1", {"--replicas", "10", "--work-limit", "6400 attempts", "--json"})));
  EXPECT_EQ(named["work"]["sweeps"], 10);
  const json front = result_of(
      run(solve("zdt:1", {"--replicas", "100", "--work-limit", "1099evaluations", "--json"})));
  EXPECT_EQ(front["stop"], "work_limit");
  EXPECT_EQ(front["work"]["evaluations"], 1000);
  const json search =
      result_of(run(solve("function:branin", {"--schedule", "bayesian-optimization", "--work-limit",
                                              "7", "-p", "batch=2", "--json"})));
  EXPECT_EQ(search["stop"], "work_limit");
  EXPECT_EQ(search["work"]["evaluations"], 6);

  const Outcome other = run(solve("torus:8x8,1", {"--work-limit", "1kgradients"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(first_line(other),
            "error[cli.range]: --work-limit=1kgradients counts gradients, and schedule "
            "'simulated-annealing' counts attempts");
  EXPECT_TRUE(has(other.err, "fix: --work-limit Nattempts")) << other.err;
}

TEST_F(Limits, ALimitBelowASweepNamesWhatFits) {
  const Outcome outcome =
      run(solve("torus:8x8,1", {"--replicas", "10", "--work-limit", "600", "--dry-run"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(
      first_line(outcome),
      "error[budget.work_limit]: a work limit of 600 attempts leaves no sweep of 10 replicas");
  EXPECT_TRUE(has(outcome.err, "\n  at least 640 attempts\n")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "fix: --work-limit 640, or --replicas 9")) << outcome.err;
  for (const char* bad : {"0", "-3", "many", "1.5", "attempts"}) {
    EXPECT_EQ(run(solve("torus:8x8,1", {"--work-limit", bad})).exit_code, 2) << bad;
  }
}

TEST_F(Limits, ThePlanAndTheTextNameTheUnit) {
  const Words words{"--replicas", "10", "--work-limit", "32k"};
  Words dry = words;
  dry.push_back("--dry-run");
  const std::string plan = run(solve("torus:8x8,1", dry)).out;
  EXPECT_TRUE(has(plan, "stop         after 32000 attempts\n")) << plan;
  EXPECT_TRUE(has(plan, "work         50 sweeps of 10 replicas\n")) << plan;
  dry.push_back("--json");
  EXPECT_EQ(result_of(run(solve("torus:8x8,1", dry)))["sweeps"], 50);
  const Outcome outcome = run(solve("torus:8x8,1", words));
  EXPECT_TRUE(has(outcome.err, "stop         after 32000 attempts\n")) << outcome.err;
  EXPECT_EQ(outcome.out.find("done   work limit after "), 0u) << outcome.out;
  EXPECT_TRUE(has(run({"solve", "--help"}).out, "--work-limit N[UNIT]"));
}

TEST_F(Limits, ConditionsEndTheRunAtTheSameDraw) {
  const Outcome one =
      run(schools({"--until", "ess>=300,rhat<=1.05", "--json", "-o", "run", "--threads", "1"}));
  const json first = result_of(one);
  EXPECT_EQ(first["stop"], "converged");
  EXPECT_TRUE(first["until"]["met"].get<bool>());
  EXPECT_EQ(first["until"]["conditions"][0]["statistic"], "ess");
  EXPECT_GE(first["until"]["conditions"][0]["value"], 300);
  EXPECT_LE(first["until"]["conditions"][1]["value"], 1.05);
  const auto draws = first["sample"]["draws"].get<std::int64_t>();
  EXPECT_EQ(draws % 100, 0);
  EXPECT_GE(first["until"]["looks"], 1);
  EXPECT_LT(draws, 1000);

  const json again = result_of(run({"sample", "--repeat", "run", "--json", "--threads", "2"}));
  EXPECT_EQ(again["until"], first["until"]);
  EXPECT_EQ(again["summary"], first["summary"]);
}

TEST_F(Limits, DrawsThatComeFirstAreAMissedTarget) {
  const Words words =
      schools({"--draws", "150", "--warmup", "200", "--until", "ess>=590, divergences <= 0"});
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 10) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "\nuntil        ess ")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, ", wanted >= 590: not met\n")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "\ndone   all draws made after ")) << outcome.out;
  EXPECT_TRUE(has(outcome.err, "when the draws meet ess>=590,divergences<=0 or after 150 draws\n"))
      << outcome.err;

  Words quiet = words;
  quiet.push_back("-q");
  EXPECT_EQ(run(quiet).out.find("until        ess "), 0u);

  const Outcome met = run(schools({"--warmup", "200", "--until", "ess>=20", "-o", "met"}));
  EXPECT_EQ(met.exit_code, 0);
  EXPECT_TRUE(has(met.out, "done   conditions met after ")) << met.out;
  EXPECT_TRUE(has(run({"diagnose", "met"}).out, "conditions met: "));
}

TEST_F(Limits, ConditionsAreReadBeforeAnythingRuns) {
  // What a shell leaves of ess>=400 without quotes.
  const Outcome redirected = run(schools({"--until", "ess"}));
  EXPECT_EQ(redirected.exit_code, 2);
  EXPECT_EQ(first_line(redirected),
            "error[cli.range]: --until=ess, position 4: ess is followed by the end, not by >=");
  EXPECT_TRUE(has(redirected.err, "fix: --until 'ess>=400,rhat<=1.01', in quotes"))
      << redirected.err;
  EXPECT_EQ(run(schools({"--until", ""})).exit_code, 2);
  EXPECT_EQ(first_line(run(schools({"--until", "ess>400"}))),
            "error[cli.range]: --until=ess>400, position 4: ess is followed by '>', not by >=");

  const Outcome never = run(schools({"--until", "ess>=1M", "--dry-run"}));
  EXPECT_EQ(never.exit_code, 2) << "no suffixes here";
  const Outcome far = run(schools({"--until", "ess>=1e6", "--dry-run"}));
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_EQ(first_line(far),
            "error[budget.until]: no run of 4 kept chains x 1000 kept draws can meet ess>=1e+06");
  EXPECT_TRUE(has(far.err, "fix: raise the option draws, or more --chains")) << far.err;
  const Outcome search = run(solve("torus:8x8,1", {"--until", "ess>=4"}));
  EXPECT_EQ(search.exit_code, 2) << "an option of kiln sample";
}

TEST_F(Limits, GradientsEndASampling) {
  const json one =
      result_of(run(schools({"--work-limit", "30kgradients", "--json", "--threads", "1"})));
  EXPECT_EQ(one["stop"], "work_limit");
  EXPECT_GE(one["work"]["gradients"], 30000);
  EXPECT_LT(one["work"]["gradients"], 30000 + 4 * 1023);
  const json two = result_of(run(
      schools({"--work-limit", "30k", "--json", "--threads", "2", "--report-interval", "1ms"})));
  EXPECT_EQ(two["work"]["gradients"], one["work"]["gradients"]);
  EXPECT_EQ(two["work"]["sweeps"], one["work"]["sweeps"]);
  EXPECT_EQ(two["summary"], one["summary"]);
}

}  // namespace
}  // namespace kiln::test::limits_test
