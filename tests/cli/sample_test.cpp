// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verb sample: from options to files.
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::sample_test {
namespace {

using nlohmann::json;

class Sampling : public ProgramTest {
 protected:
  /// Eight schools in four chains, short.
  static std::vector<std::string> schools(std::vector<std::string> more) {
    std::vector<std::string> words{"sample",   "posterior:eight-schools",
                                   "--device", "cpu",
                                   "--chains", "4",
                                   "--draws",  "300",
                                   "--warmup", "300"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(Sampling, SpeaksOfChainsWhereTheyAreNotWholeLadders) {
  const Outcome outcome = run(schools({"-p", "rungs=8"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("fix: --chains 8"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("--replicas"), std::string::npos) << outcome.err;
}

TEST_F(Sampling, ManyShortChainsHaveNestedRHat) {
  const std::vector<std::string> words{"sample",   "posterior:eight-schools",
                                       "--device", "cpu",
                                       "--chains", "256",
                                       "--draws",  "20",
                                       "--warmup", "150"};
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const Outcome outcome = run(as_json);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["sample"]["super_chains"], 16);
  EXPECT_LT(result["sample"]["nested_r_hat_max"]["value"], 1.03);
  EXPECT_TRUE(result["summary"][0]["nested_r_hat"].is_number());

  const Outcome table = run(words);
  EXPECT_NE(table.out.find(" r_hat nested\n"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find(", of 16 super-chains\n"), std::string::npos) << table.out;
}

TEST_F(Sampling, KeptChainsThatAreNoMultipleKeepNestedRHat) {
  const auto words = [](const std::string& keep) -> std::vector<std::string> {
    return {"sample",   "posterior:eight-schools",
            "--device", "cpu",
            "--chains", "256",
            "--draws",  "100",
            "--warmup", "150",
            "-p",       "keep=" + keep,
            "--until",  "rhat<=1.05",
            "--json"};
  };
  const json many = json::parse(run(words("100")).out);
  EXPECT_EQ(many["sample"]["chains"], 100);
  EXPECT_EQ(many["sample"]["super_chains"], 16);
  EXPECT_TRUE(many["sample"]["nested_r_hat_max"]["value"].is_number());
  EXPECT_EQ(many["until"]["conditions"][0]["nested"], true);

  const Outcome outcome = run(words("15"));
  const json few = json::parse(outcome.out);
  EXPECT_EQ(few["sample"]["super_chains"], 16);
  EXPECT_TRUE(few["sample"]["nested_r_hat_max"].is_null());
  EXPECT_EQ(few["until"]["conditions"][0]["nested"], false);
  EXPECT_EQ(few["until"]["conditions"][0]["value"], few["sample"]["r_hat_max"]["value"]);
  EXPECT_NE(few["advice"].dump().find("Only 15 of the 256 chains are kept, and one of each of the "
                                      "16 super-chains is needed for nested R-hat"),
            std::string::npos)
      << few["advice"];
}

TEST_F(Sampling, WritesARunFolder) {
  const Outcome outcome = run(schools({"--out", "run", "--json"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read("run/result.json"), outcome.out);
  const json result = json::parse(outcome.out);
  const json& sample = result["sample"];
  EXPECT_EQ(sample["chains"], 4);
  EXPECT_EQ(sample["draws"], 300);
  EXPECT_EQ(sample["warmup"], 300);
  EXPECT_GT(sample["gradients"]["sampling"], 1200);
  ASSERT_EQ(result["summary"].size(), 10u);
  double mu = 0, error = 0;
  for (const json& q : result["summary"]) {
    if (q["name"] != "mu") continue;
    mu = q["mean"];
    error = q["mcse_mean"];
  }
  // The published mean of mu, 4.41, whose own error is far smaller; five errors of this run.
  EXPECT_GT(error, 0);
  EXPECT_NEAR(mu, 4.41, 5 * error);
  EXPECT_EQ(count_lines(read("run/summary.csv")), 12);  // header, lp__ and ten quantities
  for (const char* file : {"chain_1.csv", "chain_4.csv"}) {
    EXPECT_EQ(count_lines(read(std::string("run/") + file)), 11 + 1 + 300) << file;
  }
  EXPECT_FALSE(exists("run/chain_5.csv"));
  EXPECT_FALSE(exists("run/solution.txt"));
  const std::string npy = read("run/draws.npy");
  EXPECT_NE(npy.find("'shape': (4, 300, 10)"), std::string::npos);
  EXPECT_EQ(npy.size() % 64, std::size_t{4 * 300 * 10 * 8 % 64});
  EXPECT_EQ(json::parse(read("run/run.json"))["command"][1], "sample");
}

// The copy that a long tick can be given up to takes the longer the more draws are kept. Were it
// counted as part of the tick, each tick would have one, and be five hundred times as long.
TEST_F(Sampling, IsNotSlowedByManyKeptDraws) {
  const auto transitions = [&](const std::string& thin) {
    const Outcome outcome =
        run({"solve", "density:gaussian-10", "--schedule", "hmc", "-p", "mode=sample", "--replicas",
             "4", "-p", "draws=1000000", "-p", thin, "--time-limit", "2s", "--json", "-q"});
    return json::parse(outcome.out)["work"]["sweeps"].get<double>();
  };
  EXPECT_GT(20 * transitions("thin=2"), transitions("thin=200"));
}

TEST_F(Sampling, ShowsATableAndWhatToThinkOfIt) {
  const Outcome outcome = run(schools({}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"quantity ", "\nlp__ ", "\nmu ", "\ntau ", "\ntheta[8] ", "\neffective ",
                           "\nR-hat ", "\nE-BFMI ", "\ntransitions ", "\ntime ", "\ndone "}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_NE(outcome.out.find("4 chains x 300 draws after 300 warm-up transitions\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.err.find("   chains 4   seed 1\n"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("moved%"), std::string::npos) << outcome.err;
}

TEST_F(Sampling, IsQuietOnRequest) {
  const Outcome outcome = run(schools({"-q"}));
  EXPECT_EQ(count_lines(outcome.out), 1);
  EXPECT_EQ(outcome.out.find("done   schedule finished after "), 0u) << outcome.out;
}

TEST_F(Sampling, WritesAsManyCsvFilesAsAreAskedFor) {
  ASSERT_EQ(run(schools({"-q", "-o", "none", "--csv", "0"})).exit_code, 0);
  EXPECT_FALSE(exists("none/chain_1.csv"));
  EXPECT_TRUE(exists("none/draws.npy"));
  ASSERT_EQ(run(schools({"-q", "-o", "two", "--csv", "2"})).exit_code, 0);
  EXPECT_TRUE(exists("two/chain_2.csv"));
  EXPECT_FALSE(exists("two/chain_3.csv"));
}

TEST_F(Sampling, IsRepeatedFromItsFolder) {
  ASSERT_EQ(run(schools({"-q", "-o", "run", "--seed", "7"})).exit_code, 0);

  const Outcome again = run({"sample", "--repeat", "run", "--device", "cpu", "-q", "-o", "again"});

  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read("run/draws.npy"), read("again/draws.npy"));
  EXPECT_EQ(json::parse(read("again/result.json"))["seed"], 7);
}

TEST_F(Sampling, IsDiagnosed) {
  ASSERT_EQ(run(schools({"-q", "-o", "run"})).exit_code, 0);

  const Outcome outcome = run({"diagnose", "run"});
  const json document = json::parse(run({"diagnose", "run", "--json"}).out);

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("hmc on posterior:eight-schools, seed 1:\n"), 0u) << outcome.out;
  EXPECT_NE(
      outcome.out.find(": 4 chains x 300 draws after 300 warm-up transitions\nbest log density "),
      std::string::npos)
      << outcome.out;
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(document["sample"], result["sample"]);
  EXPECT_EQ(document["summary"], result["summary"]);
}

TEST_F(Sampling, RefusesASampleThatLacksSomething) {
  ASSERT_EQ(run(schools({"-q", "-o", "run"})).exit_code, 0);
  json result = json::parse(read("run/result.json"));
  result["sample"].erase("e_bfmi");
  write("cut.json", result.dump());

  const Outcome outcome = run({"diagnose", "cut.json"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err.find("error[input.parse]: cut.json: "), 0u) << outcome.err;
}

TEST_F(Sampling, TakesOptionsFromFileAndEnvironment) {
  write("run.toml", "draws = 50\nwarmup = 60\nchains = 3\n\n[schedule]\nmax_depth = 5\n");
  const Outcome outcome =
      run(Call{{"sample", "posterior:eight-schools", "--device", "cpu", "--config", "run.toml",
                "--warmup", "70", "--dry-run", "--json"},
               {},
               {{"KILN_CHAINS", "5"}}});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json plan = json::parse(outcome.out);
  EXPECT_EQ(plan["replicas"], 5);
  const json& parameters = plan["schedule"]["parameters"];
  EXPECT_EQ(parameters["draws"],
            (json{{"value", "50"}, {"origin", "config"}, {"place", "run.toml:1:1"}}));
  EXPECT_EQ(parameters["warmup"], (json{{"value", "70"}, {"origin", "command line"}}));
  EXPECT_EQ(parameters["max_depth"]["value"], "5");
}

class SamplingUsage : public Sampling {
 protected:
  std::string complaint_about(std::vector<std::string> words) const {
    words.insert(words.begin(), "sample");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
};

TEST_F(SamplingUsage, NeedsAProblem) {
  EXPECT_EQ(complaint_about({}),
            "error[cli.missing]: kiln sample needs a problem\n"
            "  a path, - for standard input, or an instance such as posterior:eight-schools\n"
            "  fix: kiln sample posterior:eight-schools\n");
}

TEST_F(SamplingUsage, RefusesProblemsThatAreNoDensity) {
  EXPECT_EQ(complaint_about({"torus:8x8,1", "--device", "cpu"}),
            "error[problem.no_density]: torus:8x8,1 is an optimisation problem, not a posterior; "
            "kiln sample needs a log-density\n"
            "  kiln list problems shows the posteriors\n"
            "  fix: kiln solve torus:8x8,1\n");
}

TEST_F(SamplingUsage, RefusesSchedulesThatKeepNoDraws) {
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--schedule", "simulated-annealing"}),
            "error[schedule.no_draws]: schedule 'simulated-annealing' is for searches and keeps no "
            "draws\n"
            "  schedules that sample: hmc\n"
            "  fix: kiln solve PROBLEM --schedule simulated-annealing\n");
}

TEST_F(SamplingUsage, RefusesTheSameTwice) {
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--draws", "5", "-p", "draws=6"}),
            "error[cli.repeated]: --draws and -p draws set the same option\n"
            "  fix: remove --draws or -p draws\n");
}

TEST_F(SamplingUsage, RefusesBadNumbers) {
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--csv", "10000"}),
            "error[cli.range]: --csv=10000 is outside 0 .. 9999\n"
            "  fix: draws.npy has the draws of all chains that were kept\n");
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--chains", "0"}),
            "error[cli.range]: --chains=0 is outside 1 .. 2147483648\n"
            "  fix: give a positive number, for example --chains 1024\n");
}

TEST_F(SamplingUsage, KnowsItsOwnOptions) {
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--sweeps", "5"})
                .find("error[cli.unknown]: unknown option '--sweeps'"),
            0u);
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--replicas", "5"}),
            "error[cli.unknown]: unknown option '--replicas'; this verb has '--chains'\n");
  write("run.toml", "target = 5\n");
  EXPECT_EQ(complaint_about({"posterior:eight-schools", "--config", "run.toml"})
                .find("error[config.key]: run.toml:1:1: 'target' is not an option of kiln sample"),
            0u);
}

}  // namespace
}  // namespace kiln::test::sample_test
