// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables, programs and functions with constraints on the command line.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test {
namespace {

using nlohmann::json;
using Expensive = ProgramTest;

std::vector<std::string> solve(const std::string& problem, std::vector<std::string> more) {
  std::vector<std::string> words{"solve", problem, "--device", "cpu", "--replicas", "4"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string first_line(const Outcome& outcome) {
  return outcome.err.substr(0, outcome.err.find('\n'));
}

const std::string table = "run,a,b,y\n1,x,1,5\n2,x,2,6\n3,z,1,9\n4,z,2,7\n";

TEST_F(Expensive, TheBestRowOfATableIsNamed) {
  write("t.csv", table);
  const std::vector<std::string> options{"--objective", "y", "--ignore", "run", "--sweeps", "50"};
  Outcome outcome = run(solve("table:t.csv", options));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("best 9"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("with   a = z\nwith   b = 1\n"), std::string::npos) << outcome.out;

  std::vector<std::string> least = options;
  least.insert(least.end(), {"--sense", "minimize", "--json", "--output", "out"});
  outcome = run(solve("table:t.csv", least));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["objective"]["best"], 5.0);
  EXPECT_EQ(result["named_solution"], (json{{"a", "x"}, {"b", "1"}}));
  EXPECT_EQ(read("out/solution.txt"), "0  # a = x\n0  # b = 1\n");

  outcome = run({"solve", "--repeat", "out", "--initial", "out/solution.txt", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 5.0);
}

TEST_F(Expensive, AProgramIsCalled) {
  const Outcome outcome =
      run(solve("command:sh -c 'echo $((({n} - 3) * ({n} - 3)))'",
                {"--var", "n=int:0:7", "--sweeps", "30", "--json", "--output", "out"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["objective"]["best"], 0.0);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["named_solution"]["n"], "3");
  EXPECT_EQ(read("out/solution.txt"), "3  # n\n");

  const Outcome again = run({"solve", "--repeat", "out", "--json", "--allow-command"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["solution"], result["solution"]);
}

// The file may be anybody's.
TEST_F(Expensive, ARepeatCallsNoProgramThatNobodyHasSeen) {
  const std::string problem = "command:sh -c 'touch called; echo 1' {n}";
  ASSERT_EQ(
      run(solve(problem, {"--var", "n=int:0:3", "--sweeps", "1", "--output", "out"})).exit_code, 0);
  std::filesystem::remove(folder_ / "called");

  for (const std::string verb : {"solve", "sample"}) {
    for (const std::string option : {"-q", "--dry-run"}) {
      const Outcome refused = run({verb, "--repeat", "out", option});
      EXPECT_EQ(refused.exit_code, 2);
      EXPECT_EQ(refused.out, "");
      EXPECT_EQ(first_line(refused),
                "error[repeat.command]: out: this run calls a program: " + problem);
    }
  }
  EXPECT_FALSE(exists("called"));

  // No part of a long command is left out.
  json document = json::parse(read("out/run.json"));
  document["problem"]["source"] =
      "command:" + std::string(2000, 'a') + "HIDDEN" + std::string(2000, 'b');
  write("long.json", document.dump());
  const Outcome hidden = run(std::vector<std::string>{"solve", "--repeat", "long.json"});
  EXPECT_EQ(hidden.exit_code, 2);
  EXPECT_NE(hidden.err.find("HIDDEN"), std::string::npos);
  EXPECT_GE(std::ranges::count(hidden.err, 'b'), 2000);
  document["problem"]["source"] = "command:" + std::string(5000000, 'a');
  write("long.json", document.dump());
  EXPECT_EQ(
      first_line(run(std::vector<std::string>{"solve", "--repeat", "long.json"})),
      "error[repeat.command]: long.json: this run calls a program: its text has 5000008 bytes, "
      "too many to be shown");

  const Outcome allowed = run({"solve", "--repeat", "out", "--allow-command", "-q"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_TRUE(exists("called"));
  const Outcome named = run({"solve", "command:echo 2{n}", "--repeat", "out", "--json"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(json::parse(named.out)["objective"]["best"], 20.0);
}

// Whether a process is there still; one that waits to be reaped counts as gone.
bool lives(const std::string& process) {
  std::ifstream status("/proc/" + process + "/stat");
  std::string number, name, state;
  return static_cast<bool>(status >> number >> name >> state) && state != "Z";
}

TEST_F(Expensive, AProgramThatTakesLongDiesWithTheRun) {
  // The first call succeeds; the others wait, and the first of them asks for the end of kiln.
  write("call.sh",
        "if mkdir first 2>/dev/null; then echo 1; exit; fi\n"
        "mkdir second 2>/dev/null && { echo $$ > waits; kill -INT $PPID; }\n"
        "sleep 25\necho 2\n");
  const Outcome outcome = run(solve("command:sh call.sh {x}", {"--var", "x=real:0:1", "--sweeps",
                                                               "5", "--threads", "1", "--json"}));
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["objective"]["best"], 1.0);
  std::string process = read("waits");
  process.pop_back();
  EXPECT_FALSE(lives(process));
}

TEST_F(Expensive, AProgramThatNeverSucceedsIsNoAnswer) {
  const Outcome outcome = run(solve("command:sh -c 'echo bad flag >&2; exit 1' {x}",
                                    {"--var", "x=real:0:1", "--sweeps", "50"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[command.failed]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("it said: bad flag"), std::string::npos) << outcome.err;
}

TEST_F(Expensive, ConstraintsNeedAScheduleThatTakesThem) {
  const Outcome outcome =
      run(solve("constrained:gramacy", {"--schedule", "simulated-annealing", "--sweeps", "5"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome),
            "error[objective.constraints]: objective 'constrained:gramacy' has 2 constraints, "
            "which schedule 'simulated-annealing' does not take");
  EXPECT_NE(outcome.err.find("bayesian-optimization"), std::string::npos);
}

TEST_F(Expensive, OptionsOfOtherProblemsAreRefused) {
  write("t.csv", table);
  EXPECT_EQ(first_line(run(solve("gset:G1", {"--var", "x=real:0:1"}))),
            "error[cli.conflict]: --var is for command:, which gset:G1 is not");
  EXPECT_EQ(first_line(run(solve("t.csv", {"--sense", "minimize"}))),
            "error[cli.conflict]: --sense is for command: and table:, which t.csv is not");
  EXPECT_EQ(first_line(run(solve("table:t.csv", {"--timeout", "5s", "--objective", "y"}))),
            "error[cli.conflict]: --timeout is for command:, which table:t.csv is not");
  EXPECT_EQ(first_line(run(solve("command:true {x}", {"--var", "x=real:0:1", "--timeout", "0s"}))),
            "error[cli.range]: --timeout=0s is not greater than 0");
  const Outcome none = run(solve("table:none.csv", {"--objective", "y"}));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(first_line(none), "error[input.read]: cannot open the table none.csv");
}

TEST_F(Expensive, CheckLooksAtThemWithoutARun) {
  write("t.csv", table);
  Outcome outcome = run({"check", "table:t.csv", "--objective", "y"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("distinct      4"), std::string::npos) << outcome.out;
  outcome = run({"check", "constrained:welded-beam", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["constraints"], 7);
  write("bad.csv", "a,y\n1,2\n,3\n");
  outcome = run({"check", "table:bad.csv", "--objective", "y"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[input.parse]: bad.csv:3: the value of column 'a' is missing");
}

}  // namespace
}  // namespace kiln::test
