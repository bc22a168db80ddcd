// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables, programs and functions with constraints on the command line.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.hpp"

namespace kiln::test::expensive_test {
namespace {

using nlohmann::json;
using Expensive = ProgramTest;

const std::string table = "run,a,b,y\n1,x,1,5\n2,x,2,6\n3,z,1,9\n4,z,2,7\n";

TEST_F(Expensive, TheBannerOfATableCountsItsRows) {
  write("t.csv", table);
  for (const auto& [evaluations, stop] :
       std::vector<std::pair<std::string, std::string>>{{"100", "after 4 evaluations (every row)"},
                                                        {"4", "after 4 evaluations (every row)"},
                                                        {"3", "after 3 evaluations"}}) {
    const Outcome outcome = run(solve("table:t.csv", {"--objective", "y", "--ignore", "run", "-p",
                                                      "initial=2", "--evaluations", evaluations}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("\nstop         " + stop + "\n"), std::string::npos) << outcome.err;
  }
}

TEST_F(Expensive, TheBestRowOfATableIsNamed) {
  write("t.csv", table);
  const std::vector<std::string> options{"--objective", "y", "--ignore", "run", "--sweeps", "4"};
  Outcome outcome = run(solve("table:t.csv", options));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("y 9 (maximised)"), std::string::npos) << outcome.out;
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
                {"--var", "n=int:0:7", "--sweeps", "8", "--json", "--output", "out"}));
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
  ASSERT_EQ(run(solve(problem, {"--var", "n=int:0:3", "--schedule", "simulated-annealing",
                                "--sweeps", "1", "--output", "out"}))
                .exit_code,
            0);
  std::filesystem::remove(folder_ / "called");

  for (const std::string verb : {"solve", "sample"}) {
    for (const std::string option : {"-q", "--dry-run"}) {
      const Outcome refused = run({verb, "--repeat", "out", option});
      EXPECT_EQ(refused.exit_code, 2);
      EXPECT_EQ(refused.out, "");
      EXPECT_EQ(first_line(refused),
                "error[repeat.command]: out: the recorded run calls a program: " + problem);
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
  EXPECT_EQ(first_line(run(std::vector<std::string>{"solve", "--repeat", "long.json"})),
            "error[repeat.command]: long.json: the recorded run calls a program: a command line of "
            "5000008 bytes, which is too long to show");

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

bool dies_soon(const std::string& process) {
  for (int i = 0; i < 500 && lives(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !lives(process);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> one_real{"--var", "x=real:0:1"};

std::vector<std::string> with_real(std::vector<std::string> more) {
  more.insert(more.begin(), one_real.begin(), one_real.end());
  return more;
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

TEST_F(Expensive, ACallThatWasCutOffIsNoEvaluation) {
  write("call.sh",
        "if mkdir first 2>/dev/null; then echo 1; exit; fi\n"
        "kill -INT $PPID\nsleep 25\necho 2\n");
  const Outcome outcome =
      run(solve("command:sh call.sh {x}", with_real({"--threads", "1", "--output", "out"})));
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(lines_of(read("out/evaluations.csv")).size(), 2u) << read("out/evaluations.csv");
  EXPECT_FALSE(has(outcome.err, "gave no number")) << outcome.err;
}

TEST_F(Expensive, BeforeTheFirstValueASignalIsNoFailure) {
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}}) {
    const std::string program = std::string("sh -c 'kill -") + signal + " $PPID; sleep 25'";
    for (const char* schedule : {"bayesian-optimization", "simulated-annealing"}) {
      const Outcome outcome =
          run(solve("command:" + program + " {x}",
                    with_real({"--schedule", schedule, "--threads", "1", "-o", "made/here"})));
      EXPECT_EQ(outcome.exit_code, code) << outcome.err;
      EXPECT_FALSE(exists("made")) << "nothing was found";
      EXPECT_TRUE(has(outcome.err,
                      "error[run.interrupted]: interrupted before the first evaluation finished"))
          << outcome.err;
    }
  }
}

TEST_F(Expensive, ASignalBeforeTheFirstGoodValueHasItsOwnCode) {
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 143}}) {
    for (const char* schedule : {"bayesian-optimization", "simulated-annealing"}) {
      std::filesystem::remove_all(folder_ / "first");
      write("call.sh", std::string("mkdir first 2>/dev/null && exit 3\nkill -") + signal +
                           " $PPID\nsleep 25\necho 2\n");
      const std::string folder = std::string(schedule) + signal;
      const Outcome outcome =
          run(solve("command:sh call.sh {x}",
                    with_real({"--schedule", schedule, "--threads", "1", "-o", folder})));
      EXPECT_EQ(outcome.exit_code, code) << outcome.err;
      // A call that failed is an evaluation, too, and may have cost hours.
      const bool logged = std::string(schedule) == "bayesian-optimization";
      EXPECT_EQ(exists(folder + "/evaluations.csv"), logged);
      EXPECT_EQ(exists(folder), logged);
      EXPECT_TRUE(has(
          outcome.err,
          "error[run.interrupted]: interrupted before the run found a state with a finite value"))
          << outcome.err;
      EXPECT_TRUE(has(outcome.err, "exit code 3")) << "why there is none: " << outcome.err;
    }
  }
}

TEST_F(Expensive, TheTimeLimitEndsACall) {
  write("call.sh", "if mkdir first 2>/dev/null; then echo 1; exit; fi\nsleep 60\necho 2\n");
  Outcome outcome =
      run(solve("command:sh call.sh {x}", with_real({"--time-limit", "500ms", "--output", "out"})));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "time limit after")) << outcome.out;
  EXPECT_EQ(lines_of(read("out/evaluations.csv")).size(), 2u) << read("out/evaluations.csv");
  outcome = run(solve("command:sleep 6{x}", with_real({"--time-limit", "200ms"})));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_TRUE(has(outcome.err, "the time limit expired before the first evaluation finished"))
      << outcome.err;
}

