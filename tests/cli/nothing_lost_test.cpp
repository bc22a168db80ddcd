// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run found is on disk or on the terminal, whatever happens to it.
#include <signal.h>
#include <sys/stat.h>  // mkfifo

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.hpp"

namespace kiln::test::nothing_lost_test {
namespace {

using nlohmann::json;
using NothingLost = ProgramTest;

const std::vector<std::string> a_second{
    "solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1s", "-o", "run"};

// A search that calls a program about ten times a second.
std::vector<std::string> calls(std::vector<std::string> more) {
  std::vector<std::string> words{"solve",      "command:sh -c 'sleep 0.1; echo {x}'",
                                 "--var",      "x=real:0:1",
                                 "--schedule", "bayesian-optimization",
                                 "--device",   "cpu",
                                 "-o",         "run"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(NothingLost, WhenTheReaderOfAPipeLeaves) {
  Call call{a_second};
  call.readers_leave_at = "*";

  EXPECT_EQ(run(call).exit_code, 141);

  EXPECT_EQ(count_lines(read("run/solution.txt")), 400);
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "time_limit");
  EXPECT_GE(count_lines(read("run/trace.csv")), 5);
  EXPECT_NE(read("run/events.ndjson").find("\"stop\""), std::string::npos);
}

// As `kiln ... 2>&1 | tee log` meets Ctrl-C, which goes to both.
TEST_F(NothingLost, WhenASignalEndsTheReaderToo) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    SCOPED_TRACE(signal);
    std::filesystem::remove_all(folder_ / "run");
    Call call{{"solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1h", "-o", "run"}};
    call.signal = signal;
    call.signal_at = call.readers_leave_at = "*";

    EXPECT_EQ(run(call).exit_code, 141);

    EXPECT_EQ(count_lines(read("run/solution.txt")), 400);
    EXPECT_EQ(json::parse(read("run/result.json"))["stop"],
              signal == SIGINT ? "interrupted" : "terminated");
  }
}

// The end of a program takes a while: what it called and what it knows is taken down. A dozen of
// them, since a signal may come after that, too.
TEST_F(NothingLost, NorIsTheExitCodeByASignalAfterTheResult) {
  for (int trial = 0; trial < 12; ++trial) {
    std::filesystem::remove_all(folder_ / "run");
    Call call{
        solve("command:echo {x}", {"--var", "x=real:0:1", "-p", "evaluations=5", "-o", "run"})};
    call.signal = trial % 2 == 0 ? SIGTERM : SIGINT;
    call.signal_at = "files  ";  // the last that is printed

    const Outcome outcome = run(call);

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "converged");
  }
}

