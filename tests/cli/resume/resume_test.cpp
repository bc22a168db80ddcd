// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::resume_test {
namespace {

using nlohmann::json;
using test::Call;
using test::Outcome;

namespace fs = std::filesystem;

/// Runs that are killed once they have a checkpoint, and continue.
class Resume : public test::ProgramTest {
 protected:
  static std::vector<std::string> anneal(const std::string& folder, const std::string& sweeps) {
    return {"solve",
            "torus:20x20,1",
            "--device",
            "cpu",
            "--threads",
            "1",
            "--replicas",
            "64",
            "--sweeps",
            sweeps,
            "-o",
            folder,
            "--checkpoint-every",
            "20ms"};
  }
  /// Kills a run at the row of its fifth second, long behind its first checkpoint.
  void kill_in(const std::string& folder, std::vector<std::string> words) const {
    Call call{std::move(words)};
    call.signal = SIGKILL;
    call.signal_at = "\n* ";  // a row that stays: the first report point has come
    ASSERT_EQ(run(call).exit_code, 128 + SIGKILL);
    ASSERT_TRUE(exists(folder + "/run.json"));
  }
  /// Contents of the files of a folder.
  std::map<std::string, std::string> files_of(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
      const std::string name = entry.path().filename().string();
      files[name] = read(folder + "/" + name);
    }
    return files;
  }
  json result_of(const std::string& folder) const {
    json result = json::parse(read(folder + "/result.json"));
    for (const char* part : {"time", "queue", "memory"}) result.erase(part);
    result["incumbents"].erase("primal_integral");  // over time
    result["incumbents"].erase("time_to_gap");
    return result;
  }
};

