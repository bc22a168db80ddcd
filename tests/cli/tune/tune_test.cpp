// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// `kiln tune` on the CPU. Searches in planted spaces are tested in tests/unit/apps/tune.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"
#include "tune/tune_program.hpp"

namespace kiln::test::tune_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Tune : public TuneProgramTest {};

TEST_F(Tune, MeasuresOnceAndNeverAgain) {
  const Outcome first = run(tuning({"--json"}));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json made = json::parse(first.out);
  EXPECT_EQ(made["schema"], "kiln.tune/1");
  EXPECT_TRUE(made["complete"].get<bool>());
  EXPECT_GE(made["trials"].get<int>(), 8);
  const json& tuning_of = made["devices"][0]["tunings"][0];
  EXPECT_EQ(tuning_of["tunable"], "word_swap");
  EXPECT_EQ(tuning_of["shapes"], 8);
  EXPECT_EQ(tuning_of["tried"], 8);
  EXPECT_EQ(tuning_of["wrong"], 0);
  EXPECT_EQ(tuning_of["failed"], 0);
  for (const json& trial : records("trial")) {
    EXPECT_EQ(trial["verdict"], "measured") << trial;
    EXPECT_GE(trial["samples"].get<int>(), 10);
  }
  const std::string before = text();
  const Outcome second = run(tuning());
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(second.out.find("no new trial: all is known from "), std::string::npos) << second.out;
  EXPECT_EQ(text(), before);
  const Outcome retry = run(tuning({"--retry"}));
  EXPECT_EQ(retry.exit_code, 0) << retry.err;
  EXPECT_EQ(records("outcome").size(), 2u);
}

TEST_F(Tune, PrintsATableOfEightyColumns) {
  const Outcome outcome = run(tuning());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const std::string& line : lines_of(outcome.out)) {
    EXPECT_LE(line.size(), line.find("new trials") != line.npos ? 400u : 80u) << line;
  }
  EXPECT_NE(outcome.out.find("\nword_swap\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("tuned word_swap 1000..3162: "), std::string::npos) << outcome.err;
  const Outcome report = run(call({"tune", "--report"}));
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.out, outcome.out.substr(0, report.out.size()));
  const json document = json::parse(run(call({"tune", "--report", "--json"})).out);
  EXPECT_EQ(document["devices"][0]["tunings"][0]["tunable"], "word_swap");
}

