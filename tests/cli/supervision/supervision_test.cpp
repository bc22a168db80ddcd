// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs under --supervise whose process fails.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace kiln::test::supervision_test {
namespace {

using nlohmann::json;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// Runs of 2000 ticks of half a millisecond, by a plug-in whose kernel fails at one of them.
class Supervise : public ProgramTest {
 protected:
  static Call faulty(std::vector<std::string> more, const std::string& problem = "torus:8x8,1",
                     const std::string& device = "cpu") {
    const auto plugin = std::filesystem::path(KILN_PLUGINS) / "faulty.so";
    std::vector<std::string> words{"solve", problem, "--plugin", plugin.string()};
    for (const char* word : {"--schedule", "fails-once", "--replicas", "64", "--device",
                             device.c_str(), "--threads", "1", "--checkpoint-every", "20ms"}) {
      words.emplace_back(word);
    }
    words.insert(words.end(), more.begin(), more.end());
    return {std::move(words)};
  }
  /// @param mark  a file name: it fails once; "": it fails each time
  Call failing(const std::string& fault, const std::string& mark,
               std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--sweeps", "2000", "--supervise"});
    Call call = faulty(std::move(more));
    call.environment = {{"KILN_FAULT", fault}, {"KILN_FAULT_TICK", "900"}};
    if (!mark.empty()) call.environment["KILN_FAULT_MARK"] = (folder_ / mark).string();
    return call;
  }
  json answer_of(const std::string& folder) const {
    json result = json::parse(read(folder + "/result.json"));
    for (const char* part : {"time", "queue", "memory", "hardware"}) result.erase(part);
    result["device"].erase("executor");  // chosen by measurement
    result["device"].erase("executor_reason");
    result["incumbents"].erase("primal_integral");  // over time
    result["incumbents"].erase("time_to_gap");
    return result;
  }
};

TEST_F(Supervise, AProcessThatFailsEndsWithTheAnswerOfOneThatDoesNot) {
  ASSERT_EQ(run(faulty({"--sweeps", "2000", "-o", "whole"})).exit_code, 0);
  for (const auto& [fault, text] : std::vector<std::pair<std::string, std::string>>{
           {"loop", "the run hung; restart 1: it continues in loop"},
           {"kill", "the run ended by signal 9 (Killed); restart 1: it continues in kill"},
           {"segv", "the run ended by signal 11 (Segmentation fault); restart 1"}}) {
    const Outcome outcome = run(failing(fault, fault + ".mark", {"-o", fault}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("warning[supervise.restart]: " + text), std::string::npos)
        << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "warning[supervise.restart]"), 1u) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "done "), 1u) << outcome.out;
    EXPECT_EQ(read(fault + "/solution.txt"), read("whole/solution.txt")) << fault;
    EXPECT_EQ(answer_of(fault), answer_of("whole")) << fault;
    EXPECT_NE(read(fault + "/events.ndjson").find("\"code\":\"supervise.restart\""),
              std::string::npos);
  }
}

// The kernel of a process that ends is ended by the driver.
TEST_F(Supervise, AKernelThatNeverEndsEndsWithTheAnswerOfOneThatDoesOnAGpu) {
  const auto on_gpu = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--sweeps", "200000", "-q"});
    return faulty(std::move(more), "torus:8x8,1", "cuda");
  };
  const Outcome whole = run(on_gpu({"-o", "whole"}));
  if (whole.exit_code == 4 && std::getenv("KILN_REQUIRE_GPU") == nullptr) {
    GTEST_SKIP() << whole.err;
  }
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "run" + std::to_string(i);
    Call call = on_gpu({"--supervise", "-o", name});
    call.environment = {{"KILN_FAULT_TICK", std::to_string(3000 + 9000 * i)},
                        {"KILN_FAULT_MARK", (folder_ / (name + ".mark")).string()}};
    const Outcome outcome = run(call);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "warning[supervise.restart]"), 1u) << outcome.err;
    EXPECT_EQ(read(name + "/solution.txt"), read("whole/solution.txt")) << name;
    EXPECT_EQ(answer_of(name), answer_of("whole")) << name;
  }
}