TEST_F(Expensive, AProgramThatIsGoneFailsAndTheRunGoesOn) {
  write("call.sh", "#!/bin/sh\nmkdir first 2>/dev/null || rm call.sh\necho value = $1\n");
  std::filesystem::permissions(folder_ / "call.sh", std::filesystem::perms::owner_all);
  const Outcome outcome = run(solve(
      "command:./call.sh {x}", with_real({"--sweeps", "3", "--threads", "1", "--output", "out"})));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = lines_of(read("out/evaluations.csv"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(has(outcome.err, "1 of 3 calls failed; the last failure: the program did not start"))
      << outcome.err;
  const Outcome never = run(solve("command:./call.sh {x}", one_real));
  EXPECT_EQ(never.exit_code, 9);
  EXPECT_TRUE(has(never.err, "error[command.start]")) << never.err;
}

TEST_F(Expensive, ProgramsThatGiveNoNumberAreQuoted) {
  const Outcome outcome =
      run(solve("command:echo ok {c}", {"--var", "c=cat:a,a2", "--sweeps", "2"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_TRUE(has(outcome.err,
                  "2 of 2 calls failed; the last failure: the program printed no number; the "
                  "program printed: ok a"))
      << outcome.err;
  const Outcome percent = run(solve("command:echo accuracy {x}%", with_real({"--sweeps", "2"})));
  EXPECT_EQ(percent.exit_code, 9);
  EXPECT_TRUE(has(percent.err, "%' of the output line 'accuracy ")) << percent.err;
}

TEST_F(Expensive, IsSearchedWithFewEvaluationsThatAreAnnounced) {
  const std::string program = "command:echo loss = {x}";
  Outcome outcome = run(solve(
      program, with_real({"-p", "evaluations=5", "-p", "batch=2", "--threads", "2", "-o", "out"})));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(read("out/result.json"))["schedule"]["name"], "bayesian-optimization");
  EXPECT_TRUE(has(outcome.err, "bayesian-optimization   studies 1   seed 1\n")) << outcome.err;
  EXPECT_TRUE(
      has(outcome.err, "\nstop         after 5 evaluations (2 batches of 2 and one of 1)\n"))
      << outcome.err;
  EXPECT_EQ(lines_of(read("out/evaluations.csv")).size(), 6u);
  EXPECT_TRUE(has(outcome.err, "\nnote         the first call gave 0.")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "all 5 calls, 2 at the same time")) << outcome.err;

  outcome =
      run(solve(program, with_real({"-p", "evaluations=3", "--replicas", "4", "-o", "many"})));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "\nstop         after 12 evaluations (4 studies of 3)\n"))
      << outcome.err;
  EXPECT_EQ(lines_of(read("many/evaluations.csv")).size(), 13u);

  outcome = run(solve(program, with_real({"-p", "evaluations=3", "--replicas", "4", "--dry-run"})));
  EXPECT_TRUE(has(outcome.out, "\nstop         after 12 evaluations (4 studies of 3)\n"))
      << outcome.out;

  // A target alone does not make their number endless.
  outcome = run(solve(program, with_real({"-p", "evaluations=3", "--target", "-1", "-o", "low"})));
  ASSERT_EQ(outcome.exit_code, 10) << outcome.err;
  EXPECT_EQ(lines_of(read("low/evaluations.csv")).size(), 4u);

  // Nor does a time limit make more of them than were asked for.
  outcome = run(solve(program, with_real({"--evaluations", "5", "-p", "batch=2", "--time-limit",
                                          "20s", "-o", "both"})));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "after 5 evaluations (2 batches of 2 and one of 1) or after 20 s\n"))
      << outcome.err;
  EXPECT_EQ(lines_of(read("both/evaluations.csv")).size(), 6u);

  outcome = run(solve(program, with_real({"--schedule", "simulated-annealing", "--sweeps", "1",
                                          "--replicas", "2", "-o", "annealed"})));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(read("annealed/result.json"))["schedule"]["name"], "simulated-annealing");
}

