// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program says of sweeps: their kernels, how they draw, and how many threads they occupy.
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "program.hpp"

namespace kiln::test::sweep_words_test {
namespace {

using nlohmann::json;
using DescribeSweeps = ProgramTest;
using SweepWords = ProgramTest;
using Words = std::vector<std::string>;

TEST_F(DescribeSweeps, FitsEveryKernelIntoEightyColumns) {
  const json listed = json::parse(run({"list", "kernels", "--json"}).out);
  ASSERT_GE(listed["kernels"].size(), 30u);
  for (const json& kernel : listed["kernels"]) {
    std::istringstream lines(run({"describe", "kernel", kernel["name"]}).out);
    for (std::string one; std::getline(lines, one);) {
      EXPECT_LT(one.size(), 80u) << kernel["name"] << ": " << one;
    }
  }
  const std::string sweep = run({"describe", "kernel", "metropolis_sweep"}).out;
  EXPECT_NE(sweep.find("\n       signs    the same with fields in bits: "), std::string::npos)
      << sweep;
}

// Each variable of a torus has four couplings of 1 or -1; in sk:40,1 all pairs have one.
TEST_F(DescribeSweeps, SaysWhichRunsOfAModelDrawByPlanes) {
  const auto sweeps_of = [&](const std::string& name) {
    return json::parse(run({"describe", name, "--json"}).out)["sweeps"];
  };
  const json torus = sweeps_of("torus:8x8,1");
  EXPECT_EQ(torus["classes"], 2);
  EXPECT_EQ(torus["largest_sum"], 4);
  EXPECT_EQ(torus["draws"], "planes");
  EXPECT_EQ(torus["obstacle"], nullptr);
  const json complete = sweeps_of("sk:40,1");
  EXPECT_EQ(complete["classes"], nullptr);
  EXPECT_EQ(complete["largest_sum"], 39);
  EXPECT_EQ(complete["draws"], "words");
  EXPECT_EQ(complete["obstacle"],
            "at least an eighth of all pairs are coupled, so the variables are swept one by one");
  EXPECT_EQ(sweeps_of("function:branin"), nullptr);
  const std::string text = run({"describe", "torus:8x8,1"}).out;
  EXPECT_NE(text.find("\nsweeps:\n"
                      "  Variables are swept in 2 colour classes.\n"
                      "  The largest |h| + sum |J| of a variable is 4 in stored units.\n"
                      "  Runs draw by planes: "),
            std::string::npos)
      << text;
}

TEST_F(SweepWords, StandInThePlanOfARun) {
  const auto plan_of = [&](const Words& more) {
    Words all{"solve", "torus:8x8,1", "--device", "cpu", "--sweeps", "5", "--dry-run"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all).out;
  };
  EXPECT_NE(plan_of({}).find("\ndraws        planes\n"), std::string::npos) << plan_of({});
  EXPECT_NE(plan_of({"--replicas", "40"}).find("\ndraws        words\n"), std::string::npos);
  EXPECT_NE(plan_of({"-p", "noise=shared"}).find("\ndraws        shared\n"), std::string::npos);
  EXPECT_EQ(run({"solve", "function:branin", "--device", "cpu", "--sweeps", "5", "--dry-run"})
                .out.find("\ndraws "),
            std::string::npos)
      << "has no such sweeps";
}

TEST_F(SweepWords, NameTheOptionOfSharedNoise) {
  const Outcome outcome = run({"solve", "torus:8x8,1", "--draw-naming", "shared"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[cli.range]: --draw-naming=shared is not one of auto, words and planes\n"
            "  fix: -p noise=shared\n");
}

// The naming is what a file says, not what the user wrote.
TEST_F(SweepWords, SayWhichFileExcludesSharedNoise) {
  const Words own{"solve", "torus:6x6,1", "--device", "cpu", "--sweeps", "5", "-q"};
  Words recorded = own;
  recorded.insert(recorded.end(), {"--draw-naming", "words", "--save", "old.json"});
  ASSERT_EQ(run(recorded).exit_code, 0);
  const Words again{"solve", "--repeat", "old.json", "-p", "noise=shared", "-q"};
  const Outcome outcome = run(again);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[run.draw_naming]: old.json: the recorded run drew by words, and shared noise "
            "excludes this naming\n"
            "  fix: --draw-naming auto, or -p noise=independent\n");
  Words mended = again;
  mended.insert(mended.end(), {"--draw-naming", "auto", "--replicas", "64", "--json"});
  EXPECT_EQ(result_of(run(mended))["draws"], "shared");

  write("run.toml", "draw-naming = \"words\"\n");
  Words configured = own;
  configured.insert(configured.end(), {"--config", "run.toml", "-p", "noise=shared"});
  EXPECT_EQ(first_line(run(configured)),
            "error[run.draw_naming]: run.toml:1:1: draw-naming=words, and shared noise excludes "
            "this naming");
}

// A task has four words of 32 replicas, so 256 replicas are work for two threads.
TEST_F(SweepWords, AdviseOnReplicasForManyThreads) {
  const auto advice_on = [&](const Words& more) {
    Words all{"solve", "torus:50x40,1", "--device", "cpu", "--json", "-q"};
    all.insert(all.end(), more.begin(), more.end());
    return result_of(run(all))["advice"];
  };
  const Words limit{"--time-limit", "50ms", "--threads", "2", "--replicas"};
  const auto limited = [&](const char* replicas) {
    Words all = limit;
    all.emplace_back(replicas);
    return advice_on(all);
  };
  EXPECT_EQ(limited("256"), json::array());
  EXPECT_EQ(limited("129"), json::array()) << "draws by words";
  EXPECT_EQ(advice_on({"--sweeps", "5", "--threads", "2", "--replicas", "32"}), json::array())
      << "more replicas would take longer";
  const json advice = limited("96");
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one thread";
  ASSERT_EQ(advice.size(), 1u) << advice;
  EXPECT_EQ(advice[0], "Use --replicas 288: 96 replicas keep only 1 of the 2 threads busy.");
}

}  // namespace
}  // namespace kiln::test::sweep_words_test
