// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run folder holds must not get worse when its run continues.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::former_result_test {
namespace {

using nlohmann::json;

class FormerResult : public ProgramTest {
 protected:
  std::vector<std::string> anneal(const std::string& folder, const std::string& sweeps) const {
    return {"solve", "torus:60x60,1", "--device", "cpu",         "--threads", "1",  "--sweeps",
            sweeps,  "--replicas",    "32",       "--no-report", "-q",        "-o", folder};
  }
  json result_of(const std::string& folder) const {
    return json::parse(read(folder + "/result.json"));
  }
  std::vector<std::string> without_checkpoints(std::vector<std::string> words) const {
    words.insert(words.end(), {"--checkpoint-every", "off"});
    return words;
  }
};

// As if a descent at a limit had found it: the checkpoint does not know of it.
TEST_F(FormerResult, IsKeptWhereTheContinuationFindsNothingBetter) {
  ASSERT_EQ(run(anneal("long", "2000")).exit_code, 0);
  ASSERT_EQ(run(anneal("short", "16")).exit_code, 0);
  const double better = result_of("long")["objective"]["best"];
  ASSERT_LT(result_of("short")["objective"]["best"], better);
  write("short/solution.txt", read("long/solution.txt"));

  const Outcome outcome = run({"resume", "short", "--sweeps", "32"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("was in this folder before"), std::string::npos) << outcome.err;
  const json result = result_of("short");
  EXPECT_EQ(result["objective"]["best"], better);
  EXPECT_EQ(result["solution"], result_of("long")["solution"]);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(read("short/solution.txt"), read("long/solution.txt"));
}

TEST_F(FormerResult, GivesWayToABetterOne) {
  ASSERT_EQ(run(anneal("whole", "2000")).exit_code, 0);
  ASSERT_EQ(run(anneal("run", "16")).exit_code, 0);
  const double before = result_of("run")["objective"]["best"];
  const Outcome outcome = run({"resume", "run", "--sweeps", "2000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("was in this folder before"), std::string::npos) << outcome.err;
  EXPECT_GT(result_of("run")["objective"]["best"], before);
}

TEST_F(FormerResult, HasLimitsThatAreNotTakenBack) {
  ASSERT_EQ(run(anneal("run", "64")).exit_code, 0);
  const auto before = read("run/result.json");
  for (const std::vector<std::string>& limit :
       {std::vector<std::string>{"--sweeps", "63"}, {"--sweeps", "1"}, {"--work-limit", "1000"}}) {
    std::vector<std::string> words{"resume", "run"};
    words.insert(words.end(), limit.begin(), limit.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << limit[1];
    EXPECT_NE(outcome.err.find("error[resume.limit]: " + limit[0]), std::string::npos)
        << outcome.err;
    EXPECT_EQ(read("run/result.json"), before);
  }
}

TEST_F(FormerResult, IsNotMadeAnewWithoutACheckpoint) {
  ASSERT_EQ(run(without_checkpoints(anneal("run", "64"))).exit_code, 0);
  const auto before = read("run/result.json");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"resume", "run"}, {"resume", "run", "--sweeps", "9000"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("error[resume.finished]: run: the run is finished (sweep_limit)"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(read("run/result.json"), before);
  }
}

TEST_F(FormerResult, IsNoFileOfMetrics) {
  std::vector<std::string> words = anneal("run", "16");
  words.insert(words.end(), {"--metrics", "run/trace.csv"});
  write("run/.keep", "");
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_FALSE(exists("run/run.json"));
}

}  // namespace
}  // namespace kiln::test::former_result_test