// A pipe that nobody writes to is a file that takes long to read.
TEST_F(NothingLost, NorIsAnythingLeftBySignalsDuringSetUp) {
  ASSERT_EQ(::mkfifo((folder_ / "slow.txt").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "kept");
  const std::map<int, std::string> folders{
      {SIGINT, "made/here/run"}, {SIGTERM, "made"}, {SIGHUP, "kept/run"}, {SIGXCPU, "kept"}};
  for (const auto& [signal, folder] : folders) {
    SCOPED_TRACE(signal);
    Call call{{"solve", "slow.txt", "--device", "cpu", "-o", folder}};
    call.signal = signal;
    call.signal_at = "setting up";

    const Outcome outcome = run(call);

    EXPECT_EQ(outcome.exit_code, signal == SIGINT ? 130 : 143);
    EXPECT_EQ(outcome.out, "");
    const std::string last =
        "error[run.interrupted]: interrupted while reading slow.txt; Kiln has found nothing yet\n";
    EXPECT_TRUE(
        outcome.err.ends_with("time beyond one second counts towards the time limit\n" + last))
        << outcome.err;
    EXPECT_FALSE(exists("made"));
    EXPECT_TRUE(exists("kept"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "kept"));
  }
}

TEST_F(NothingLost, NorIsAFolderLeftByOneThatIsRefused) {
  const Outcome outcome = run({"solve", "torus:4x4,1", "--device", "cpu", "--sweeps", "5", "-o",
                               "made/here/" + std::string(300, 'x')});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_FALSE(exists("made"));
}

// Whoever is told a poor value is told that the search had no time for a better one.
TEST_F(NothingLost, AndALimitThatSetUpHasUsedUpIsTold) {
  const std::filesystem::path slow = folder_ / "slow.txt";
  ASSERT_EQ(::mkfifo(slow.c_str(), 0600), 0);
  const auto late = [&](const std::vector<std::string>& limit) {
    std::jthread writer([&] {
      std::ofstream pipe(slow);  // waits for the reader
      std::this_thread::sleep_for(std::chrono::milliseconds(1700));
      pipe << "3 2\n1 2 1\n2 3 1\n";
    });
    std::vector<std::string> words{"solve", "slow.txt", "--device", "cpu", "--json"};
    words.insert(words.end(), limit.begin(), limit.end());
    return run(words);
  };

  const Outcome used_up = late({"--time-limit", "0.5"});
  const Outcome enough = late({"--time-limit", "1h", "--sweeps", "20"});

  ASSERT_EQ(used_up.exit_code, 0) << used_up.err;
  const json advice = json::parse(used_up.out)["advice"];
  ASSERT_EQ(advice.size(), 1u) << used_up.out;
  EXPECT_EQ(advice[0].get<std::string>().rfind("Set-up took ", 0), 0u) << advice;
  EXPECT_NE(advice[0].get<std::string>().find(" s, and the time limit is 0.5 s: "),
            std::string::npos)
      << advice;
  EXPECT_NE(used_up.err.find("advice       Set-up took "), std::string::npos) << used_up.err;
  ASSERT_EQ(enough.exit_code, 0) << enough.err;
  EXPECT_EQ(json::parse(enough.out)["advice"], json::array()) << enough.out;
}

TEST_F(NothingLost, ButARunThatNobodyHearsEnds) {
  Call call{{"solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1h"}};
  call.readers_leave_at = "*";

  EXPECT_EQ(run(call).exit_code, 141);
}

// The limit stands for a full disk and for quotas, too: no file of more than 4 KiB can be written.
TEST_F(NothingLost, WhenFilesMayNotGrow) {
  Call call{{"solve", "torus:64x64,1", "--device", "cpu", "--sweeps", "50", "-o", "run", "-q"}};
  call.file_limit = 4096;

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(outcome.err.find("error[io.write]"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out.find("content of solution.txt, which cannot be written to any folder:\n"),
            0u);
  EXPECT_GE(count_lines(outcome.out), 4096);
}

// The log of evaluations ends with a whole line: of a part, a number would be another one.
TEST_F(NothingLost, NorShortenedWhenFilesMayNotGrow) {
  Call call{{"solve", "command:echo {x}", "--var", "x=real:0:1", "--device", "cpu", "--schedule",
             "bayesian-optimization", "-p", "initial=100", "-p", "evaluations=100", "-p",
             "batch=100", "-o", "run", "-q"}};
  call.file_limit = 4096;

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  const std::string log = read("run/evaluations.csv");
  EXPECT_GT(log.size(), 3900u) << "the limit was met";
  EXPECT_TRUE(log.ends_with('\n')) << log.substr(log.rfind('\n') + 1);
}

TEST_F(NothingLost, WhenTheRunFolderIsRemoved) {
  std::filesystem::create_directory(folder_ / "tmp");
  Call call{{"solve", "command:sh -c 'rm -rf run; echo {x}'", "--var", "x=real:0:1", "--schedule",
             "bayesian-optimization", "-p", "evaluations=6", "--device", "cpu", "-o", "run"}};
  call.environment["TMPDIR"] = (folder_ / "tmp").string();

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(outcome.err.find("Kiln wrote solution.txt to "), std::string::npos) << outcome.err;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "tmp")) {
    names.push_back(entry.path().filename().string());
  }
  for (const char* name : {"solution.txt", "result.json", "evaluations.csv"}) {
    EXPECT_TRUE(std::ranges::count(names, name) == 1) << name;
  }
}

// With --json standard output is one document, which has no evaluations.
TEST_F(NothingLost, WhenThereIsNoPlaceForFilesAtAll) {
  Call call{{"solve", "command:sh -c 'rm -rf run; echo {x}'", "--var", "x=real:0:1", "-p",
             "evaluations=4", "--device", "cpu", "-o", "run", "--json"}};
  call.environment["TMPDIR"] = "/no/such/folder";
  const Outcome document = run(call);
  EXPECT_EQ(document.exit_code, 6) << document.err;
  EXPECT_EQ(json::parse(document.out)["verified"], true);
  EXPECT_NE(document.err.find("evaluations.csv, which cannot be written to any folder:\n"),
            std::string::npos)
      << document.err;
  call.words.pop_back();
  const Outcome text = run(call);
  EXPECT_NE(text.out.find("evaluations.csv, which cannot be written to any folder:\n"),
            std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("\nfiles "), std::string::npos) << "there are none";
}

// The first states of an anneal are calls of the program, too.
TEST_F(NothingLost, WhenTheFolderIsRemovedDuringTheFirstCalls) {
  for (const std::string gone : {"run", "saved"}) {
    std::filesystem::create_directory(folder_ / "tmp");
    std::filesystem::create_directory(folder_ / "saved");
    Call call{{"solve", "command:sh -c 'rm -rf " + gone + "; echo {x}'", "--var", "x=real:0:1",
               "--schedule", "simulated-annealing", "--replicas", "4", "--sweeps", "2", "--device",
               "cpu", "-o", "run", "--save", "saved/run.json"}};
    call.environment["TMPDIR"] = (folder_ / "tmp").string();

    const Outcome outcome = run(call);

    EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
    EXPECT_NE(outcome.out.find("done   sweep limit"), std::string::npos) << outcome.out;
    bool found = std::filesystem::exists(folder_ / "run/solution.txt");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "tmp")) {
      found |= entry.path().filename() == "solution.txt";
    }
    EXPECT_TRUE(found) << gone << "\n" << outcome.err;
    std::filesystem::remove_all(folder_ / "tmp");
    std::filesystem::remove_all(folder_ / "run");
  }
}