// The program is killed while it measures; all that it had kept counts.
TEST_F(Tune, ContinuesAfterAKill) {
  for (int kill = 0; kill < 3; ++kill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    const std::size_t before = fs::exists(folder_ / "cache/tune") ? records("trial").size() : 0;
    if (child == 0) {
      ::setenv("KILN_CACHE_DIR", (folder_ / "cache").c_str(), 1);
      std::vector<std::string> texts{"kiln", "tune", "word_swap", "--device", "cpu"};
      std::vector<char*> words;
      for (std::string& one : texts) words.push_back(one.data());
      words.push_back(nullptr);
      become_program(folder_, words.data(), environ);
    }
    for (int i = 0; i < 2000; ++i) {
      ::usleep(5000 + 1000 * kill);
      if (fs::exists(folder_ / "cache/tune") && !fs::is_empty(folder_ / "cache/tune") &&
          records("trial").size() >= before + 2) {
        break;
      }
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_GE(records("trial").size(), before + 1);
  }
  ASSERT_EQ(run(tuning()).exit_code, 0);
  std::multiset<std::string> shapes;
  for (const json& trial : records("trial")) {
    if (!trial.contains("again")) shapes.insert(trial["shape"].dump());
  }
  EXPECT_EQ(shapes.size(), 8u);
  EXPECT_EQ(std::set<std::string>(shapes.begin(), shapes.end()).size(), 8u) << "tried twice";
  EXPECT_EQ(records("outcome").size(), 1u);
}

TEST_F(Tune, AnInterruptKeepsTrialsAndPrintsTheTable) {
  Call interrupted = call({"tune", "--device", "cpu"});
  interrupted.signal = SIGINT;
  interrupted.signal_at = "tuned ";
  const Outcome outcome = run(interrupted);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_NE(outcome.out.find("interrupted: the same command continues where this one ended"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("gain (95 %)"), std::string::npos) << outcome.out;
  EXPECT_FALSE(records("outcome").empty());
}

TEST_F(Tune, ARetryThatWasEndedSaysThatItBeginsAgain) {
  Call ended = call({"tune", "--device", "cpu", "--retry"});
  ended.signal = SIGTERM;
  ended.signal_at = "tuned ";
  const Outcome outcome = run(ended);
  EXPECT_EQ(outcome.exit_code, 143) << outcome.err;
  EXPECT_EQ(outcome.out.find("continues"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("interrupted: --retry begins again; "), std::string::npos)
      << outcome.out;
}

TEST_F(Tune, ATimeLimitEndsBetweenTrials) {
  const Outcome outcome = run(tuning({"--time-limit", "1ms"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("--time-limit: the same command continues where this one ended"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("nothing was tuned to its end"), std::string::npos) << outcome.out;
  const Outcome retry = run(tuning({"--retry", "--time-limit", "1ms"}));
  EXPECT_EQ(retry.out.find("continues"), std::string::npos) << retry.out;
  EXPECT_NE(retry.out.find("--time-limit: --retry begins again; sizes that it did not reach keep "
                           "what they had\n"),
            std::string::npos)
      << retry.out;
}

TEST_F(Tune, RunsUseTheShapesAndDoctorSaysSo) {
  ASSERT_EQ(run(tuning()).exit_code, 0);
  choose({{"per_task", 256}});
  const Outcome doctor = run(call({"doctor"}));
  EXPECT_NE(doctor.out.find("ok    tuning    cpu: word_swap per_task=256 for 1000..3162"),
            std::string::npos)
      << doctor.out;
  Call off = call({"doctor"});
  off.environment["KILN_TUNE"] = "off";
  EXPECT_EQ(run(off).out.find("tuning"), std::string::npos);
  const Outcome bench = run(call({"bench", "kernels", "--only", "word_swap", "--quick", "--device",
                                  "cpu", "--time-limit", "1s", "--json"}));
  EXPECT_EQ(json::parse(bench.out)["tuned"], "word_swap per_task=256 for 1000..3162");
  // A run has the same answer with and without.
  Call solve = call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "64", "--seed", "3",
                     "--schedule", "parallel-tempering", "--json", "-q"});
  const Outcome with = run(solve);
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(with.err.find("warning"), std::string::npos) << with.err;
  solve.environment["KILN_TUNE"] = "off";
  EXPECT_EQ(json::parse(run(solve).out)["solution"], json::parse(with.out)["solution"]);
}

TEST_F(Tune, ShapesThatCannotBeLaunchedAreRefusedWithOneWarning) {
  ASSERT_EQ(run(tuning()).exit_code, 0);
  const std::string good = text();
  for (const int value : {0, 4096, -64}) {
    rewrite(good);
    choose({{"per_task", value}});
    const Outcome solve =
        run(call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"}));
    EXPECT_EQ(solve.exit_code, 0) << solve.err;
    const std::string expected = "word_swap: per_task=" + std::to_string(value) +
                                 " is none of 8, 16, 32, 64, 128, 256, 512, 1024, 2048";
    EXPECT_NE(solve.err.find(expected), std::string::npos) << solve.err;
    EXPECT_NE(solve.err.find("; fix: kiln tune --device cpu"), std::string::npos) << solve.err;
    EXPECT_EQ(solve.err.find("warning[tune.cache]"), solve.err.rfind("warning[tune.cache]"));
    EXPECT_EQ(count_lines(solve.err), 1) << solve.err;
    // Tuning mends it from the trials that are there.
    ASSERT_EQ(run(tuning()).exit_code, 0);
    EXPECT_EQ(run(call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"})).err,
              "");
  }
}

TEST_F(Tune, FilesOfOthersAreLeftOutAndTunedAnew) {
  ASSERT_EQ(run(tuning()).exit_code, 0);
  const std::string key = records("device").front()["key"], good = text();
  std::string foreign = good;
  for (std::size_t at = foreign.find(key); at != foreign.npos; at = foreign.find(key, at + 1)) {
    foreign.replace(at, key.size(), "0123456789abcdef");
  }
  const std::string driver = R"("driver":"")";
  foreign.replace(foreign.find(driver), driver.size(), R"("driver":"570.9")");
  rewrite(foreign);
  const Call short_solve =
      call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"});
  const Outcome solve = run(short_solve);
  EXPECT_EQ(solve.exit_code, 0);
  EXPECT_NE(solve.err.find(": it was made with driver 570.9, and here is driver none; fix: "),
            std::string::npos)
      << solve.err;
  ASSERT_EQ(run(tuning()).exit_code, 0);
  EXPECT_EQ(run(short_solve).err, "");
  EXPECT_EQ(records("device").size(), 2u) << "nothing was lost";
  EXPECT_EQ(run(call({"tune", "--report"})).exit_code, 0);

  rewrite("\x01\x02 no file of ours\n" + good);
  const Outcome damaged = run(short_solve);
  EXPECT_EQ(damaged.exit_code, 0);
  EXPECT_NE(damaged.err.find(": line 1 is no record; fix: kiln tune --device cpu"),
            std::string::npos)
      << damaged.err;
  ASSERT_EQ(run(tuning()).exit_code, 0);
  EXPECT_EQ(run(short_solve).err, "");
  const std::string name = file().filename().string();
  const fs::path previous =
      folder_ / "cache/tune" / (name.substr(0, name.find('.')) + ".prev.ndjson");
  EXPECT_TRUE(fs::exists(previous)) << "nothing was lost";
  EXPECT_EQ(text(), good);
}

TEST_F(Tune, TwoAtOnceAreRefused) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("KILN_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    std::vector<std::string> texts{"kiln", "tune", "--device", "cpu"};
    std::vector<char*> words;
    for (std::string& one : texts) words.push_back(one.data());
    words.push_back(nullptr);
    become_program(folder_, words.data(), environ);
  }
  for (int i = 0; i < 2000; ++i) {
    ::usleep(5000);
    if (fs::exists(folder_ / "cache/tune") && !fs::is_empty(folder_ / "cache/tune") &&
        !text().empty()) {
      break;
    }
  }
  const Outcome second = run(tuning());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(second.exit_code, 6) << second.out;
  EXPECT_NE(second.err.find("error[tune.busy]: "), std::string::npos) << second.err;
  EXPECT_NE(second.err.find("belongs to another kiln tune, which measures this device"),
            std::string::npos)
      << second.err;
}

TEST_F(Tune, RefusesWhatMakesNoSense) {
  const Outcome unknown = run(call({"tune", "word_swop", "--device", "cpu"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("error[tune.kernel]: 'word_swop' has no launch shape to tune on cpu; "
                             "the nearest is 'word_swap'"),
            std::string::npos)
      << unknown.err;
  EXPECT_NE(unknown.err.find("fix: kiln tune word_swap --device cpu"), std::string::npos)
      << unknown.err;
  const Outcome report = run(call({"tune", "--report", "--retry"}));
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_NE(report.err.find("--report measures nothing, so it takes no --retry"), std::string::npos)
      << report.err;
  const Outcome kernels = run(call({"tune", "--report", "word_swap"}));
  EXPECT_EQ(kernels.exit_code, 2);
  EXPECT_NE(kernels.err.find("--report shows all kernels, so it takes no KERNEL"),
            std::string::npos);
  Call cuda = call({"tune", "--device", "cuda"});
  cuda.environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_EQ(run(cuda).exit_code, 4);
  const Outcome none = run(call({"tune", "--report"}));
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.out.find("no device was tuned: there is no file in "), std::string::npos)
      << none.out;
}

TEST_F(Tune, AFolderThatCannotBeWrittenIsRefused) {
  write("cache", "a file is in the way\n");
  const Outcome outcome = run(tuning());
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_NE(outcome.err.find("error[io.write]: trials cannot be kept in "), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("KILN_CACHE_DIR=FOLDER kiln tune"), std::string::npos) << outcome.err;
  const Outcome solve =
      run(call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"}));
  EXPECT_EQ(solve.exit_code, 0);
  EXPECT_EQ(solve.err, "");
}

TEST_F(Tune, AFullDiskLosesNoTrialThatWasKept) {
  Call limited = tuning();
  limited.file_limit = 1000;
  const Outcome outcome = run(limited);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_NE(outcome.err.find("error[io.write]: trials cannot be kept in "), std::string::npos)
      << outcome.err;
  const std::string kept = text();
  EXPECT_TRUE(kept.empty() || kept.ends_with('\n'));
  EXPECT_EQ(run(tuning()).exit_code, 0);
  EXPECT_EQ(text().substr(0, kept.size()), kept);
}

// Every shape of kernels of the GPU gives the bits of the default, and what was chosen is used.
TEST_F(Tune, NoShapeOfTheGpuIsWrong) {
  for (const char* kernel :
       {"coloring_sweep", "local_entropy", "categorical_energy", "ladder_tick"}) {
    const Outcome outcome =
        run(call({"tune", kernel, "--device", "cuda", "--time-limit", "15s", "--json"}));
    if (outcome.exit_code == 4 && std::getenv("KILN_REQUIRE_GPU") == nullptr) {
      GTEST_SKIP() << "there is no GPU";
    }
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const json device = json::parse(outcome.out)["devices"][0];
    EXPECT_NE(device["driver"], "");
    EXPECT_NE(device["toolkit"], "");
  }
  ASSERT_FALSE(records("trial").empty());
  for (const json& trial : records("trial")) {
    EXPECT_TRUE(trial["verdict"] == "measured" || trial["verdict"] == "declined") << trial;
  }
  EXPECT_EQ(run(call({"doctor"})).err, "");
}

TEST_F(Tune, AnUnknownWishIsAWarning) {
  Call solve = call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"});
  solve.environment["KILN_TUNE"] = "no";
  const Outcome outcome = run(solve);
  EXPECT_NE(outcome.err.find("warning[tune.switch]: "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("KILN_TUNE is 'no', and only on and off are allowed; "
                             "fix: KILN_TUNE=off"),
            std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace kiln::test::tune_test
