// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::pipeline_test {
namespace {

using nlohmann::json;
using test::Call;
using test::Outcome;

const std::string annealed = "sa(sweeps=2000, cooling=pid) > pt(rungs=16)";
const std::string full_name =
    "simulated-annealing(sweeps=2000, cooling=pid) > parallel-tempering(rungs=16)";

class Pipelines : public test::ProgramTest {
 protected:
  static std::vector<std::string> solve(const std::string& schedule,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"solve", "torus:20x20,1", "--device", "cpu",        "--threads",
                                   "1",     "--replicas",    "64",       "--schedule", schedule};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  json result_of(const std::string& folder) const {
    json result = json::parse(read(folder + "/result.json"));
    for (const char* part : {"time", "queue", "memory"}) result.erase(part);
    for (json& stage : result["stages"]) stage.erase("run_s");
    result["incumbents"].erase("primal_integral");  // over time
    result["incumbents"].erase("time_to_gap");
    return result;
  }
};

TEST_F(Pipelines, StagesShareTheSweepsOfTheWhole) {
  const Outcome outcome = run(solve(annealed, {"--sweeps", "3000", "--json"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["schedule"]["name"], "simulated-annealing > parallel-tempering");
  EXPECT_EQ(result["schedule"]["parameters"]["1.cooling"], "pid");
  EXPECT_EQ(result["schedule"]["parameters"]["2.rungs"], "16");
  EXPECT_EQ(result["work"]["sweeps"], 3000);
  EXPECT_EQ(result["stop"], "sweep_limit");
  EXPECT_EQ(result["verified"], true);
  ASSERT_EQ(result["stages"].size(), 2u);
  EXPECT_EQ(result["stages"][0]["schedule"], "simulated-annealing");
  EXPECT_EQ(result["stages"][0]["sweeps"], 2000);
  EXPECT_EQ(result["stages"][1]["sweeps"], 1000);
  EXPECT_NE(outcome.err.find("schedule     " + full_name), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("stage 2/2 parallel-tempering"), std::string::npos) << outcome.err;
}

// No limit of 10 s is added to limits of stages.
TEST_F(Pipelines, EndsWithItsStages) {
  const Outcome outcome = run(solve("sa(sweeps=70) > pt(rungs=16, sweeps=30)", {"--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["work"]["sweeps"], 100);
  EXPECT_EQ(result["stop"], "converged");
  EXPECT_NE(outcome.err.find("stop         at the end of the schedule\n"), std::string::npos)
      << outcome.err;
}

// Oscillators have no temperature. Rounds are those of the stage: one of 300 steps, after 20
// sweeps.
TEST_F(Pipelines, AStageHasTheColumnsOfItsSchedule) {
  const std::string of_moves = " max cut      mean accept%    beta moves/s   left\n";
  const std::string of_oscillators = " max cut     round      pump moves/s   left\n";
  std::string err = run(solve("sb(sweeps=300) > sa(sweeps=20)")).err;
  std::size_t first = err.find(of_oscillators);
  ASSERT_NE(first, std::string::npos) << err;
  EXPECT_NE(err.find(of_moves, first), std::string::npos) << err;

  err = run(solve("sa(sweeps=20) > sb(sweeps=300)")).err;
  first = err.find(of_moves);
  ASSERT_NE(first, std::string::npos) << err;
  const std::size_t second = err.find(of_oscillators, first);
  ASSERT_NE(second, std::string::npos) << err;
  const std::size_t row = err.find("     320 ", second);
  ASSERT_NE(row, std::string::npos) << err;
  const std::string cells = err.substr(row, err.find('\n', row) - row);
  EXPECT_NE(cells.find("         1       100 "), std::string::npos) << cells;
}

TEST_F(Pipelines, RoundsOfOscillatorsAreThoseOfTheirStage) {
  const Outcome outcome = run(solve("sa(sweeps=3000) > sb(sweeps=300)", {"--json", "-q"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["diagnostics"]["rounds"], 1.0) << outcome.out;
}

TEST_F(Pipelines, AStageEndsAtItsTime) {
  const Outcome outcome =
      run(solve("sa(time_limit=200ms) > pt(rungs=16, sweeps=30)", {"--json", "-q"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json stages = json::parse(outcome.out)["stages"];
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_GE(stages[0]["run_s"], 0.2);
  EXPECT_EQ(stages[1]["sweeps"], 30);
}

TEST_F(Pipelines, AKilledRunEndsLikeOneThatWasNot) {
  for (const char* schedule :
       {"sa(sweeps=60000, cooling=pid) > pt(rungs=16)", "pt(rungs=16, sweeps=100) > sa"}) {
    SCOPED_TRACE(schedule);
    const std::string name = schedule[0] == 's' ? "first" : "second";
    const std::vector<std::string> more{"--sweeps", "62000", "--checkpoint-every", "20ms", "-o"};
    std::vector<std::string> words = solve(schedule, more);
    words.push_back(name + "-whole");
    ASSERT_EQ(run(words).exit_code, 0);
    words.back() = name + "-killed";
    Call call{words};
    call.signal = SIGKILL;
    call.signal_at = "\n* ";
    ASSERT_EQ(run(call).exit_code, 128 + SIGKILL);

    const Outcome outcome = run({"resume", name + "-killed"});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("\nresume       " + name), std::string::npos) << outcome.err;
    EXPECT_EQ(result_of(name + "-killed"), result_of(name + "-whole"));
    EXPECT_EQ(read(name + "-killed/solution.txt"), read(name + "-whole/solution.txt"));
  }
}

TEST_F(Pipelines, ARunIsRepeatedFromItsFolder) {
  ASSERT_EQ(run(solve(annealed, {"--sweeps", "2500", "-q", "-o", "run"})).exit_code, 0);
  EXPECT_EQ(json::parse(read("run/run.json"))["schedule"]["name"], full_name);
  ASSERT_EQ(run({"solve", "--repeat", "run", "--device", "cpu", "-q", "-o", "again"}).exit_code, 0);
  EXPECT_EQ(result_of("run")["solution"], result_of("again")["solution"]);
  EXPECT_EQ(result_of("run")["work"], result_of("again")["work"]);
}

TEST_F(Pipelines, AFileHasThemAsText) {
  write("run.toml", "schedule = \"sa(sweeps=30) > pt(rungs=16)\"\nsweeps = 50\n");
  const Outcome again = run({"solve", "torus:20x20,1", "--config", "run.toml", "--json", "-q"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["stages"][1]["sweeps"], 20);

  write("bad.toml", "schedule = \"sa(sweeps=30 > pt\"\n");
  const Outcome bad = run({"solve", "torus:20x20,1", "--config", "bad.toml"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("bad.toml:1"), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find("column 14 of the schedule: unexpected '>'"), std::string::npos)
      << bad.err;
}

TEST_F(Pipelines, RefusesWhatNoStageCanMean) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  };
  refused(solve("sa > pt"), "error[pipeline.limit]: stage 1 ('simulated-annealing') has no limit");
  refused(solve("sa(sweeps=10) > temperng"), "--schedule: column 17 of the schedule: unknown");
  refused(solve(annealed, {"-p", "rungs=4"}), "error[cli.conflict]: -p rungs is given beside");
  refused(solve(annealed, {"-o", "run", "--telemetry", "groups"}), "a pipeline has no telemetry");
  refused({"sample", "posterior:eight-schools", "--schedule", "sa(sweeps=10) > hmc"},
          "simulated-annealing(sweeps=10) > hmc");
}

TEST_F(Pipelines, IsDescribed) {
  const Outcome outcome = run({"describe", annealed});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1. simulated-annealing, for 2000 sweeps"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("2. parallel-tempering, until the limit of the run"),
            std::string::npos)
      << outcome.out;
  const json document = json::parse(run({"describe", annealed, "--json"}).out);
  EXPECT_EQ(document["stages"][0]["parameters"]["cooling"], "pid");
}

}  // namespace
}  // namespace kiln::pipeline_test
