// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A run of expensive evaluations that is killed and continues calls the program again only for what
// was running.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::recall_test {
namespace {

using nlohmann::json;
using test::Call;
using test::count_lines;
using test::lines_of;
using test::Outcome;

namespace fs = std::filesystem;

constexpr std::int64_t running = 2;  // calls at the same time

class Recall : public test::ProgramTest {
 protected:
  Recall() {
    // Kills the run once, in its KILL-th call. Fails in a third of the box.
    write("f.sh",
          "echo \"$1 $2\" >> \"$CALLS\"\n"
          "sleep 0.02\n"
          "if [ -n \"$KILL\" ] && [ $(wc -l < \"$CALLS\") -ge \"$KILL\" ] && mkdir once 2> "
          "/dev/null; then kill -9 $PPID; sleep 5; fi\n"
          "awk -v x=$1 -v y=$2 'BEGIN { if (x > 0.7) exit 3; print (x - 0.3)^2 + (y - 1)^2, "
          "y - 5 }'\n");
    // Gives another value in every call.
    write("noisy.sh",
          "if [ -n \"$KILL\" ] && [ $(wc -l < \"$CALLS\") -ge \"$KILL\" ] && mkdir once 2> "
          "/dev/null; then kill -9 $PPID; sleep 5; fi\n"
          "echo \"$1 $2\" >> \"$CALLS\"\n"
          "echo $(date +%s%N) $(date +-1%N)\n");
    write("calls", "");
  }

  static std::vector<std::string> words(const std::string& folder, const std::string& program,
                                        const std::string& evaluations) {
    return {"solve",
            "command:sh " + program + " {x} {y}",
            "--var",
            "x=real:0:1",
            "--var",
            "y=real:0.01:10:log",
            "--constraints",
            "1",
            "--evaluations",
            evaluations,
            "-p",
            "batch=12",
            "--threads",
            std::to_string(running),
            "--device",
            "cpu",
            "-q",
            "-o",
            folder};
  }
  void whole(const std::string& folder, const std::string& evaluations) const {
    Call call{words(folder, "f.sh", evaluations)};
    call.environment = {{"CALLS", folder + ".calls"}};
    const Outcome outcome = run(call);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(std::to_string(count_lines(read(folder + ".calls"))), evaluations);
  }
  /// Kills a run of 24 evaluations in its `at`-th call.
  void kill_at(int at, const std::string& program) const {
    Call call{words("killed", program, "24")};
    call.environment = {{"CALLS", "calls"}, {"KILL", std::to_string(at)}};
    ASSERT_EQ(run(call).exit_code, 128 + SIGKILL);
  }
  Outcome resume(std::vector<std::string> more = {}) const {
    Call call{{"resume", "killed", "--allow-command"}};
    call.words.insert(call.words.end(), more.begin(), more.end());
    call.environment = {{"CALLS", "calls"}};
    return run(call);
  }
  /// Calls with the same words as one before.
  std::int64_t repeated() const {
    const std::vector<std::string> calls = lines_of(read("calls"));
    const std::set<std::string> distinct(calls.begin(), calls.end());
    return static_cast<std::int64_t>(calls.size() - distinct.size());
  }
  void expect_like(const std::string& folder) const {
    EXPECT_EQ(read("killed/evaluations.csv"), read(folder + "/evaluations.csv"));
    const json a = json::parse(read("killed/result.json")),
               b = json::parse(read(folder + "/result.json"));
    for (const char* part : {"objective", "solution", "work", "diagnostics", "series", "stop"}) {
      EXPECT_EQ(a[part], b[part]) << part;
    }
  }
};

TEST_F(Recall, OnlyTheCallsThatWereRunningAreRepeated) {
  whole("whole", "24");
  for (const int at : {7, 19}) {  // in the first batch, before any checkpoint, and in the second
    fs::remove_all(folder_ / "killed");
    fs::remove(folder_ / "once");
    write("calls", "");
    kill_at(at, "f.sh");

    const Outcome outcome = resume();

    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(" evaluations of killed/evaluations.csv: Kiln does not repeat them"),
              std::string::npos)
        << outcome.err;
    EXPECT_LE(count_lines(read("calls")), 24 + running);
    EXPECT_LE(repeated(), running);
    expect_like("whole");
  }
  EXPECT_NE(read("whole/evaluations.csv").find(",,"), std::string::npos) << "no call failed";
}

