// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/command.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "child_process.hpp"
#include "expensive/process.hpp"

namespace kiln::problems::command_test {
namespace {

using detail::ProcessResult;
using detail::run_process;
using test::complaint;
using test::dies_soon;
using Clock = std::chrono::steady_clock;

using Words = std::vector<std::string>;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Problem command(const std::string& text, const std::string& variables,
                ProblemSettings settings = {}) {
  settings["var"] = {variables};
  return command_by_name(text, settings);
}

std::string refusal(const std::string& text, const std::string& variables,
                    const ProblemSettings& settings = {}) {
  return complaint([&] { command(text, variables, settings); });
}

// The value at a point given as the user would.
double value_at(const Problem& problem, const std::vector<double>& values) {
  const State state = problem.solution.parse(values);
  return problem.solution.verify(spans_of(state));
}

TEST(RunProcess, GivesOutputAndCode) {
  const ProcessResult result =
      run_process({"sh", "-c", "echo \"$1\"; echo no >&2; exit 3", "x", "a  b;c"}, 0, {});
  EXPECT_EQ(result.end, ProcessResult::End::exited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "a  b;c\n");
  EXPECT_EQ(result.errors, "no\n");
}

TEST(RunProcess, ReadsNothingAndKeepsTheEndOfMuch) {
  EXPECT_EQ(run_process({"cat"}, 10, {}).output, "") << "standard input is empty";
  const ProcessResult result =
      run_process({"sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo end"}, 30, {});
  EXPECT_EQ(result.end, ProcessResult::End::exited);
  EXPECT_GT(result.output.size(), std::size_t{1} << 20);
  EXPECT_LT(result.output.size(), std::size_t{3} << 20);
  EXPECT_TRUE(result.output.ends_with("xend\n"));
}

TEST(RunProcess, SaysWhatDoesNotStartOrIsKilled) {
  const ProcessResult none = run_process({"/there/is/none"}, 0, {});
  EXPECT_EQ(none.end, ProcessResult::End::not_started);
  EXPECT_EQ(none.code, ENOENT);
  const ProcessResult killed = run_process({"sh", "-c", "kill -9 $$"}, 0, {});
  EXPECT_EQ(killed.end, ProcessResult::End::killed);
  EXPECT_EQ(killed.code, SIGKILL);
}

TEST(RunProcess, EndsTheWholeGroupWhenTimeIsUp) {
  const auto begin = Clock::now();
  const ProcessResult result = run_process({"sh", "-c", "sleep 60 & echo $!; wait"}, 0.3, {});
  EXPECT_EQ(result.end, ProcessResult::End::timed_out);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_TRUE(dies_soon(std::stoi(result.output))) << "the child of the child";
}

TEST(RunProcess, EndsTheWholeGroupWhenAStopIsRequested) {
  std::stop_source stop;
  std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  // It does not listen to SIGTERM, so that it takes the second signal.
  const auto begin = Clock::now();
  const ProcessResult result = run_process(
      {"sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60"}, 0, stop.get_token());
  EXPECT_EQ(result.end, ProcessResult::End::stopped);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_TRUE(dies_soon(std::stoi(result.output)));
  EXPECT_EQ(run_process({"true"}, 0, stop.get_token()).end, ProcessResult::End::stopped);
}

TEST(RunProcess, EndsWhatAProgramLeavesInItsGroup) {
  const ProcessResult result =
      run_process({"sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"}, 0, {});
  EXPECT_EQ(result.end, ProcessResult::End::exited);
  EXPECT_TRUE(dies_soon(std::stoi(result.output))) << "the child of a program that returned";
}

/// Sees what a keeper is told.
class Recorder : public ProgramKeeper {
 public:
  int start(const std::function<int(const std::string&)>& start) override {
    began = start("KILN_CALL=7");
    return began;
  }
  void ended(int process) override {
    over = process;
    there_yet = ::kill(process, 0) == 0;
  }
  int began = 0, over = 0;
  bool there_yet = false;
};

TEST(RunProcess, TellsAKeeper) {
  Recorder keeper;
  const ProcessResult result = run_process({"sh", "-c", "echo $$ $KILN_CALL"}, 0, {}, &keeper);
  EXPECT_EQ(result.output, std::to_string(keeper.began) + " 7\n");
  EXPECT_EQ(keeper.over, keeper.began);
  EXPECT_TRUE(keeper.there_yet) << "not reaped, so that its number is taken";
  run_process({"/there/is/none"}, 0, {}, &keeper);
  EXPECT_EQ(keeper.began, -1);
}

TEST(Command, PutsValuesIntoItsWords) {
  // What the shell gets as arguments; a category may hold anything but separators.
  const Problem problem = command(
      R"(sh -c 'test "$1" = "--lr=0.01" && test "$2" = "a \$(exit) b" && test "$3" = "{{x}}" && echo $4' x --lr={lr} "{opt}" {{x}} {depth})",
      "lr=real:1e-4:1:log; depth=int:1:12; opt=cat:sgd,a $(exit) b");
  EXPECT_EQ(value_at(problem, {0.01, 7, 1}), 7);
  EXPECT_TRUE(std::isnan(value_at(problem, {0.02, 7, 1})));
  EXPECT_TRUE(std::isnan(value_at(problem, {0.01, 7, 0})));
}

TEST(Command, KnowsItsVariablesInTheirOwnUnits) {
  const Problem problem =
      command("echo {lr} {depth} {opt} {p}",
              "lr=real:1e-4:1:log; opt=cat:adam,sgd,lion; p=real:-2:2; depth=int:1:12");
  ASSERT_EQ(problem.coordinates.size(), 4u);
  const Words names{problem.coordinates[0].name, problem.coordinates[1].name,
                    problem.coordinates[2].name, problem.coordinates[3].name};
  EXPECT_EQ(names, (Words{"lr", "p", "opt", "depth"})) << "reals share a block";
  const State middle{std::vector<double>{0.5, 0.25}, std::vector<std::int32_t>{2},
                     std::vector<std::int32_t>{12}};
  const auto named = problem.solution.named_values(spans_of(middle));
  EXPECT_NEAR(std::stod(named[0].second), 0.01, 1e-15);
  EXPECT_EQ(named[1].second, "-1");
  EXPECT_EQ(named[2].second, "lion");
  EXPECT_EQ(named[3].second, "12");
  const State back = problem.solution.parse(std::vector<double>{0.01, -1, 2, 12});
  EXPECT_NEAR(std::get<std::vector<double>>(back[0])[0], 0.5, 1e-15);
  EXPECT_EQ(back[1], middle[1]);
  EXPECT_EQ(complaint([&] {
              problem.solution.parse(std::vector<double>{0.01, 3, 2, 12});
            }),
            "state.value: 3 is outside the bounds of the variable 'p'");
}

TEST(Command, IsMinimisedByASearch) {
  const Problem problem =
      command("sh -c 'echo $((({n} - 5) * ({n} - 5) + {m}))'", "n=int:0:9; m=int:3:4");
  SimulatedAnnealing schedule;
  RunOptions options;
  options.device = "cpu";
  options.replicas = 8;
  const Result result = Engine(options).run(problem, schedule, {.sweeps = 40, .target = 3});
  EXPECT_EQ(result.objective, 3);
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.named_solution.front(), (std::pair<std::string, std::string>{"n", "5"}));
}

TEST(Command, RunsEachSettingOnce) {
  const std::string file = testing::TempDir() + "kiln_calls_" + std::to_string(::getpid());
  const Problem problem =
      command("sh -c 'echo {x} >> " + file + "; echo 1'", "x=int:0:3", {{"sense", {"maximize"}}});
  for (const double x : {0.0, 1.0, 0.0, 1.0, 2.0, 0.0}) EXPECT_EQ(value_at(problem, {x}), 1);
  std::ifstream in(file);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(all, "0\n1\n2\n");
  std::remove(file.c_str());
}

TEST(Command, HasConstraintsBehindItsValue) {
  const Problem problem = command("echo value {x} constraints {y} -1", "x=int:0:3; y=int:-5:5",
                                  {{"constraints", {"2"}}});
  EXPECT_EQ(problem.objective->constraints(), 2);
  const State state = problem.solution.parse(std::vector<double>{3, 4});
  EXPECT_EQ(problem.solution.verify(spans_of(state)), 3);
  EXPECT_EQ(problem.solution.constraint_values(spans_of(state)), (std::vector<double>{4, -1}));
}

TEST(Command, GoesOnAfterACallThatFailed) {
  const Problem problem = command(
      "sh -c 'test {x} -gt 2 && exit 4; test {x} = 1 && sleep 60; "
      "test {x} = 2 && echo nothing; echo {x}'",
      "x=int:-3:9", {{"timeout", {"0.5"}}});
  EXPECT_EQ(value_at(problem, {0}), 0);
  for (const double failing : {1.0, 3.0, 9.0})
    EXPECT_TRUE(std::isnan(value_at(problem, {failing})));
  EXPECT_EQ(value_at(problem, {-3}), -3);
}

TEST(Command, EndsWhereItNeverSucceeds) {
  const Problem problem = command("sh -c 'echo wrong flag >&2; exit 2' {x}", "x=int:0:99");
  try {
    for (double x = 0; x < 19; ++x) EXPECT_TRUE(std::isnan(value_at(problem, {x})));
    value_at(problem, {19});
    FAIL() << "twenty calls failed";
  } catch (const ObjectiveError& error) {
    EXPECT_EQ(error.code(), "command.failed");
    EXPECT_EQ(error.expected(), "the program printed: wrong flag");
    EXPECT_NE(error.message().find("exit code 2"), std::string::npos);
  }
  const Problem none = command("/there/is/none {x}", "x=int:0:9");
  EXPECT_THROW(value_at(none, {1}), ObjectiveError);
}

TEST(Command, StopsWithTheRun) {
  const Problem problem = command("sleep 60{x}", "x=int:0:99");
  std::stop_source stop;
  problem.experiment->watch_stop(stop.get_token());
  std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  const auto begin = Clock::now();
  EXPECT_THROW(value_at(problem, {1}), EvaluationCutOff);
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_EQ(problem.experiment->failures(), "") << "a call that was ended is no failure";
}

TEST(Command, SaysWhyCallsFailed) {
  const Problem problem = command(
      "sh -c 'test {x} = 2 && echo lost >&2 && exit 3; test {x} = 3 && echo ok {x}%; echo {x}'",
      "x=int:0:9");
  EXPECT_EQ(problem.experiment->failures(), "");
  value_at(problem, {1});
  value_at(problem, {2});
  EXPECT_EQ(problem.experiment->failures(),
            "1 of 2 calls failed; the last failure: exit code 3; the program printed: lost");
  const Problem talks = command("echo ok {c}", "c=cat:a,b");
  value_at(talks, {0});
  EXPECT_EQ(talks.experiment->failures(),
            "1 of 1 calls failed; the last failure: the program printed no number; the program "
            "printed: ok a");
}

TEST(Command, TellsOfTheFirstCallThatSucceeds) {
  const Problem problem =
      command("sh -c 'test {x} = 0 && exit 1; echo step 9; echo value = {x}, -1'", "x=int:0:9",
              {{"constraints", {"1"}}});
  std::vector<std::string> told;
  problem.experiment->tell_first([&](const FirstEvaluation& first) {
    EXPECT_GT(first.seconds, 0);
    told.push_back(first.sentence);
  });
  for (const double x : {0.0, 4.0, 5.0}) value_at(problem, {x});
  EXPECT_EQ(told,
            (Words{"the first call gave 4 and constraints -1 in its output 'value = 4, -1'"}));
}

TEST(Command, ThatCannotBeStartedAnyMoreFails) {
  const std::string file = testing::TempDir() + "kiln_gone_" + std::to_string(::getpid());
  std::ofstream(file) << "#!/bin/sh\nrm \"$0\"\necho $1\n";
  ASSERT_EQ(::chmod(file.c_str(), 0700), 0);
  const Problem problem = command(file + " {x}", "x=int:0:9");
  EXPECT_EQ(value_at(problem, {3}), 3);
  EXPECT_TRUE(std::isnan(value_at(problem, {4})));
  EXPECT_EQ(problem.experiment->failures(),
            "1 of 2 calls failed; the last failure: the program did not start: No such file or "
            "directory");
  EXPECT_EQ(value_at(problem, {3}), 3) << "what is known stays";
}

TEST(Command, IsTriedAgainWhereFilesAreShort) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan looks at a class that it has not seen through a pipe, and there is none";
#endif
  const Problem problem = command("echo {x}", "x=int:0:9");
  EXPECT_EQ(value_at(problem, {4}), 4);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::latch taken(1);
  std::jthread gives_back([&] {
    taken.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    ::setrlimit(RLIMIT_NOFILE, &before);
  });
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  taken.count_down();
  double value = 0;
  EXPECT_NO_THROW(value = value_at(problem, {5}));
  gives_back.join();
  EXPECT_EQ(value, 5) << "no file could be opened at first";
}

