// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <latch>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "program.hpp"

namespace kiln::test::run_folder_test {
namespace {

using nlohmann::json;
using RunFolder = ProgramTest;

TEST_F(RunFolder, HoldsAllFilesOfARun) {
  const Outcome outcome = run(short_run({"-o", "out/run", "--json"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read("out/run/result.json"), outcome.out);
  EXPECT_EQ(count_lines(read("out/run/solution.txt")), 64);
  const std::string trace = read("out/run/trace.csv");
  EXPECT_EQ(
      trace.rfind("time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n", 0),
      0u);
  EXPECT_GE(count_lines(trace), 2);
  std::int64_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out/run")) {
    EXPECT_NE(entry.path().extension(), ".tmp");
    ++n_files;
  }
  EXPECT_EQ(n_files, 9);
}

TEST_F(RunFolder, TellsTheEventsOfTheRun) {
  const Outcome outcome = run(Call{{"solve", "torus:8x8,1", "--sweeps", "50", "-o", "run", "-q"},
                                   {},
                                   {{"KILN_CUDA_MODULE", "/nonexistent"}}});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<json> events;
  std::istringstream lines(read("run/events.ndjson"));
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
  ASSERT_GE(events.size(), 4u);
  EXPECT_EQ(
      events[0],
      (json{{"time_s", 0.0},
            {"event", "start"},
            {"problem", "torus:8x8,1"},
            {"schedule", "simulated-annealing"},
            {"device", "cpu"},
            {"objective", "cut"},
            {"sense", "maximize"},
            {"replicas", 512},
            {"seed", 1},
            {"verb", "solve"},
            {"host", events[0]["host"]},
            {"step", "sweep"},
            {"variables", 64},
            {"quantities", {"mean", "acceptance_rate", "beta", "attempts_per_ns"}},
            {"best_known", nullptr},
            {"limits",
             {{"time_s", nullptr}, {"steps", 50}, {"target", nullptr}, {"stop_when", nullptr}}}}));
  EXPECT_FALSE(events[0]["host"].get<std::string>().empty());
  EXPECT_EQ(events[1]["event"], "warning");
  EXPECT_EQ(events[1]["code"], "device.fallback");
  EXPECT_EQ(events[2]["event"], "improvement");
  EXPECT_TRUE(events[2]["best"].is_number_integer());
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(events.back()["event"], "stop");
  EXPECT_EQ(events.back()["stop"], "sweep_limit");
  EXPECT_EQ(events.back()["sweeps"], 50);
  EXPECT_EQ(events.back()["best"], result["objective"]["best"]);
  EXPECT_EQ(events.back()["verified"], true);
  EXPECT_EQ(events.back()["line"], lines_of(outcome.out).front());
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_LE(events[i - 1]["time_s"], events[i]["time_s"]);
  }
}

TEST_F(RunFolder, RemembersEveryOptionWithItsOrigin) {
  write("run.toml", "replicas = 64\n");
  const Outcome outcome =
      run(Call{short_run({"-o", "run", "--config", "run.toml"}), {}, {{"KILN_SEED", "7"}}});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(read("run/run.json"));
  EXPECT_EQ(document["schema"], "kiln.run/2");
  EXPECT_EQ(document["command"][2], "torus:8x8,1");
  const json& options = document["options"];
  EXPECT_EQ(options["seed"], (json{{"value", "7"}, {"origin", "environment"}}));
  EXPECT_EQ(options["replicas"],
            (json{{"value", "64"}, {"origin", "config"}, {"place", "run.toml:1:1"}}));
  EXPECT_EQ(options["sweeps"], (json{{"value", "50"}, {"origin", "command line"}}));
  EXPECT_EQ(options["schedule"], (json{{"value", "simulated-annealing"}, {"origin", "default"}}));
  EXPECT_EQ(document["device"]["name"], "cpu");
  EXPECT_EQ(document["seed"], 7);
}

TEST_F(RunFolder, IsNeverOverwritten) {
  ASSERT_EQ(run(short_run({"-o", "run"})).exit_code, 0);
  const std::string before = read("run/result.json");

  const Outcome outcome = run(short_run({"-o", "run", "--seed", "2"}));

  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "error[io.exists]: run contains files, and Kiln never overwrites an existing run\n"
            "  fix: -o run-2\n");
  EXPECT_EQ(read("run/result.json"), before);
}

// Those that come late must leave the folder alone that the first one has not written into yet.
TEST_F(RunFolder, IsOfOneOfManyThatComeAtOnce) {
  for (int round = 0; round < 60; ++round) {
    const std::string name = "around/run" + std::to_string(round);
    std::vector<Outcome> outcomes(8);
    std::latch all_are_there(static_cast<std::ptrdiff_t>(outcomes.size()));
    std::vector<std::thread> threads;
    for (Outcome& outcome : outcomes) {
      threads.emplace_back([&] {
        all_are_there.arrive_and_wait();
        outcome = run(short_run({"-o", name, "-q"}));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::string said;
    for (const Outcome& outcome : outcomes) said += outcome.err;
    EXPECT_EQ(std::ranges::count(outcomes, 0, &Outcome::exit_code), 1) << said;
    EXPECT_EQ(std::ranges::count(outcomes, 6, &Outcome::exit_code), 7) << said;
    EXPECT_TRUE(exists(name + "/result.json")) << said;
  }
}

TEST_F(RunFolder, MayBeAnEmptyFolder) {
  std::filesystem::create_directory(folder_ / "run");

  EXPECT_EQ(run(short_run({"-o", "run/"})).exit_code, 0);
  EXPECT_TRUE(exists("run/result.json"));
}

// A place below a regular file cannot be made by anyone, root included.
TEST_F(RunFolder, FailsAtOnceWhereItCannotBeMade) {
  write("file", "");

  const Outcome outcome = run({"solve", "gset:G1", "--time-limit", "1h", "-o", "file/run"});

  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "error[io.write]: file/run: the folder cannot be created: Not a directory\n"
            "  fix: choose a folder that can be created and written, for example -o out/run\n");
}

// The program that is called removes the folder and makes another one, as another run would.
TEST_F(RunFolder, OfAnotherRunIsNeverWrittenInto) {
  write("call.sh",
        "if mkdir second 2>/dev/null; then echo 1; exit; fi\n"
        "if mkdir third 2>/dev/null; then rm -r run; mkdir run; echo mine >run/note; fi\n"
        "echo 2\n");
  Call call{{"solve", "command:sh call.sh {x}", "--var", "x=real:0:1", "-p", "evaluations=4",
             "--threads", "1", "-o", "run"}};
  call.environment["TMPDIR"] = folder_.string();
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(
      outcome.err.find("error[io.write]: run: the folder of this run was removed or replaced"),
      std::string::npos)
      << outcome.err;
  std::int64_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run")) {
    EXPECT_EQ(entry.path().filename(), "note");
    ++n_files;
  }
  EXPECT_EQ(n_files, 1);
  EXPECT_NE(outcome.out.find("value 1 "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("Kiln wrote solution.txt to "), std::string::npos) << outcome.err;
}

TEST_F(RunFolder, VanishesIfTheRunNeverBegan) {
  EXPECT_EQ(run(std::vector<std::string>{"solve", "none.txt", "-o", "run"}).exit_code, 3);
  EXPECT_FALSE(exists("run"));
}

}  // namespace
}  // namespace kiln::test::run_folder_test