TEST_F(Resume, AKilledRunEndsLikeOneThatWasNot) {
  ASSERT_EQ(run(anneal("whole", "60k")).exit_code, 0);
  kill_in("killed", anneal("killed", "60k"));

  const Outcome outcome = run({"resume", "killed"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("\nresume       killed"), std::string::npos) << outcome.err;
  EXPECT_EQ(result_of("killed"), result_of("whole"));
  EXPECT_EQ(read("killed/solution.txt"), read("whole/solution.txt"));
  const std::string events = read("killed/events.ndjson");
  EXPECT_NE(events.find("\"event\":\"start\""), std::string::npos);
  EXPECT_NE(events.find("\"event\":\"stop\""), std::string::npos);
  for (const auto& [name, content] : files_of("killed")) EXPECT_NE(name[0], '.') << name;
}

TEST_F(Resume, ASamplingRunKeepsItsDraws) {
  const auto sample = [](const std::string& folder) {
    return std::vector<std::string>{"sample",
                                    "posterior:eight-schools",
                                    "--device",
                                    "cpu",
                                    "--threads",
                                    "1",
                                    "--chains",
                                    "64",
                                    "--draws",
                                    "3000",
                                    "--warmup",
                                    "500",
                                    "-o",
                                    folder,
                                    "--checkpoint-every",
                                    "20ms"};
  };
  ASSERT_EQ(run(sample("whole")).exit_code, 0);
  Call call{sample("killed")};
  call.signal = SIGKILL;
  call.signal_at = "\n ";
  run(call);

  const Outcome outcome = run({"resume", "killed", "-q"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read("killed/draws.npy"), read("whole/draws.npy"));
  EXPECT_EQ(read("killed/summary.csv"), read("whole/summary.csv"));
  const Outcome again = run({"resume", "killed", "--time-limit", "1s"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("error[resume.finished]"), std::string::npos) << again.err;
}

TEST_F(Resume, AFinishedRunNeedsANewLimit) {
  ASSERT_EQ(run(anneal("run", "2k")).exit_code, 0);
  const auto before = files_of("run");

  const Outcome refused = run({"resume", "run"});

  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err,
            "error[resume.finished]: run: the run is finished (sweep_limit) after 2000 steps of "
            "each replica\n"
            "  a new limit: --time-limit, or a greater --sweeps\n"
            "  fix: kiln resume run --time-limit 60s\n");
  EXPECT_EQ(files_of("run"), before);
  const Outcome extended = run({"resume", "run", "--sweeps", "5k", "--json"});
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_NE(extended.err.find("\nstop         after 5000 sweeps\n"), std::string::npos)
      << extended.err;
  EXPECT_EQ(json::parse(extended.out)["work"]["sweeps"], 5000);
  EXPECT_EQ(run({"resume", "run", "--time-limit", "100ms", "-q"}).exit_code, 0);
  const json result = json::parse(read("run/result.json"));
  EXPECT_GT(result["work"]["sweeps"], 5000);
  EXPECT_EQ(result["stop"], "time_limit");
}

TEST_F(Resume, AnInterruptedRunGoesOnToItsLimit) {
  ASSERT_EQ(run(anneal("whole", "60k")).exit_code, 0);
  Call call{anneal("run", "60k")};
  call.signal = SIGTERM;
  call.signal_at = "\n* ";
  EXPECT_EQ(run(call).exit_code, 143);
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "terminated");
  EXPECT_EQ(run({"resume", "run", "-q"}).exit_code, 0);
  EXPECT_EQ(result_of("run"), result_of("whole"));
}

TEST_F(Resume, ASignalAsksForACheckpoint) {
  std::vector<std::string> words = anneal("run", "60k");
  words.back() = "1h";
  Call call{words};
  call.signal = SIGUSR1;
  call.signal_at = "\n* ";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string events = read("run/events.ndjson");
  const std::size_t first = events.find("\"event\":\"checkpoint\"");
  EXPECT_NE(first, std::string::npos) << events;
  EXPECT_EQ(events.find("\"event\":\"checkpoint\"", first + 1), std::string::npos);
  EXPECT_TRUE(exists("run/checkpoint.prev.kiln"));

  Call without{{"solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1s"}};
  without.signal = SIGUSR1;
  without.signal_at = "\n* ";
  const Outcome told = run(without);
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_NE(told.err.find("this run has no folder (-o)"), std::string::npos) << told.err;

  // Without rows there is nothing to wait for; the signal comes with the set-up, or within the run.
  Call quiet{{"solve", "command:sh -c 'echo called >&2; kill -USR1 $PPID; sleep 0.3; echo {x}'",
              "--var", "x=real:0:1", "--device", "cpu", "--evaluations", "3", "-q"}};
  const Outcome silent = run(quiet);
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_EQ(silent.err, "");
}

TEST_F(Resume, WithoutACheckpointTheRunBeginsAnew) {
  std::vector<std::string> words = anneal("killed", "60k");
  words.back() = "off";
  kill_in("killed", words);
  EXPECT_FALSE(exists("killed/checkpoint.kiln"));
  words[11] = "whole";
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_FALSE(exists("whole/checkpoint.kiln"));

  const Outcome outcome = run({"resume", "killed"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("there is no checkpoint yet; the run begins anew"), std::string::npos);
  EXPECT_EQ(result_of("killed"), result_of("whole"));
}

// Behind the last tick and before the result: what is there is the checkpoint of the last report
// point.
TEST_F(Resume, ARunKilledBehindItsLastTickGetsItsResult) {
  std::vector<std::string> words = anneal("run", "2k");
  words.back() = "1ms";
  ASSERT_EQ(run(words).exit_code, 0);
  const json whole = result_of("run");
  fs::rename(folder_ / "run/checkpoint.prev.kiln", folder_ / "run/checkpoint.kiln");
  fs::remove(folder_ / "run/result.json");

  const Outcome outcome = run({"resume", "run"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find(" and 2000 steps of each replica"), std::string::npos) << outcome.err;
  EXPECT_EQ(result_of("run"), whole);
}

TEST_F(Resume, ADamagedCheckpointGivesWayToTheOneBefore) {
  ASSERT_EQ(run(anneal("run", "2k")).exit_code, 0);
  ASSERT_EQ(run({"resume", "run", "--sweeps", "4k", "-q"}).exit_code, 0);
  const std::string whole = read("run/checkpoint.kiln");
  write("run/checkpoint.kiln", whole.substr(0, whole.size() / 2));

  const Outcome outcome = run({"resume", "run", "--sweeps", "5k"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[checkpoint.damaged]: run/checkpoint.kiln: byte "),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("resume       run/checkpoint.prev.kiln after "), std::string::npos);

  write("run/checkpoint.kiln", whole.substr(0, 100));
  write("run/checkpoint.prev.kiln", "");
  const auto before = files_of("run");
  const Outcome refused = run({"resume", "run", "--sweeps", "9k"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("error[checkpoint.damaged]: run/checkpoint.kiln: byte 100: "),
            std::string::npos)
      << refused.err;
  EXPECT_TRUE(refused.err.ends_with(
      "\n  run has no whole checkpoint before it, so the run cannot continue\n"
      "  fix: kiln solve --repeat run -o NEW begins the run anew\n"))
      << refused.err;
  EXPECT_EQ(files_of("run"), before);
  EXPECT_EQ(run({"solve", "--repeat", "run", "-o", "NEW", "-q"}).exit_code, 0) << "as it says";
}

TEST_F(Resume, OtherDataAndOtherOptionsAreRefused) {
  const std::string graph = "3 3\n1 2 1\n2 3 1\n1 3 -1\n";
  write("graph.rud", graph);
  ASSERT_EQ(run({"solve", "graph.rud", "--device", "cpu", "--sweeps", "100", "-p", "beta_max=2",
                 "--replicas", "64", "-o", "run"})
                .exit_code,
            0);
  const auto before = files_of("run");
  write("graph.rud", "3 3\n1 2 1\n2 3 2\n1 3 -1\n");
  const Outcome data = run({"resume", "run", "--sweeps", "200"});
  EXPECT_EQ(data.exit_code, 3);
  EXPECT_NE(data.err.find("graph.rud: the data differ from the data of the recorded run"),
            std::string::npos)
      << data.err;
  EXPECT_EQ(files_of("run"), before);

  write("graph.rud", graph);
  std::string altered = before.at("run.json");
  altered.replace(altered.find("\"value\": \"2\""), 12, "\"value\": \"3\"");
  write("run/run.json", altered);
  const Outcome option = run({"resume", "run", "--sweeps", "200"});
  EXPECT_EQ(option.exit_code, 3);
  EXPECT_NE(option.err.find("'-p beta_max' is 3 and was 2"), std::string::npos) << option.err;
  EXPECT_EQ(read("run/result.json"), before.at("result.json"));
  EXPECT_EQ(read("run/trace.csv"), before.at("trace.csv"));
}

TEST_F(Resume, WhatIsNoRunIsRefused) {
  const Outcome nothing = run({"resume"});
  EXPECT_EQ(nothing.exit_code, 2);
  const Outcome missing = run({"resume", "nowhere"});
  EXPECT_EQ(missing.exit_code, 3);
  fs::create_directory(folder_ / "empty");
  EXPECT_EQ(run({"resume", "empty"}).exit_code, 3);
  EXPECT_TRUE(fs::is_empty(folder_ / "empty"));
  const Outcome option = run({"resume", "empty", "--seed", "2"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_NE(option.err.find("error[resume.fixed]: --seed cannot change in a run that continues"),
            std::string::npos)
      << option.err;
  const Outcome parameter = run({"resume", "empty", "-p", "rungs=2"});
  EXPECT_EQ(parameter.exit_code, 2);
  EXPECT_NE(parameter.err.find("error[resume.fixed]: -p cannot change"), std::string::npos);
  const Outcome misspelt = run({"resume", "empty", "--sweep", "2"});
  EXPECT_NE(misspelt.err.find("unknown option '--sweep'"), std::string::npos) << misspelt.err;
}

TEST_F(Resume, AFullDiskCostsTheCheckpointAndNotTheRun) {
  // Logs and result fit; a state of 32 KiB of noise does not.
  Call call{{"solve", "torus:60x60,1", "--device", "cpu", "--threads", "1", "--replicas", "256",
             "--time-limit", "1500ms", "-o", "run", "--checkpoint-every", "100ms"}};
  call.file_limit = 48 << 10;

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(outcome.err.find("warning[checkpoint.write]: run/checkpoint.kiln: cannot be written: "),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("done   time limit"), std::string::npos) << outcome.out;
  EXPECT_FALSE(exists("run/checkpoint.kiln"));
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "time_limit");
}

}  // namespace
}  // namespace kiln::resume_test
