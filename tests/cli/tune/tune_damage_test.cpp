// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// `kiln tune` and runs on files of trials that were damaged, edited or moved.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"
#include "tune/tune_program.hpp"

namespace kiln::test::tune_damage_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TuneDamage : public TuneProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(run(tuning()).exit_code, 0);
    good_ = text();
  }
  Outcome report() const { return run(call({"tune", "--report"})); }
  Outcome solve() const {
    return run(call({"solve", "torus:20x20,1", "--device", "cpu", "--sweeps", "8", "-q"}));
  }
  std::string good_;
};

TEST_F(TuneDamage, ALostHeaderIsWrittenAgain) {
  const std::string lost = good_.substr(good_.find('\n') + 1);
  for (const std::string& damaged : {lost, "x" + good_}) {
    rewrite(damaged);
    const Outcome before = report();
    EXPECT_NE(before.out.find("unknown device "), std::string::npos) << before.out;
    EXPECT_NE(before.out.find("\nword_swap"), std::string::npos) << before.out;
    const Outcome tuned = run(tuning());
    EXPECT_NE(tuned.out.find("no new trial: all is known"), std::string::npos) << tuned.out;
    EXPECT_EQ(tuned.out.find("nothing was tuned"), std::string::npos) << tuned.out;
    EXPECT_NE(tuned.out.find("\nword_swap\n"), std::string::npos) << tuned.out;
    EXPECT_EQ(records("device").size(), 1u);
    EXPECT_EQ(report().out.find("unknown device"), std::string::npos);
  }
}

TEST_F(TuneDamage, OtherBuildsAreNotShown) {
  json other = records("outcome").front();
  other["hash"] = "0123456789abcdef";
  other["chosen"] = {{"per_task", 2048}};
  rewrite(good_ + other.dump() + "\n");
  EXPECT_EQ(report().out.find("per_task=2048"), std::string::npos) << report().out;
  EXPECT_NE(report().out.find("  not shown: 1 result of other builds of Kiln\n"), std::string::npos)
      << report().out;
  const Outcome tuned = run(tuning());
  EXPECT_NE(tuned.out.find("no new trial"), std::string::npos) << tuned.out;
  EXPECT_EQ(tuned.out.find("per_task=2048"), std::string::npos) << tuned.out;
  other["tunable"] = "planted";
  rewrite(good_ + other.dump() + "\n");
  EXPECT_NE(report().out.find("\nplanted (other build)\n"), std::string::npos) << report().out;
  const json shown = json::parse(run(call({"tune", "--report", "--json"})).out);
  EXPECT_EQ(shown["devices"][0]["tunings"][0]["build"], "other");
  EXPECT_EQ(shown["devices"][0]["tunings"][1]["build"], "this");
}

TEST_F(TuneDamage, ADefaultThatWasWrongIsMeasuredAgain) {
  json wrong = records("outcome").front();
  wrong["chosen"] = nullptr;
  wrong["complaint"] = "the default differs from the CPU in 3 of 4 words";
  rewrite(good_ + wrong.dump() + "\n");
  const Outcome before = report();
  EXPECT_NE(before.out.find("default is wrong"), std::string::npos) << before.out;
  EXPECT_NE(before.out.find("\n    the default differs from the CPU in 3 of 4 words\n"),
            std::string::npos)
      << before.out;
  const Outcome tuned = run(tuning());
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out;
  EXPECT_EQ(tuned.out.find("default is wrong"), std::string::npos) << tuned.out;
  EXPECT_EQ(records("outcome").size(), 3u);
}

TEST_F(TuneDamage, LinesOutOfRangeAreLeftOut) {
  json edited = records("outcome").front();
  edited["tried"] = 1e300;
  rewrite(good_ + edited.dump() + "\n");
  EXPECT_NE(solve().err.find(" is no record; fix: kiln tune --device cpu"), std::string::npos);
  const Outcome shown = report();
  EXPECT_NE(shown.err.find(" is no record\n"), std::string::npos) << shown.err;
  for (const std::string& line : lines_of(shown.out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(TuneDamage, AnEntryThatCannotBeReadHidesNoOther) {
  fs::create_directory(file().parent_path() / "a_gpu.ndjson");
  const Outcome shown = report();
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("\nword_swap\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("warning[io.read]: "), std::string::npos) << shown.err;
  EXPECT_NE(shown.err.find("; fix: remove the directory, or give it another name\n"),
            std::string::npos)
      << shown.err;
}

TEST_F(TuneDamage, TheFixOfAWarningHelps) {
  const fs::path there = file();
  fs::remove(there);
  fs::create_directory(there);
  const Outcome directory = solve();
  EXPECT_EQ(directory.exit_code, 0);
  EXPECT_NE(directory.err.find("; fix: remove the directory, or give it another name\n"),
            std::string::npos)
      << directory.err;
  EXPECT_EQ(directory.err.find("kiln tune"), std::string::npos) << directory.err;
  const Outcome doctor = run(call({"doctor"}));
  EXPECT_EQ(doctor.out.find("kiln tune"), std::string::npos) << doctor.out;
  const Outcome none = report();
  EXPECT_NE(none.out.find("no device was tuned: there is no result in "), std::string::npos)
      << none.out;
  fs::remove(there);
  rewrite_to(there, good_);
  fs::resize_file(there, (std::uintmax_t{64} << 20) + 1);
  EXPECT_NE(solve().err.find("it has more than 64 MiB; fix: kiln tune --device cpu\n"),
            std::string::npos)
      << solve().err;
  EXPECT_EQ(run(tuning()).exit_code, 0);
  EXPECT_EQ(solve().err, "");
}

TEST_F(TuneDamage, OneIsNoPlural) {
  std::string missing = good_;
  const std::size_t outcome = missing.find("{\"tune\":\"outcome\"");
  ASSERT_NE(outcome, missing.npos);
  missing.erase(outcome);
  // The first trial and the outcome are made again.
  const std::size_t trial = missing.find("{\"tune\":\"trial\"");
  missing.erase(trial, missing.find('\n', trial) + 1 - trial);
  rewrite("x\n" + missing);
  EXPECT_NE(report().err.find(": line 1 is no record\n"), std::string::npos) << report().err;
  const Outcome tuned = run(tuning());
  EXPECT_EQ(tuned.out.find("1 new trials"), std::string::npos) << tuned.out;
}

TEST_F(TuneDamage, EmptyLinesAreNoDamage) {
  rewrite(std::string(std::size_t{8} << 20, '\n') + good_);
  EXPECT_EQ(solve().err, "");
}

}  // namespace
}  // namespace kiln::test::tune_damage_test
