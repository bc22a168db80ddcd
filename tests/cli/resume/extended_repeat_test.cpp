// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that kiln resume took beyond its limits is repeated to where it ended: the states and the
// counts of the continued run itself are what the repeat is held against.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::extended_repeat_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class ExtendedRepeat : public ProgramTest {
 protected:
  json result_in(const std::string& folder) const {
    return json::parse(read(folder + "/result.json"));
  }
  Outcome repeat(const std::string& of, const std::string& into, Words more = {}) const {
    Words words{verb_, "--repeat", of, "-q", "--device", "cpu", "-o", into};
    words.insert(words.end(), more.begin(), more.end());
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
  void make(Words first, const Words& more) {
    verb_ = first.front();
    for (const char* word : {"--device", "cpu", "-q", "-o", "run"}) first.emplace_back(word);
    ASSERT_EQ(run(first).exit_code, 0);
    Words resumed{"resume", "run", "-q", "--device", "cpu"};
    resumed.insert(resumed.end(), more.begin(), more.end());
    const Outcome outcome = run(resumed);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  void expect_same_run(const std::string& one, const std::string& other) const {
    const json a = result_in(one), b = result_in(other);
    for (const char* name : {"sweeps", "attempts", "accepted"}) {
      EXPECT_EQ(a["work"][name], b["work"][name]) << name;
    }
    EXPECT_EQ(a["objective"]["best"], b["objective"]["best"]);
    EXPECT_EQ(a["schedule"]["parameters"], b["schedule"]["parameters"]);
  }

  std::string verb_;
};

// The anneal is planned for 100 sweeps: neither a run of 100 nor one of 400 is the same.
TEST_F(ExtendedRepeat, OfAnAnnealKeepsItsPlan) {
  make({"solve", "torus:20x20,1", "--sweeps", "100", "--replicas", "32"}, {"--sweeps", "400"});
  EXPECT_EQ(result_in("run")["continued"]["steps"], 400);
  repeat("run", "again");
  expect_same_run("run", "again");
  EXPECT_EQ(read("run/solution.txt"), read("again/solution.txt"));
  repeat("again/run.json", "third");
  expect_same_run("run", "third");

  ASSERT_EQ(run(solve("torus:20x20,1", {"--sweeps", "400", "--replicas", "32", "-q", "-o", "new"}))
                .exit_code,
            0);
  EXPECT_NE(result_in("new")["work"]["accepted"], result_in("run")["work"]["accepted"]);
}

// A limit by the clock ends each run elsewhere; the repeat ends where this one did, but without the
// descent of a run that the clock ends.
TEST_F(ExtendedRepeat, OfALimitOfTimeHasTheSameSteps) {
  make({"solve", "torus:20x20,1", "--time-limit", "100ms", "--replicas", "32", "--schedule",
        "parallel-tempering"},
       {"--time-limit", "100ms"});
  repeat("run", "again");
  EXPECT_EQ(result_in("again")["work"]["sweeps"], result_in("run")["work"]["sweeps"]);
  EXPECT_EQ(result_in("again")["stop"], "sweep_limit");
}

TEST_F(ExtendedRepeat, OfOtherUnits) {
  make({"solve", "zdt:1", "--generations", "10"}, {"--generations", "25"});
  repeat("run", "again");
  expect_same_run("run", "again");
  EXPECT_EQ(result_in("again")["work"]["sweeps"], 25);
}

TEST_F(ExtendedRepeat, OfEvaluations) {
  make({"solve", "function:branin", "--schedule", "bayesian-optimization", "--evaluations", "6"},
       {"--evaluations", "9"});
  repeat("run", "again");
  expect_same_run("run", "again");
  EXPECT_EQ(result_in("again")["work"]["sweeps"], 9);
}

TEST_F(ExtendedRepeat, OfDrawsHasAllOfThem) {
  make({"sample", "posterior:eight-schools", "--draws", "60", "--warmup", "100", "--chains", "4"},
       {"--draws", "130"});
  repeat("run", "again");
  EXPECT_EQ(result_in("again")["summary"], result_in("run")["summary"]);
  EXPECT_EQ(result_in("again")["sample"]["draws"], 130);
}

TEST_F(ExtendedRepeat, LimitsOfTheCommandLineCount) {
  make({"solve", "torus:20x20,1", "--sweeps", "100", "--replicas", "32"}, {"--sweeps", "400"});
  repeat("run", "again", {"--sweeps", "70"});
  EXPECT_EQ(result_in("again")["work"]["sweeps"], 70);
  EXPECT_FALSE(json::parse(read("again/run.json")).contains("continued"));

  // Steps of another schedule or problem are other steps.
  for (const Words& words : {Words{"--schedule", "parallel-tempering"}, {"torus:8x8,1"}}) {
    std::filesystem::remove_all(folder_ / "again");
    repeat("run", "again", words);
    EXPECT_EQ(result_in("again")["work"]["sweeps"], 100) << words.front();
  }
}

// The rest of a run that was killed is what its run.json says, and so is its repeat.
TEST_F(ExtendedRepeat, OnlyWhereLimitsWereGiven) {
  ASSERT_EQ(run(solve("torus:20x20,1", {"--sweeps", "100", "--replicas", "32", "-q", "-o", "run"}))
                .exit_code,
            0);
  std::filesystem::remove(folder_ / "run/checkpoint.kiln");
  std::filesystem::remove(folder_ / "run/result.json");
  ASSERT_EQ(run({"resume", "run", "-q", "--device", "cpu"}).exit_code, 0);
  EXPECT_FALSE(result_in("run").contains("continued"));
}

TEST_F(ExtendedRepeat, SaysWhatItRepeats) {
  make({"solve", "torus:20x20,1", "--sweeps", "100", "--replicas", "32"}, {"--sweeps", "400"});
  const Outcome outcome = run({"solve", "--repeat", "run", "--device", "cpu"});
  EXPECT_NE(outcome.err.find("kiln resume continued it"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\nstop         after 400 sweeps\n"), std::string::npos)
      << outcome.err;
  EXPECT_NE(read("run/report.html").find("kiln resume gave the run other limits."),
            std::string::npos);
}

// Anybody may have written the file: what is no number of steps counts as nothing.
TEST_F(ExtendedRepeat, ADamagedResultIsNoReasonToRefuse) {
  make({"solve", "torus:20x20,1", "--sweeps", "100", "--replicas", "32"}, {"--sweeps", "400"});
  for (const char* text : {"", "{", R"({"schema":"kiln.result/2","continued":{"steps":-4}})",
                           R"({"schema":"kiln.result/2","continued":{"steps":"x"}})",
                           R"({"schema":"kiln.result/2","continued":7})"}) {
    std::filesystem::remove(folder_ / "run/result.json");
    write("run/result.json", text);
    std::filesystem::remove_all(folder_ / "again");
    repeat("run", "again");
    EXPECT_EQ(result_in("again")["work"]["sweeps"], 100) << text;
  }
}

}  // namespace
}  // namespace kiln::test::extended_repeat_test