// A program of another opinion in each call: an answer that is asked for twice shows it.
TEST_F(Recall, ValuesStayThoseOfTheFirstCall) {
  kill_at(20, "noisy.sh");
  const std::vector<std::string> before = lines_of(read("killed/evaluations.csv"));
  ASSERT_GE(before.size(), 12u);

  const Outcome outcome = resume({"-q"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(read("killed/result.json"))["verified"], true);
  // Study and batch, and the best so far, stand around them.
  const std::string after = read("killed/evaluations.csv");
  for (std::size_t i = 1; i < before.size(); ++i) {
    const std::string& row = before[i];
    EXPECT_NE(after.find(row.substr(3, row.rfind(',') - 3)), std::string::npos) << row;
  }
}

TEST_F(Recall, ChangedAndTornLinesAreEvaluatedAgain) {
  whole("whole", "24");
  kill_at(20, "f.sh");
  std::string csv = read("killed/evaluations.csv");
  std::vector<std::string> lines = lines_of(csv);
  // A better value than there is, in the third line.
  std::string& changed = lines[2];
  const std::size_t best = changed.rfind(','), value = changed.rfind(',', best - 1);
  changed.replace(value + 1, best - value - 1, "-7");
  lines.back().resize(lines.back().size() / 2);
  csv.clear();
  for (const std::string& line : lines) csv += line + "\n";
  csv.pop_back();
  write("killed/evaluations.csv", csv);

  const Outcome outcome = resume();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[evaluations.changed]: killed/evaluations.csv: the run did "
                             "not write line 3 as it is"),
            std::string::npos)
      << outcome.err;
  EXPECT_LE(repeated(), running + 2);
  expect_like("whole");
}

TEST_F(Recall, RowsOfAnotherRunAreNotTaken) {
  kill_at(20, "f.sh");
  std::string other = read("killed/run.json");
  const std::size_t at = other.find("\"kiln\": ");
  ASSERT_NE(at, std::string::npos);
  other.insert(at, "\"note\": 1, ");  // still a run.json, of another run
  write("killed/run.json", other);
  const std::int64_t rows = count_lines(read("killed/evaluations.csv")) - 1;
  write("calls", "");

  const Outcome outcome = resume();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("Kiln does not repeat"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[evaluations.changed]"), std::string::npos) << outcome.err;
  EXPECT_GE(count_lines(read("calls")), 24 - rows);
}

TEST_F(Recall, WithoutChecksumsNoLineIsTaken) {
  whole("whole", "24");
  kill_at(20, "f.sh");
  fs::remove(folder_ / "killed/evaluations.sums");

  const Outcome outcome = resume();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[evaluations.sums]: killed/evaluations.csv: there are no "
                             "checksums of its lines"),
            std::string::npos)
      << outcome.err;
  expect_like("whole");
}

TEST_F(Recall, AFinishedRunGetsMoreEvaluations) {
  whole("killed", "24");
  whole("whole", "36");
  Call call{{"resume", "killed", "--allow-command", "-q", "--evaluations", "36"}};
  call.environment = {{"CALLS", "calls"}};

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count_lines(read("calls")), 12);
  EXPECT_EQ(read("killed/evaluations.csv"), read("whole/evaluations.csv"));
  const Outcome within = run({"resume", "killed", "--allow-command", "--evaluations", "40"});
  EXPECT_EQ(within.exit_code, 2);
  EXPECT_NE(within.err.find("error[resume.limit]: --evaluations=40 ends within a batch of 12"),
            std::string::npos)
      << within.err;
  EXPECT_NE(within.err.find("fix: --evaluations 48"), std::string::npos) << within.err;
}

}  // namespace
}  // namespace kiln::recall_test
