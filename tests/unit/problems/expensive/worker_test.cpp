// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Programs that stay: the lines that are exchanged, and what becomes of workers that die, hang,
// print what is no answer, or answer twice.
#include "expensive/worker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/command.hpp"

#include "backends/cpu_queue.hpp"
#include "child_process.hpp"
#include "expensive/worker_lines.hpp"

namespace kiln::problems::worker_test {
namespace {

using detail::read_answer;
using detail::request_line;
using detail::Worker;
using detail::WorkerAnswer;
using detail::WorkerReply;
using test::complaint;
using test::dies_soon;
using test::lives;
using Kind = WorkerAnswer::Kind;

TEST(WorkerLines, RequestsAreOneLine) {
  const std::vector<CommandVariable> variables{parse_variable("lr=real:0:1"),
                                               parse_variable("opt=cat:\"a\\n\\\"b\",c")};
  EXPECT_EQ(request_line(WorkerForm::words, 7, variables, {"0.25", "c"}), "7 0.25 c\n");
  EXPECT_EQ(request_line(WorkerForm::json, 7, variables, {"0.25", "a\n\"b"}),
            "{\"id\":7,\"point\":{\"lr\":0.25,\"opt\":\"a\\n\\\"b\"}}\n");
}

TEST(WorkerLines, AnswersHaveTheIdAndAllNumbers) {
  const auto words = [](const char* line, std::size_t count) {
    return read_answer(WorkerForm::words, 12, line, count);
  };
  const auto json = [](const char* line, std::size_t count) {
    return read_answer(WorkerForm::json, 12, line, count);
  };
  EXPECT_EQ(words("12 0.5", 1).numbers, std::vector{0.5});
  EXPECT_EQ(words(" 12\t+5e-1 -2 \r", 2).numbers, (std::vector{0.5, -2.0}));
  EXPECT_EQ(json("{\"value\": 0.5, \"id\": 12}", 1).numbers, std::vector{0.5});
  EXPECT_EQ(json("{\"id\":12,\"value\":0.5,\"constraints\":[-2]}", 2).numbers,
            (std::vector{0.5, -2.0}));
  for (const char* line : {"12 failed", "12 failed out of memory", "12 nan", "12 inf", "12 1 2"}) {
    EXPECT_EQ(words(line, 1).kind, Kind::failed) << line;
  }
  EXPECT_NE(words("12 failed out of memory", 1).why.find("out of memory"), std::string::npos);
  for (const char* line : {"{\"id\":12,\"failed\":true}", "{\"id\":12,\"value\":null}",
                           "{\"id\":12,\"value\":1,\"constraints\":[1]}"}) {
    EXPECT_EQ(json(line, 1).kind, Kind::failed) << line;
  }
  for (const char* line : {"", "12", "1 0.5", "120 0.5", "0.5", "12 0,5", "loading", "12 0.5 s"}) {
    EXPECT_EQ(words(line, 1).kind, Kind::no_answer) << line;
  }
  for (const char* line : {"", "0.5", "[]", "{}", "{\"id\":12}", "{\"id\":1,\"value\":2}",
                           "{\"id\":\"12\",\"value\":2}", "{\"id\":12,\"value\":\"2\"}",
                           "{\"id\":12,\"value\":2", "{\"id\":12.5,\"value\":2}"}) {
    EXPECT_EQ(json(line, 1).kind, Kind::no_answer) << line;
  }
}

TEST(WorkerProcess, EndsWithItsGroupAndIsReaped) {
  int worker = 0, child = 0;
  {
    Worker one({"sh", "-c", "trap '' TERM; sleep 60 & read a; echo $$ $!; sleep 60"}, nullptr);
    const WorkerReply reply = one.exchange("go\n", 0, {});
    ASSERT_EQ(reply.end, WorkerReply::End::line);
    ASSERT_EQ(std::sscanf(reply.line.c_str(), "%d %d", &worker, &child), 2);
    EXPECT_TRUE(lives(worker));
  }
  EXPECT_EQ(::kill(worker, 0), -1) << "it was reaped";
  EXPECT_TRUE(dies_soon(child));
}

TEST(WorkerProcess, AnInputThatNobodyReadsEndsNoProcess) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  Worker closes({"sh", "-c", "exec <&-; sleep 60"}, nullptr);
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(closes.exchange(much + "\n", 5, {}).end, WorkerReply::End::ended);
  // One that does not read: its pipe is full, which must not block.
  Worker sleeps({"sleep", "60"}, nullptr);
  EXPECT_EQ(sleeps.exchange(much + "\n", 0.2, {}).end, WorkerReply::End::timed_out);
  EXPECT_NE(sleeps.end(0), "");
  EXPECT_EQ(Worker({"/there/is/none"}, nullptr).reason(), ENOENT);
}

TEST(WorkerProcess, HasNoDescriptorOfAnother) {
  Worker first({"sh", "-c", "read a; echo 1; cat"}, nullptr);
  ASSERT_EQ(first.exchange("\n", 5, {}).line, "1");
  Worker second({"sh", "-c", "read a; echo 2; cat"}, nullptr);
  ASSERT_EQ(second.exchange("\n", 5, {}).line, "2");
  // It would wait for SIGTERM if the second one held its input open.
  EXPECT_EQ(first.end(5), "exit code 0");
}

/// A folder of its own, in which workers count their starts and requests.
class Workers : public testing::Test {
 protected:
  Workers() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln-worker-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Workers() override { std::filesystem::remove_all(folder_); }

