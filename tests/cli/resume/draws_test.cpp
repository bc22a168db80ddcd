// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sampling runs that continue with more draws, and other limits of runs that continue.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::resume_draws_test {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Outcome;

class MoreDraws : public test::ProgramTest {
 protected:
  static std::vector<std::string> sample(const std::string& folder, const std::string& draws) {
    return {"sample",   "posterior:eight-schools",
            "--device", "cpu",
            "--chains", "8",
            "--warmup", "300",
            "--seed",   "5",
            "--draws",  draws,
            "-q",       "-o",
            folder};
  }
  /// Of a file of draws: the names, and a row for each draw.
  std::vector<std::string> rows_of(const std::string& name) const {
    std::vector<std::string> rows = lines_of(read(name));
    std::erase_if(rows, [](const std::string& row) { return row.starts_with('#'); });
    return rows;
  }
  json result_of(const std::string& folder) const {
    json result = json::parse(read(folder + "/result.json"));
    for (const char* part : {"time", "queue", "incumbents", "telemetry", "memory"}) {
      result.erase(part);
    }
    for (const char* part : {"time", "rates"}) result["sample"].erase(part);
    return result;
  }
};

TEST_F(MoreDraws, EqualThoseOfARunThatAskedForAll) {
  ASSERT_EQ(run(sample("whole", "1000")).exit_code, 0);
  ASSERT_EQ(run(sample("run", "300")).exit_code, 0);
  const std::vector<std::string> first = rows_of("run/chain_3.csv");

  for (const char* draws : {"450", "1000"}) {
    const Outcome outcome = run({"resume", "run", "--draws", draws, "-q"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  EXPECT_EQ(read("run/draws.npy"), read("whole/draws.npy"));
  EXPECT_EQ(read("run/summary.csv"), read("whole/summary.csv"));
  json continued = result_of("run");
  EXPECT_EQ(continued["continued"], (json{{"steps", 1300}, {"draws", "1000"}}));
  continued.erase("continued");
  EXPECT_EQ(continued, result_of("whole"));
  const std::vector<std::string> all = rows_of("run/chain_3.csv");
  ASSERT_EQ(first.size(), 301u);
  ASSERT_EQ(all.size(), 1001u);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin())) << "draws 1 .. 300";
}

// The checkpoint knows how many draws the run has now; run.json does not.
TEST_F(MoreDraws, SurviveAnotherResume) {
  ASSERT_EQ(run(sample("run", "300")).exit_code, 0);
  ASSERT_EQ(run({"resume", "run", "--draws", "500", "-q"}).exit_code, 0);
  const Outcome refused = run({"resume", "run"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(
      refused.err.find("after 800 steps of each replica\n  fix: kiln resume run --draws 1000"),
      std::string::npos)
      << refused.err;
  const Outcome fewer = run({"resume", "run", "--draws", "400"});
  EXPECT_EQ(fewer.exit_code, 2);
  EXPECT_NE(fewer.err.find("error[resume.draws]: --draws=400 counts from the start, and the run "
                           "has 500 draws of each chain"),
            std::string::npos)
      << fewer.err;
}

// Of chains and draws that were not kept the sums cannot be made anew.
TEST_F(MoreDraws, NeedAllDrawsOfAllChains) {
  std::vector<std::string> words = sample("run", "300");
  words.insert(words.end(), {"-p", "keep=4"});
  ASSERT_EQ(run(words).exit_code, 0);
  const std::string before = read("run/checkpoint.kiln") + read("run/result.json");

  const Outcome outcome = run({"resume", "run", "--draws", "600"});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error[resume.draws]: a run of 600 draws keeps every draw of 4 of 8 "
                             "chains"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read("run/checkpoint.kiln") + read("run/result.json"), before);
}

TEST_F(MoreDraws, FollowConditionsThatWereMet) {
  std::vector<std::string> words = sample("run", "1000");
  words.insert(words.end(), {"--until", "ess>=50"});
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_LT(json::parse(read("run/result.json"))["sample"]["all_draws"], 1000);
  ASSERT_EQ(run(sample("whole", "1200")).exit_code, 0);

  EXPECT_EQ(run({"resume", "run", "--draws", "1200", "-q"}).exit_code, 0);

  EXPECT_EQ(read("run/draws.npy"), read("whole/draws.npy"));
}

TEST_F(MoreDraws, ATimeLimitIsNoReasonForDrawsThatNobodyKeeps) {
  std::vector<std::string> words = sample("run", "200");
  words.insert(words.end(), {"--time-limit", "25s"});
  words.erase(std::ranges::find(words, "-q"));

  const Outcome outcome = run(words);

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("\nstop         after 25 s or after 200 draws\n"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("done   all draws made after "), std::string::npos) << outcome.out;
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_EQ(result["sample"]["all_draws"], 200);
}

TEST_F(MoreDraws, LimitsOfTheOtherVerbAreRefused) {
  ASSERT_EQ(run(sample("run", "50")).exit_code, 0);
  const Outcome sweeps = run({"resume", "run", "--sweeps", "900"});
  EXPECT_EQ(sweeps.exit_code, 2);
  EXPECT_EQ(sweeps.err,
            "error[resume.limit]: --sweeps is no limit of kiln sample\n"
            "  fix: --draws N\n");
  ASSERT_EQ(
      run({"solve", "torus:6x6,1", "--device", "cpu", "--sweeps", "100", "-q", "-o", "search"})
          .exit_code,
      0);
  const Outcome draws = run({"resume", "search", "--draws", "900"});
  EXPECT_EQ(draws.exit_code, 2);
  EXPECT_NE(draws.err.find("error[resume.limit]: --draws is no limit of kiln solve"),
            std::string::npos);
  const Outcome generations = run({"resume", "search", "--generations", "900"});
  EXPECT_EQ(generations.exit_code, 2);
  EXPECT_NE(generations.err.find("error[resume.limit]: --generations is no limit of this run: "
                                 "schedule simulated-annealing counts sweeps"),
            std::string::npos)
      << generations.err;
  const Outcome unit = run({"resume", "search", "--work-limit", "9kgradients"});
  EXPECT_EQ(unit.exit_code, 2);
  EXPECT_NE(unit.err.find("schedule simulated-annealing counts attempts"), std::string::npos)
      << unit.err;
}

TEST_F(MoreDraws, LimitsOfWorkGoOn) {
  const auto search = [](const std::string& folder, const std::string& limit) {
    return std::vector<std::string>{"solve",        "torus:6x6,1", "--device", "cpu",
                                    "--replicas",   "32",          "-p",       "anneal_sweeps=64",
                                    "--work-limit", limit,         "-q",       "-o",
                                    folder};
  };
  ASSERT_EQ(run(search("run", "200k")).exit_code, 0);
  EXPECT_EQ(run({"resume", "run", "--work-limit", "400k", "-q"}).exit_code, 0);
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(result["stop"], "work_limit");
  EXPECT_EQ(result["work"]["sweeps"], 400000 / (32 * 36));
  ASSERT_EQ(run({"solve", "zdt:1", "--device", "cpu", "--generations", "40", "-q", "-o", "all"})
                .exit_code,
            0);
  ASSERT_EQ(run({"solve", "zdt:1", "--device", "cpu", "--generations", "20", "-q", "-o", "half"})
                .exit_code,
            0);
  EXPECT_EQ(run({"resume", "half", "--generations", "40", "-q"}).exit_code, 0);
  EXPECT_EQ(read("half/front.csv"), read("all/front.csv"));
}

}  // namespace
}  // namespace kiln::resume_draws_test
