// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of trials: one writer, whole lines, and what a kill leaves behind.
#include "tune/tune_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "kiln/errors.hpp"

#include "tune/tune_report.hpp"

namespace kiln::test::tune_store_test {
namespace {

namespace fs = std::filesystem;
using cli::TuneStore;

const TuneDevice planted{"Planted Device 7", "580.1", "13.0", {}};

class Store : public testing::Test {
 protected:
  Store() : folder_(fs::temp_directory_path() / ("kiln-store-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    ::setenv("KILN_CACHE_DIR", folder_.c_str(), 1);
  }
  ~Store() override {
    ::unsetenv("KILN_CACHE_DIR");
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  static TuneTrial trial(std::int32_t words) {
    TuneTrial one;
    one.subject = {key_of(planted), "planted", "0123456789abcdef", 3};
    one.shape = {{"words", words}};
    one.verdict = TrialVerdict::failed;
    one.complaint = "planted";
    return one;
  }
  std::string text() const {
    std::ifstream in(tune_file(planted), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_;
};

TEST_F(Store, HasAFileForEachDevice) {
  EXPECT_EQ(tune_file(planted), folder_ / "tune/planted_device_7.ndjson");
  EXPECT_EQ(tune_file({"../..", "", "", {}}), folder_ / "tune/device.ndjson");
}

TEST_F(Store, KeepsTrialsAcrossProcesses) {
  {
    TuneStore store(planted);
    EXPECT_TRUE(store.records().trials.empty());
    store.add(trial(1));
    store.add(trial(2));
  }
  TuneStore store(planted);
  ASSERT_EQ(store.records().trials.size(), 2u);
  EXPECT_EQ(store.records().trials[1].shape, trial(2).shape);
  ASSERT_EQ(store.records().headers.size(), 1u);
  store.add(trial(3));
  EXPECT_EQ(read_tune_records(text()).headers.size(), 1u);
}

TEST_F(Store, TakesAHalfLineAway) {
  { TuneStore(planted).add(trial(1)); }
  const std::string whole = text();
  std::ofstream(tune_file(planted), std::ios::app) << "{\"tune\":\"tri";
  {
    TuneStore store(planted);
    EXPECT_EQ(store.records().trials.size(), 1u);
    EXPECT_EQ(text(), whole);
    store.add(trial(2));
  }
  const TuneRecords records = read_tune_records(text());
  EXPECT_EQ(records.bad_lines, 0);
  EXPECT_EQ(records.trials.size(), 2u);
}

TEST_F(Store, AnotherDriverIsAddedToTheSameFile) {
  { TuneStore(planted).add(trial(1)); }
  TuneDevice newer = planted;
  newer.driver = "590.2";
  {
    TuneStore store(newer);
    TuneTrial one = trial(1);
    one.subject.key = key_of(newer);
    store.add(one);
  }
  const auto reports = cli::reports_of(tune_file(planted), read_tune_records(text()));
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[1].device.driver, "590.2");
}

TEST_F(Store, HasOneWriter) {
  const TuneStore store(planted);
  try {
    const TuneStore second(planted);
    FAIL() << "two writers";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), "tune.busy");
    EXPECT_NE(error.message().find("belongs to another kiln tune"), std::string::npos);
  }
}

TEST_F(Store, AFolderThatCannotBeWrittenIsRefused) {
  if (::geteuid() == 0) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "tune") << "a file is in the way";
  } else {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  }
  try {
    const TuneStore store(planted);
    FAIL() << "it was written";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), "io.write");
    EXPECT_NE(error.message().find("trials cannot be kept in"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("KILN_CACHE_DIR=FOLDER kiln tune"), std::string::npos);
  }
}

// A child writes trials as fast as it can and is killed: whole lines are left, and every one.
TEST_F(Store, AKillLeavesWholeLines) {
  for (int round = 0; round < 8; ++round) {
    const std::size_t before = read_tune_records(text()).trials.size();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      TuneStore store(planted);
      for (std::int32_t i = 0;; ++i) store.add(trial(i));
    }
    while (read_tune_records(text()).trials.size() < before + 20) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const TuneStore store(planted);
    EXPECT_EQ(store.records().bad_lines, 0);
    EXPECT_GE(store.records().trials.size(), before + 20);
    EXPECT_EQ(store.records().headers.size(), 1u);
    const auto& trials = store.records().trials;
    for (std::size_t i = before; i < trials.size(); ++i) {
      ASSERT_EQ(trials[i].shape, trial(static_cast<std::int32_t>(i - before)).shape);
    }
  }
}

TEST(TuneTable, HasAtMostEightyColumns) {
  TuneRecords records;
  records.headers.push_back({"k", "NVIDIA H200", "580.65.06", "13.0", "0.2.0"});
  TuneOutcome one;
  one.subject = {"k", "metropolis_sweep_planes", "h", 11};
  one.default_text = "rule";
  one.chosen = NamedShape{{"words", 16}, {"warps", 16}};
  one.gain = {1.105, 1.124, 1.136};
  one.tried = 199;
  one.wrong = 1;
  records.outcomes.push_back(one);
  one.subject.bucket = 4;
  one.chosen.reset();
  one.gain = {};
  records.outcomes.push_back(one);
  const auto reports = cli::reports_of("tune.ndjson", records);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(cli::table_of(reports[0]),
            "NVIDIA H200, driver 580.65.06, CUDA 13.0, Kiln 0.2.0\n"
            "  size        default         chosen                  gain (95 %) tried refused\n"
            "metropolis_sweep_planes\n"
            "  100..316    rule            no gain                           -   199       1\n"
            "  316k..999k  rule            words=16 warps=16  1.12 (1.10-1.14)   199       1\n");
  EXPECT_EQ(cli::short_bucket(0), "1..3");
  EXPECT_EQ(cli::short_bucket(6), "1000..3162");
  EXPECT_EQ(cli::short_bucket(12), "1M..3M");
}

}  // namespace
}  // namespace kiln::test::tune_store_test