  /// @param body  of the loop over requests, with $id and $x
  Problem worker(const std::string& body, ProblemSettings settings = {}) const {
    const std::string file = folder_ + "/worker.sh";
    std::ofstream(file) << "echo $$ >> " << folder_ << "/starts\nwhile read id x; do\necho $x >> "
                        << folder_ << "/requests\n" + body + "\ndone\n";
    settings["var"] = {"x=int:0:1000"};
    settings["worker"] = {"words"};
    return command_by_name("sh " + file, settings);
  }
  static double value_at(const Problem& problem, double x) {
    const State state = problem.solution.parse(std::vector{x});
    return problem.solution.verify(spans_of(state));
  }
  std::vector<std::string> lines_of(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::size_t starts() const { return lines_of("starts").size(); }
  std::size_t requests() const { return lines_of("requests").size(); }

  std::string folder_;
};

TEST_F(Workers, OneStaysForAllPoints) {
  {
    const Problem problem = worker("echo $id $((2 * x))");
    for (int x = 0; x < 20; ++x) EXPECT_EQ(value_at(problem, x), 2 * x);
    EXPECT_EQ(starts(), 1u);
  }
  EXPECT_FALSE(lives(std::stoi(lines_of("starts").front()))) << "it goes with the problem";
}

TEST_F(Workers, APointWhoseWorkerDiesIsAskedOnceMore) {
  const Problem problem = worker("if [ $x = 3 ] && mkdir " + folder_ +
                                 "/once; then exit 5; fi\n"
                                 "if [ $x = 4 ]; then printf \"$id 0.\"; kill -9 $$; fi\n"
                                 "echo $id $x");
  EXPECT_EQ(value_at(problem, 3), 3) << "by the second worker";
  EXPECT_EQ(requests(), 2u);
  EXPECT_TRUE(std::isnan(value_at(problem, 4))) << "half a line is no answer";
  EXPECT_EQ(requests(), 4u) << "asked twice, and not more";
  EXPECT_NE(problem.experiment->failures().find("1 of 2 calls failed"), std::string::npos);
  EXPECT_NE(problem.experiment->failures().find("ended before its answer: signal 9"),
            std::string::npos)
      << problem.experiment->failures();
  EXPECT_EQ(value_at(problem, 5), 5);
}

TEST_F(Workers, OneThatAnswersAndEndsIsReplaced) {
  const Problem problem = worker("echo $id $x; exit 0");
  for (int x = 0; x < 5; ++x) EXPECT_EQ(value_at(problem, x), x);
  EXPECT_GE(starts(), 5u);
}

TEST_F(Workers, WhatIsNoAnswerEndsTheWorker) {
  const Problem problem = worker(
      "if [ $x = 3 ]; then echo loading the model; fi\n"
      "if [ $x = 4 ] && mkdir " +
      folder_ +
      "/once; then echo 99999 7; fi\n"
      "echo $id $x");
  EXPECT_EQ(value_at(problem, 1), 1);
  EXPECT_TRUE(std::isnan(value_at(problem, 3)));
  EXPECT_NE(problem.experiment->failures().find("'loading the model', which is no answer"),
            std::string::npos)
      << problem.experiment->failures();
  EXPECT_EQ(value_at(problem, 4), 4) << "the answer to another request is not taken";
  EXPECT_EQ(value_at(problem, 5), 5);
}

// The second answer would be that to the next point, by one behind for ever.
TEST_F(Workers, ASecondAnswerIsNotThatOfTheNextPoint) {
  const Problem problem = worker("echo $id $x; if [ $x = 3 ]; then echo $id 77; fi; sleep 0.01");
  EXPECT_EQ(value_at(problem, 3), 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int x = 4; x < 8; ++x) EXPECT_EQ(value_at(problem, x), x);
  EXPECT_EQ(starts(), 2u);
}

TEST_F(Workers, OneThatHangsFailsThePointAndIsEnded) {
  const Problem problem =
      worker("if [ $x = 3 ]; then sleep 60; fi\necho $id $x", {{"timeout", {"0.3"}}});
  EXPECT_TRUE(std::isnan(value_at(problem, 3)));
  EXPECT_EQ(requests(), 1u) << "it would take as long again";
  EXPECT_TRUE(dies_soon(std::stoi(lines_of("starts").front())));
  EXPECT_EQ(value_at(problem, 4), 4);
}

TEST_F(Workers, FailuresThatAreReportedKeepTheWorker) {
  const Problem problem =
      worker("if [ $x = 3 ]; then echo $id failed no root; else echo $id $x; fi");
  EXPECT_TRUE(std::isnan(value_at(problem, 3)));
  EXPECT_EQ(value_at(problem, 4), 4);
  EXPECT_EQ(starts(), 1u);
  EXPECT_NE(problem.experiment->failures().find("reported a failure: no root"), std::string::npos);
}

TEST_F(Workers, OneThatNeverAnswersEndsTheSearch) {
  const Problem problem = worker("exit 1");
  std::string code;
  try {
    for (int x = 0; x < 30; ++x) value_at(problem, x);
  } catch (const ObjectiveError& error) {
    code = error.code();
  }
  EXPECT_EQ(code, "command.failed");
  EXPECT_EQ(requests(), 40u) << "twice for each of twenty points";
}

TEST_F(Workers, JobsLimitWhatRunsAtTheSameTime) {
  const Problem problem = worker("sleep 0.05; echo $id $x", {{"jobs", {"2"}}});
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int x = 0; x < 8; ++x) {
    threads.emplace_back([&, x] { right += value_at(problem, x) == x ? 1 : 0; });
  }
  threads.clear();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(starts(), 2u);
}

TEST_F(Workers, RefusesWhatCannotBe) {
  const auto refusal = [](ProblemSettings settings) {
    return complaint([&] { command_by_name("cat", settings); });
  };
  EXPECT_NE(refusal({{"var", {"x=real:0:1"}}, {"worker", {"xml"}}}).find("json, words"),
            std::string::npos);
  EXPECT_NE(refusal({{"var", {"x=cat:a b,c"}}, {"worker", {"words"}}}).find("single word"),
            std::string::npos);
  EXPECT_NE(refusal({{"var", {"x=real:0:1"}}, {"worker", {"json"}}, {"jobs", {"-3"}}}).find("jobs"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::problems::worker_test