TEST(Command, HasSemicolonsInItsCategories) {
  const Problem problem = command("echo {c}{n}{m}", "c=cat:a;b,x ; y,z; n=int:1:4;m=cat:u,v");
  ASSERT_EQ(problem.coordinates.size(), 3u);
  EXPECT_EQ(problem.coordinates[0].names, (Words{"a;b", "x ; y", "z"}));
  EXPECT_EQ(problem.coordinates[1].name, "n");
  EXPECT_EQ(problem.coordinates[2].names, (Words{"u", "v"}));
}

TEST(Command, RefusesVariablesThatItCannotRead) {
  const auto why = [](const std::string& text) {
    const std::string all = complaint([&] { parse_variable(text); });
    const std::string head = "command.variable: --var " + text + ": ";
    return all.starts_with(head) ? all.substr(head.size()) : all;
  };
  EXPECT_EQ(why("lr"), "this is not NAME=KIND:...");
  EXPECT_EQ(why("1lr=real:0:1"),
            "a name consists of letters, digits, _ and -, and begins with a letter");
  EXPECT_EQ(why("lr=float:0:1"), "the kind 'float' is not real, int or cat");
  EXPECT_EQ(why("lr=real:1:0"), "the lower bound is not below the upper bound");
  EXPECT_EQ(why("lr=real:0:1:log"), "a logarithmic scale needs a lower bound above 0");
  EXPECT_EQ(why("lr=real:0:high"), "the bound 'high' is not a number");
  EXPECT_EQ(why("lr=real:0"), "the bound '' is not a number");
  EXPECT_EQ(why("n=int:0:1.5"),
            "the bounds of an int variable must be whole numbers from -1e9 to 1e9");
  EXPECT_EQ(why("c=cat:a"), "a categorical variable needs at least two values");
  EXPECT_EQ(why("c=cat:a,b,a"), "a value appears twice");
  EXPECT_EQ(why("lr=real:1e-5:1e-1:log"), "accepted");
  // Shares of such an interval would all be one number.
  EXPECT_EQ(why("x=real:-1e308:1e308"), "the difference of the bounds overflows a double");
  EXPECT_EQ(why("x=real:-8e307:8e307"), "accepted");
  EXPECT_EQ(why("x=real:1e-320:1:log"), "the ratio of the bounds overflows a double");
  EXPECT_EQ(why("x=real:1e-300:1:log"), "accepted");
}

