// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// kiln analyze RUN: flow between rungs with exchange and without, inputs that matter, and runs of
// which there is nothing to say.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::analyze_run_test {
namespace {

using nlohmann::json;

class AnalyzeRun : public ProgramTest {
 protected:
  // Rungs so close together that most swaps are accepted, recorded after every sweep.
  Outcome temper(const std::string& folder, const std::string& swap_probability,
                 std::vector<std::string> more = {"--telemetry", "replicas", "--telemetry-interval",
                                                  "1"}) const {
    std::vector<std::string> words{"solve",      "torus:14x14,1",
                                   "--device",   "cpu",
                                   "--schedule", "parallel-tempering",
                                   "--replicas", "16",
                                   "--sweeps",   "1500",
                                   "-q",         "-o",
                                   folder};
    for (const std::string parameter :
         {"rungs=4", "beta_min=0.9", "beta_max=1.05", "cluster_moves=off", "cadence=stochastic"}) {
      words.insert(words.end(), {"-p", parameter});
    }
    words.insert(words.end(), {"-p", "swap_probability=" + swap_probability});
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(AnalyzeRun, ExchangeMakesFlowBetweenRungs) {
  ASSERT_EQ(temper("on", "1").exit_code, 0);
  const json on = result_of(run({"analyze", "on", "--surrogates", "20", "--json"}));
  EXPECT_EQ(on.at("schema"), "kiln.run_analysis/1");
  ASSERT_EQ(on.at("ladder").at("flow").size(), 6u);
  EXPECT_LT(on.at("ladder").at("p_value"), 1e-6);
  EXPECT_EQ(on.at("ladder").at("sweeps_apart"), 1) << "--telemetry-interval 1";
  EXPECT_EQ(on.at("clones"), json::array());
}

// Short ladders of spins are tempered in blocks of 32, each one group of the telemetry.
TEST_F(AnalyzeRun, LaddersInBlocksAreLadders) {
  ASSERT_EQ(run({"solve",
                 "torus:8x8,1",
                 "--schedule",
                 "parallel-tempering",
                 "-p",
                 "rungs=4",
                 "-p",
                 "beta_min=0.7",
                 "-p",
                 "beta_max=1.1",
                 "-p",
                 "cluster_moves=off",
                 "--sweeps",
                 "600",
                 "--telemetry",
                 "replicas",
                 "--telemetry-interval",
                 "1",
                 "--device",
                 "cpu",
                 "-q",
                 "-o",
                 "blocks"})
                .exit_code,
            0);
  const json result = json::parse(read("blocks/result.json"));
  const json found = result_of(run({"analyze", "blocks", "--surrogates", "20", "--json"}));
  EXPECT_EQ(found.at("ladder").at("ladders"), result.at("diagnostics").at("ladders"));
  ASSERT_EQ(found.at("ladder").at("flow").size(), 6u);
  EXPECT_LT(found.at("ladder").at("p_value"), 1e-3);
}

// p-values are uniform without exchange: of three the second least is below 0.05 in 0.7 % of cases.
TEST_F(AnalyzeRun, NothingFlowsWithoutExchangeAndDiagnoseSaysSo) {
  int low = 0;
  for (const std::string seed : {"1", "2", "3"}) {
    const std::string folder = "off" + seed;
    ASSERT_EQ(temper(folder, "0",
                     {"--telemetry", "replicas", "--telemetry-interval", "1", "--seed", seed})
                  .exit_code,
              0);
    const json off = result_of(run({"analyze", folder, "--surrogates", "20", "--json"}));
    low += off.at("ladder").at("p_value") <= 0.05 ? 1 : 0;
    for (const json& link : off.at("ladder").at("flow"))
      EXPECT_FALSE(link.at("significant")) << link;
    EXPECT_EQ(json::parse(read(folder + "/analysis.json")), off);
  }
  EXPECT_LE(low, 1);
  const Outcome diagnosis = run({"diagnose", "off2"});
  EXPECT_NE(diagnosis.out.find("Exchange is off"), std::string::npos) << diagnosis.out;
  EXPECT_EQ(diagnosis.out.find("--telemetry-interval"), std::string::npos) << diagnosis.out;
}

// A budget of 300 epochs thins the rest of them to one in 64.
TEST_F(AnalyzeRun, DenseEpochsAreUsedAndAThinnedRunNamesItsBudget) {
  const std::vector<std::string> each{"--telemetry", "replicas", "--telemetry-interval", "1"};
  std::vector<std::string> some = each, few = each;
  some.insert(some.end(), {"--telemetry-budget", "1300000", "-p", "burn_in=100"});
  few.insert(few.end(), {"--telemetry-budget", "400000", "-p", "burn_in=1000"});
  ASSERT_EQ(temper("some", "1", some).exit_code, 0);
  const Outcome dense = run({"analyze", "some", "--surrogates", "20"});
  EXPECT_NE(dense.out.find("1 sweep apart, sweeps "), std::string::npos) << dense.out;
  ASSERT_EQ(temper("few", "1", few).exit_code, 0);
  const Outcome thinned = run({"analyze", "few", "--surrogates", "20"});
  EXPECT_NE(thinned.out.find("--telemetry-budget"), std::string::npos) << thinned.out;
  EXPECT_EQ(thinned.out.find("--telemetry-interval"), std::string::npos) << thinned.out;
}

TEST_F(AnalyzeRun, TheHelpSaysWhatRunsTake) {
  EXPECT_NE(run({"analyze", "--help"}).out.find("20 or more, 40 by default"), std::string::npos);
}

TEST_F(AnalyzeRun, TheIntervalOfTelemetryChangesNoAnswer) {
  ASSERT_EQ(temper("fine", "1").exit_code, 0);
  ASSERT_EQ(temper("coarse", "1", {}).exit_code, 0);
  EXPECT_EQ(read("fine/solution.txt"), read("coarse/solution.txt"));
  const json fine = json::parse(read("fine/result.json"));
  const json coarse = json::parse(read("coarse/result.json"));
  EXPECT_EQ(fine.at("series"), coarse.at("series"));
}

TEST_F(AnalyzeRun, RunsWithoutEnergiesOfReplicasSayWhichOptionGivesThem) {
  ASSERT_EQ(temper("plain", "1", {}).exit_code, 0);
  const Outcome outcome = run({"analyze", "plain"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("error[analyze.nothing]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--telemetry replicas"), std::string::npos) << outcome.err;
  EXPECT_FALSE(exists("plain/analysis.json"));
}

TEST_F(AnalyzeRun, ShortRunsSayHowManyEpochsAreNeeded) {
  ASSERT_EQ(temper("short", "1", {"--telemetry", "replicas"}).exit_code, 0);
  const Outcome outcome = run({"analyze", "short"});
  EXPECT_EQ(outcome.exit_code, 0) << "there are clones to look for";
  EXPECT_NE(outcome.out.find("64 epochs"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("--telemetry-interval"), std::string::npos) << outcome.out;
}

TEST_F(AnalyzeRun, OptionsOfTablesAreRefused) {
  ASSERT_EQ(temper("on", "1").exit_code, 0);
  const Outcome outcome = run({"analyze", "on", "--measure", "te"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--measure is for tables"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kiln::test::analyze_run_test