TEST_F(Supervise, AHangSaysWhatTheRunDidLast) {
  const Outcome outcome = run(failing("loop", "mark", {"-o", "run"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[run.hang]: no tick has ended for 1."), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("steps have ended); the run is asked to stop"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("warning[run.hang]: no tick has ended for 2."), std::string::npos)
      << outcome.err;
}

TEST_F(Supervise, WithoutARunFolderARestartBeginsAnew) {
  const json whole = result_of(run(faulty({"--sweeps", "2000", "--json"})));
  const Outcome outcome = run(failing("kill", "mark", {"--json"}));
  const json result = result_of(outcome);
  EXPECT_NE(outcome.err.find("restart 1: it begins anew, because it has no run folder (-o DIR)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(result["solution"], whole["solution"]);
  EXPECT_EQ(result["energy"], whole["energy"]);
  EXPECT_EQ(result["work"]["accepted"], whole["work"]["accepted"]);
}

TEST_F(Supervise, AProcessThatAlwaysFailsIsGivenUp) {
  const Outcome outcome = run(failing("segv", "", {"--quiet"}));
  EXPECT_EQ(outcome.exit_code, 70);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(count_of(outcome.err, "warning[supervise.restart]"), 3u) << outcome.err;
  EXPECT_NE(outcome.err.find("error[supervise.vain]: the run ended by signal 11 (Segmentation "
                             "fault), after 3 restarts that did not get further\n  fix: "),
            std::string::npos)
      << outcome.err;
}

TEST_F(Supervise, ARestartInAFolderThatGetsFurtherIsNotInVain) {
  Call call = failing("segv", "", {"-q", "-o", "run"});
  call.environment["KILN_FAULT_TICK"] = "300";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 70);
  EXPECT_NE(outcome.err.find("fix: kiln resume run --device cpu continues the run"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(exists("run/checkpoint.kiln"));
}

TEST_F(Supervise, WhatTheUserCanMendIsNotRepeated) {
  for (const auto& [words, code] : std::vector<std::pair<std::vector<std::string>, int>>{
           {{"solve", "missing.txt", "--supervise"}, 3},
           {{"solve", "torus:8x8,1", "--sweeps", "0", "--supervise"}, 2},
           {{"solve", "torus:8x8,1", "--sweeps", "5", "--target", "1000", "--supervise"}, 10},
           {{"solve", "torus:8x8,1", "--device", "cuda:99", "--supervise"}, 4}}) {
    const Outcome plain = run({words.begin(), words.end() - 1});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_EQ(plain.exit_code, code) << plain.err;
    EXPECT_EQ(outcome.err.find("supervise"), std::string::npos) << outcome.err;
  }
}

TEST_F(Supervise, ReadsStandardInputAgainAfterARestart) {
  const std::string graph = "3 3\n1 2 1\n2 3 1\n1 3 1\n";
  Call whole = faulty({"--sweeps", "1000", "--json"}, "-");
  whole.input = graph;
  Call call = faulty({"--sweeps", "1000", "--supervise", "--json", "-o", "run"}, "-");
  call.input = graph;
  call.environment = {{"KILN_FAULT", "kill"},
                      {"KILN_FAULT_TICK", "500"},
                      {"KILN_FAULT_MARK", (folder_ / "mark").string()}};
  const Outcome outcome = run(call);
  const json result = result_of(outcome);
  EXPECT_EQ(count_of(outcome.err, "warning[supervise.restart]"), 1u) << outcome.err;
  EXPECT_EQ(result["work"]["accepted"], result_of(run(whole))["work"]["accepted"]);
}

TEST_F(Supervise, ATimeLimitIsThatOfTheWholeRun) {
  Call call = failing("kill", "mark", {"-o", "run", "--json"});
  call.words[call.words.size() - 6] = "--time-limit";
  call.words[call.words.size() - 5] = "1500ms";
  const json result = result_of(run(call));
  EXPECT_EQ(result["stop"], "time_limit");
  EXPECT_GE(result["time"]["run_s"].get<double>(), 1.4);
  EXPECT_LT(result["time"]["run_s"].get<double>(), 2.5);
}

TEST_F(Supervise, SignalsAskTheRunToStop) {
  Call call = faulty({"--sweeps", "1M", "--supervise", "-o", "run"});
  call.signal = SIGINT;
  call.signal_at = "\n* ";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "stopping; the result will be written"), 1u) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "interrupted"), 1u) << outcome.out;
  EXPECT_TRUE(exists("run/result.json"));
  EXPECT_EQ(outcome.err.find("supervise"), std::string::npos) << outcome.err;
  call.words.back() = "other";
  call.signal = SIGTERM;
  EXPECT_EQ(run(call).exit_code, 143);
}

// A second signal would leave out the last checkpoint.
TEST_F(Supervise, CtrlCOfATerminalIsHeardOnce) {
  std::vector<std::string> words = faulty({"--sweeps", "1M", "--supervise", "-o", "run"}).words;
  std::ranges::replace(words, std::string("20ms"), std::string("1h"));
  words.insert(words.begin(), "kiln");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int screen = -1;
  const pid_t program = ::forkpty(&screen, nullptr, nullptr, nullptr);
  if (program == 0) become_program(folder_, pointers.data(), environ);
  std::string text;
  std::array<char, 4096> block;
  bool sent = false;
  for (ssize_t n = 0; (n = ::read(screen, block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<std::size_t>(n));
    if (sent || text.find(" 0.2s ") == std::string::npos) continue;
    sent = ::write(screen, "\x03", 1) == 1;
  }
  int status = 0;
  ::waitpid(program, &status, 0);
  ::close(screen);
  EXPECT_TRUE(sent) << text;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << text;
  EXPECT_EQ(count_of(text, "stopping; the result will be written"), 1u) << text;
  EXPECT_TRUE(exists("run/checkpoint.kiln")) << text;
}

TEST_F(Supervise, TheRunEndsWithItsSupervisor) {
  Call call = faulty({"--sweeps", "1M", "--supervise", "-o", "run"});
  call.signal = SIGKILL;
  call.signal_at = "\n* ";
  // Its streams are closed when both processes have ended.
  EXPECT_EQ(run(call).exit_code, 128 + SIGKILL);
  const Outcome outcome = run({"resume", "run", "--sweeps", "10", "--plugin",
                               (std::filesystem::path(KILN_PLUGINS) / "faulty.so").string()});
  EXPECT_EQ(outcome.err.find("resume.busy"), std::string::npos) << outcome.err;
}

TEST_F(Supervise, AClosedPipeEndsTheRun) {
  Call call = faulty({"--sweeps", "200", "--supervise"});
  call.closed_output = true;
  EXPECT_EQ(run(call).exit_code, 141);
}

TEST_F(Supervise, AFileOfOptionsDoesNotAskForIt) {
  write("run.toml", "supervise = true\n");
  const Outcome outcome = run({"solve", "torus:8x8,1", "--config", "run.toml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error[config.key]"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kiln::test::supervision_test