/// What is left of a program and its descendants, each of which writes its number into a file.
class Descendants : public ProgramTest {
 protected:
  /// @param end  what the program does when all are there
  Outcome call(const std::string& end, bool returns = false) {
    write("call.sh",
          "trap '' TERM\n"
          "sleep 60 >/dev/null 2>&1 & echo $! > group\n"
          "setsid sleep 60 >/dev/null 2>&1 & echo $! > away\n"
          "echo $$ > leader\n" +
              end + (returns ? "\necho 1\n" : "\nsleep 60\necho 1\n"));
    return run(solve("command:sh call.sh {x}", with_real({"--sweeps", "1", "--threads", "1"})));
  }
  void expect_gone(const std::string& why) const {
    for (const char* name : {"group", "away", "leader"}) {
      const std::vector<std::string> lines = lines_of(read(name));
      ASSERT_EQ(lines.size(), 1u) << why << ": " << name;
      EXPECT_TRUE(dies_soon(lines[0])) << why << ": " << name;
    }
  }
};

TEST_F(Descendants, EndWithTheProgramThatReturns) {
  const Outcome outcome = call("true", true);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_gone("return");
}

TEST_F(Descendants, EndWithKilnHoweverItEnds) {
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 143}}) {
    EXPECT_EQ(call(std::string("kill -") + signal + " $PPID").exit_code, code) << signal;
    expect_gone(signal);
  }
  for (const auto& [signal, code] : {std::pair{"KILL", 9}, {"QUIT", 3}, {"USR2", 12}}) {
    EXPECT_EQ(call(std::string("kill -") + signal + " $PPID").exit_code, 128 + code) << signal;
    expect_gone(signal);
  }
  EXPECT_EQ(call("for i in 1 2 3; do kill -INT $PPID; sleep 0.1; done").exit_code, 130);
  expect_gone("three INT");
}

TEST_F(Expensive, AProgramThatNeverSucceedsIsNoAnswer) {
  const Outcome outcome = run(solve("command:sh -c 'echo bad flag >&2; exit 1' {x}",
                                    {"--var", "x=real:0:1", "--sweeps", "25"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[command.failed]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("the program printed: bad flag"), std::string::npos) << outcome.err;
}

TEST_F(Expensive, ConstraintsNeedAScheduleThatTakesThem) {
  const Outcome outcome =
      run(solve("constrained:gramacy", {"--schedule", "simulated-annealing", "--sweeps", "5"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(first_line(outcome),
            "error[objective.constraints]: objective 'constrained:gramacy' has 2 constraints, "
            "which schedule 'simulated-annealing' does not support");
  EXPECT_NE(outcome.err.find("bayesian-optimization"), std::string::npos);
}

TEST_F(Expensive, OptionsOfOtherProblemsAreRefused) {
  write("t.csv", table);
  EXPECT_EQ(first_line(run(solve("gset:G1", {"--var", "x=real:0:1"}))),
            "error[cli.conflict]: --var is an option of command: and expr: and source:, and not of "
            "gset:G1");
  EXPECT_EQ(first_line(run(solve("t.csv", {"--objective", "y"}))),
            "error[cli.conflict]: --objective is an option of table:, and not of t.csv");
  EXPECT_EQ(first_line(run(solve("table:t.csv", {"--timeout", "5s", "--objective", "y"}))),
            "error[cli.conflict]: --timeout is an option of command:, and not of table:t.csv");
  EXPECT_EQ(first_line(run(solve("command:true {x}", {"--var", "x=real:0:1", "--timeout", "0s"}))),
            "error[cli.range]: --timeout=0s is not greater than 0");
  const Outcome columns = run(solve("table:t.csv", {}));
  EXPECT_EQ(first_line(columns), "error[table.objective]: no objective column is given for t.csv");
  EXPECT_TRUE(has(columns.err, "available: run, a, b, y\n  fix: --objective y\n")) << columns.err;
  const Outcome none = run(solve("table:none.csv", {"--objective", "y"}));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(first_line(none),
            "error[input.open]: cannot open the table none.csv: No such file or directory");
}

TEST_F(Expensive, CheckLooksAtThemWithoutARun) {
  write("t.csv", table);
  Outcome outcome = run({"check", "table:t.csv", "--objective", "y"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("distinct      4"), std::string::npos) << outcome.out;
  outcome = run({"check", "constrained:welded-beam", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["constraints"], 7);
  write("rows.csv", "1,5\n2,7\n3,8\n");
  outcome = run({"check", "table:rows.csv", "--objective", "5"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "note          Kiln reads the first line of rows.csv as names"))
      << outcome.out;
  write("bad.csv", "a,y\n1,2\n,3\n");
  outcome = run({"check", "table:bad.csv", "--objective", "y"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[input.parse]: bad.csv:3: the value of column 'a' is missing");
}

}  // namespace
}  // namespace kiln::test::expensive_test
