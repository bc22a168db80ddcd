// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Workers of a command, in whole runs.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "program.hpp"

namespace kiln::workers_test {
namespace {

using test::Call;
using test::count_lines;
using test::lines_of;
using test::Outcome;
using Words = std::vector<std::string>;

namespace fs = std::filesystem;

class WorkerRun : public test::ProgramTest {
 protected:
  WorkerRun() {
    write("value.sh", "awk -v x=$1 -v y=$2 'BEGIN { print (x - 0.3)^2 + (y - 1)^2, y - 5 }'\n");
    // Answers after a random time, and dies at random, in every tenth request or so.
    write("worker.sh",
          "echo $$ >> pids\n"
          "echo note from a worker >&2\n"
          "while read id x y; do\n"
          "  r=$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')\n"
          "  if [ -n \"$HANG\" ]; then sleep 60; fi\n"
          "  sleep 0.0$r\n"
          "  if [ $r -gt 235 ] && mkdir died 2> /dev/null; then kill -9 $$; fi\n"
          "  echo $id $(sh value.sh $x $y)\n"
          "done\n");
  }
  static Words words(const std::string& command, const Words& more) {
    Words all{
        "solve",         command, "--var",         "x=real:0:1", "--var", "y=real:0.01:10:log",
        "--constraints", "1",     "--evaluations", "24",         "-p",    "batch=6",
        "--device",      "cpu"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool all_ended() const {
    for (const std::string& pid : lines_of(read("pids"))) {
      if (::kill(std::stoi(pid), 0) == 0) return false;
    }
    return true;
  }
};

TEST_F(WorkerRun, GiveTheSameRunAsCallsWhateverTheirDelays) {
  Outcome outcome =
      run(words("command:sh value.sh {x} {y}", {"--threads", "2", "-q", "-o", "calls"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* jobs : {"4", "2", "1"}) {
    const std::string folder = std::string("jobs") + jobs;
    outcome = run(words("command:sh worker.sh", {"--worker", "words", "--jobs", jobs, "--threads",
                                                 "4", "-q", "-o", folder}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(read(folder + "/evaluations.csv"), read("calls/evaluations.csv")) << jobs;
    EXPECT_NE(outcome.err.find("note from a worker"), std::string::npos) << outcome.err;
    EXPECT_LE(count_lines(read("pids")), std::stoi(jobs) + 1) << "one may have died";
    EXPECT_TRUE(all_ended());
    fs::remove(folder_ / "pids");
    fs::remove(folder_ / "died");
  }
}

TEST_F(WorkerRun, AreEndedWithTheRunHoweverItEnds) {
  for (const int signal : {SIGINT, SIGKILL}) {
    fs::remove(folder_ / "pids");
    Call call{words("command:sh worker.sh", {"--worker", "words", "--threads", "2"})};
    call.environment = {{"HANG", "1"}};
    call.signal = signal;
    call.signal_at = "note from a worker";
    EXPECT_EQ(run(call).exit_code, 128 + signal);
    for (int i = 0; i < 500 && !all_ended(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(all_ended()) << signal;
  }
}

TEST_F(WorkerRun, AreRefusedWithAFix) {
  Outcome outcome = run(words("command:sh worker.sh {x}", {"--worker", "words"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("command.variable"), std::string::npos) << outcome.err;
  outcome = run(words("command:./none", {"--worker", "json"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[command.start]"), std::string::npos) << outcome.err;
  outcome = run(words("command:sh worker.sh", {"--worker", "xml"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("fix: --worker json"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kiln::workers_test
