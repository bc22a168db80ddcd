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
#include "kiln/version.hpp"

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

TEST_F(Store, WritesALostHeaderAtOnce) {
  { TuneStore(planted).add(trial(1)); }
  const std::string whole = text();
  std::ofstream(tune_file(planted), std::ios::trunc) << whole.substr(whole.find('\n') + 1);
  { const TuneStore store(planted); }
  EXPECT_NE(read_tune_records(text()).header_of(key_of(planted)), nullptr);
  std::ofstream(tune_file(planted), std::ios::trunc) << "x" << whole;
  { const TuneStore store(planted); }
  const TuneRecords records = read_tune_records(text());
  EXPECT_EQ(records.bad_lines, 0);
  EXPECT_EQ(records.trials.size(), 1u);
  EXPECT_EQ(records.headers.size(), 1u);
}

TEST_F(Store, ManyBadLinesLoseNoTrial) {
  { TuneStore(planted).add(trial(1)); }
  const std::string whole = text();
  std::ofstream damaged(tune_file(planted), std::ios::trunc);
  for (int i = 0; i < 1500; ++i) damaged << "x\n";
  damaged << whole;
  damaged.close();
  const TuneStore store(planted);
  EXPECT_EQ(store.records().trials.size(), 1u);
  EXPECT_EQ(text(), whole);
}

TEST_F(Store, ALinkStaysALink) {
  { TuneStore(planted).add(trial(1)); }
  const fs::path real = folder_ / "real/trials.ndjson";
  fs::create_directories(real.parent_path());
  std::ofstream(real) << "x\n" << text();
  fs::remove(tune_file(planted));
  fs::create_symlink(real, tune_file(planted));
  const TuneStore store(planted);
  EXPECT_TRUE(fs::is_symlink(tune_file(planted)));
  EXPECT_FALSE(fs::is_symlink(real));
  EXPECT_TRUE(fs::exists(folder_ / "real/trials.prev.ndjson"));
  EXPECT_EQ(store.records().trials.size(), 1u);
}

TEST_F(Store, AFileThatIsTooLargeStaysBesideANewOne) {
  { TuneStore(planted).add(trial(1)); }
  constexpr std::uintmax_t large = (std::uintmax_t{64} << 20) + 1;
  fs::resize_file(tune_file(planted), large);
  EXPECT_THROW(read_tune_text(tune_file(planted)), IoError);
  TuneStore store(planted);
  store.add(trial(2));
  EXPECT_EQ(read_tune_records(text()).trials.size(), 1u);
  EXPECT_EQ(fs::file_size(folder_ / "tune/planted_device_7.prev.ndjson"), large);
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

TuneOutcome wide_outcome() {
  TuneOutcome one;
  one.subject = {"k", "planted_wide", "h", 4};
  one.default_text = "threads=1024 words=16";
  one.chosen = NamedShape{{"threads", 512}, {"words", 128}, {"warps", 16}};
  one.gain = {1234.6, 1235.4, 1236};
  one.tried = one.wrong = 99'999;
  return one;
}

TEST(TuneTable, BreaksRowsThatAreTooLong) {
  TuneRecords records;
  records.headers.push_back({"k", std::string(200, 'd'), "", "", "0.2.0"});
  TuneOutcome one = wide_outcome();
  records.outcomes.push_back(one);
  one.subject = {"k", std::string(200, 't'), "h", 5};
  one.default_text = std::string(300, 'x');
  one.gain = {10.04, 12.34, 99.9};
  one.default_complaint =
      "the default differs from the CPU in 3 of 4 words, and this is a long "
      "sentence about " +
      std::string(100, 'y');
  records.outcomes.push_back(one);
  const std::string table = cli::table_of(cli::reports_of("tune.ndjson", records).at(0));
  std::size_t begin = 0;
  for (std::size_t end = table.find('\n'); end != table.npos; end = table.find('\n', begin)) {
    EXPECT_LE(end - begin, 80u) << table.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_NE(table.find("  100..316    threads=1024 words=16\n"
                       "                              threads=512 words=128 warps=16\n"),
            table.npos)
      << table;
  EXPECT_NE(table.find(" 1235 (1235-1236) 99999   99999\n"), table.npos) << table;
  EXPECT_NE(table.find(" 12.3 (10.0-99.9) "), table.npos) << table;
  EXPECT_NE(table.find("\n    the default differs from the CPU in 3 of 4 words, and"), table.npos);
}

TEST(TuneReports, ShowThisBuildAlone) {
  TunableDescription of;
  of.name = "planted_build";
  of.kernel = "axpby";
  of.gpu = false;
  of.parameters = {{"threads", {64, 128}}};
  const Tunable tunable(of);
  TuneRecords records;
  records.headers.push_back({"k", "CPU", "", "", "0.1.9"});
  TuneOutcome one;
  one.subject = {"k", "planted_build", tunable.hash(), 4};
  one.chosen = NamedShape{{"threads", 64}};
  records.outcomes.push_back(one);
  one.subject.hash = "0123456789abcdef";
  one.chosen = NamedShape{{"threads", 128}};
  records.outcomes.push_back(one);
  auto report = cli::reports_of("tune.ndjson", records, cli::build_of).at(0);
  EXPECT_EQ(report.device.kiln, version());
  ASSERT_EQ(report.outcomes.size(), 1u);
  EXPECT_EQ(report.outcomes[0].subject.hash, tunable.hash());
  EXPECT_NE(cli::table_of(report).find("  not shown: 1 result of other builds of Kiln\n"),
            std::string::npos);
  records.outcomes.front().subject.tunable = "planted_unknown";
  report = cli::reports_of("tune.ndjson", records, cli::build_of).at(0);
  EXPECT_EQ(report.device.kiln, "0.1.9");
  EXPECT_NE(cli::table_of(report).find("\nplanted_unknown (other build)\n"), std::string::npos);
}

TEST(TuneReports, ShowKeysWithoutAHeader) {
  TuneRecords records;
  records.outcomes.push_back(wide_outcome());
  const auto reports = cli::reports_of("tune.ndjson", records);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(cli::table_of(reports[0]).substr(0, 17), "unknown device k\n");
}

}  // namespace
}  // namespace kiln::test::tune_store_test