TEST(Command, RefusesACommandThatDoesNotFit) {
  const std::string x = "x=int:0:9";
  EXPECT_EQ(refusal("run {x} {rate}", x),
            "command.variable: the command has {rate}, which is not a variable");
  EXPECT_EQ(refusal("run {dept}", "depth=int:0:9"),
            "command.variable: the command has {dept}, which is not a variable; the nearest "
            "is 'depth'");
  EXPECT_EQ(refusal("run {x}", x + "; y=int:0:1"),
            "command.variable: the command does not use the variable 'y'");
  EXPECT_EQ(refusal("run {x}", x + ";" + x),
            "command.variable: the variable 'x' is declared twice");
  EXPECT_EQ(refusal("run", ""), "command.variable: the command has no variables");
  EXPECT_EQ(refusal("run '{x}", x), "command.syntax: command:run '{x}: the quote ' is not closed");
  EXPECT_EQ(refusal("run {x", x).substr(0, 66),
            "command.syntax: command:run {x: the command has an unmatched brace");
  EXPECT_EQ(refusal("run {x}\\", x),
            "command.syntax: command:run {x}\\: the command ends with a backslash");
  EXPECT_EQ(refusal(" ", x).substr(0, 18), "problem.parameters");
  EXPECT_EQ(refusal("run {x}", x, {{"constraints", {"17"}}}),
            "command.constraints: a command cannot have 17 constraints");
  EXPECT_EQ(refusal("run {x}", x, {{"timeout", {"-1"}}}),
            "command.timeout: the time limit of a call must not be negative");
}

}  // namespace
}  // namespace kiln::problems::command_test