// A place that cannot be written to is told before anything that takes time.
TEST_F(NothingLost, IsNotLeftToAFileThatCannotBeMade) {
  const Outcome outcome =
      run({"solve", "command:sh -c 'echo 1 >called; echo {x}'", "--var", "x=real:0:1", "--save",
           "none/run.json", "--device", "cpu", "-p", "evaluations=1"});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "called"));
}

// Nothing feasible is no failure of a run that was not let go on.
TEST_F(NothingLost, WhereNothingIsFeasibleASignalStillHasItsCode) {
  for (int trial = 0; trial < 5; ++trial) {
    Call call{{"solve", "cdtlz:c1-dtlz1", "--device", "cpu", "-p", "population=8", "--time-limit",
               "20s"}};
    call.signal = SIGTERM;
    call.signal_at = "stop  ";  // of the banner: most of the runs have nothing feasible yet
    EXPECT_EQ(run(call).exit_code, 143);
  }
  write("call.sh",
        "if mkdir first 2>/dev/null; then echo 1 1; exit; fi\nkill -TERM $PPID\nsleep 25\n");
  const Outcome outcome = run({"solve", "command:sh call.sh {x}", "--var", "x=real:0:1",
                               "--constraints", "1", "--device", "cpu", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_NE(
      outcome.err.find("error[run.interrupted]: interrupted before the run found a feasible state"),
      std::string::npos)
      << outcome.err;
}

TEST_F(NothingLost, WhenTheProgramIsKilled) {
  Call call{calls({"-p", "evaluations=1000"})};
  call.signal = SIGKILL;
  call.signal_at = "*";

  EXPECT_EQ(run(call).exit_code, 128 + SIGKILL);

  const std::string evaluations = read("run/evaluations.csv");
  EXPECT_EQ(evaluations.rfind("study,batch,x,value,best\n", 0), 0u);
  EXPECT_GE(count_lines(evaluations), 2);
  EXPECT_EQ(evaluations.back(), '\n');
  EXPECT_GE(count_lines(read("run/trace.csv")), 2);
  EXPECT_FALSE(read("run/events.ndjson").empty());

  std::filesystem::rename(folder_ / "run", folder_ / "killed");
  const Outcome again =
      run(calls({"-p", "evaluations=3", "--past", "killed/evaluations.csv", "-q"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_GE(count_lines(read("run/evaluations.csv")), count_lines(evaluations));
}

TEST_F(NothingLost, WhenALongRunIsKilled) {
  Call call{{"solve", "torus:20x20,1", "--device", "cpu", "--time-limit", "1h", "-o", "run",
             "--checkpoint-every", "50ms"}};
  call.signal = SIGKILL;
  call.signal_at = " 5.";  // the row of the first five seconds

  EXPECT_EQ(run(call).exit_code, 128 + SIGKILL);

  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(result["stop"], "unfinished");
  EXPECT_TRUE(result["objective"]["best"].is_number());
  EXPECT_EQ(count_lines(read("run/solution.txt")), 400);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run")) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST_F(NothingLost, WhenTwoRunsWantOneFolder) {
  std::future<Outcome> first = std::async(std::launch::async, [&] { return run(Call{a_second}); });
  for (int i = 0; i < 1000 && !exists("run/run.json"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  const Outcome second = run(Call{a_second});

  EXPECT_EQ(second.exit_code, 6);
  EXPECT_EQ(second.err, "error[io.exists]: run belongs to a run in progress\n  fix: -o run-2\n");
  EXPECT_EQ(first.get().exit_code, 0);
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "time_limit");
}

TEST_F(NothingLost, AndInputsAreNotOverwritten) {
  write("graph.rud", "3 2\n1 2 1\n2 3 1\n");
  const std::vector<std::string> words{"solve",    "graph.rud", "--device", "cpu",
                                       "--sweeps", "10",        "-q",       "--save"};
  const auto save_to = [&](const std::string& name) {
    std::vector<std::string> all = words;
    all.push_back(name);
    return run(all);
  };

  const Outcome input = save_to("graph.rud");
  EXPECT_EQ(input.exit_code, 6);
  EXPECT_EQ(input.err,
            "error[io.exists]: graph.rud is not a run.json, and Kiln does not overwrite it\n"
            "  fix: --save another-name.json\n");
  EXPECT_EQ(read("graph.rud"), "3 2\n1 2 1\n2 3 1\n");
  EXPECT_EQ(save_to("/dev/null").exit_code, 6);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(save_to("").exit_code, 2);
  EXPECT_EQ(save_to("again.json").exit_code, 0);
  EXPECT_EQ(save_to("again.json").exit_code, 0);
}

}  // namespace
}  // namespace kiln::test::nothing_lost_test
