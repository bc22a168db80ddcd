// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What stands in a run folder instead of a file: nothing waits for it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "program.hpp"

namespace kiln::not_regular_test {
namespace {

namespace fs = std::filesystem;

class NotRegular : public test::ProgramTest {
 protected:
  NotRegular() {
    const auto done = run({"solve", "sk:20,1", "--sweeps", "80", "--replicas", "32", "--device",
                           "cpu", "-q", "-o", "run"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    fs::remove(folder_ / "run/checkpoint.prev.kiln");
  }
  void make_pipe(const std::string& name) const {
    fs::remove(folder_ / name);
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
  }
};

TEST_F(NotRegular, APipeForACheckpointIsRefused) {
  make_pipe("run/checkpoint.kiln");
  const auto done = run({"resume", "run", "--sweeps", "160", "-q"});
  EXPECT_EQ(done.exit_code, 6);
  EXPECT_NE(done.err.find("run/checkpoint.kiln: the checkpoint cannot be read: it is no regular "
                          "file"),
            std::string::npos)
      << done.err;
}

TEST_F(NotRegular, APipeForRunJsonIsRefused) {
  make_pipe("run/run.json");
  for (const char* verb : {"resume", "report"}) {
    const auto done = run({verb, "run"});
    EXPECT_EQ(done.exit_code, 3) << verb;
    EXPECT_NE(done.err.find("run/run.json: this is no regular file"), std::string::npos)
        << done.err;
  }
  EXPECT_NE(run({"watch", "run"}).exit_code, 128 + 9);
}

// Found before the run begins, which would otherwise take its time and then miss a log.
TEST_F(NotRegular, WhatStandsInPlaceOfALogIsRefusedBeforeTheRun) {
  const std::string result = read("run/result.json");
  for (const std::string name :
       {"trace.csv", "events.ndjson", "incumbents.ndjson", "telemetry.bin", "evaluations.csv"}) {
    const std::string file = "run/" + name, kept = "run/kept";
    const bool was_there = exists(file);
    if (was_there) fs::rename(folder_ / file, folder_ / kept);
    const auto expect_refused = [&](const char* kind) {
      const auto done = run({"resume", "run", "--sweeps", "160"});
      EXPECT_EQ(done.exit_code, 6) << kind << " " << name;
      EXPECT_EQ(done.out, "");
      EXPECT_EQ(done.err, "error[io.write]: " + file +
                              ": this is no regular file, and no log of a run\n"
                              "  fix: move " +
                              file + " away: the run makes a new one\n");
      EXPECT_EQ(read("run/result.json"), result);
      fs::remove(folder_ / file);
    };
    make_pipe(file);
    expect_refused("pipe");
    fs::create_directory(folder_ / file);
    expect_refused("folder");
    fs::create_symlink("/dev/null", folder_ / file);
    expect_refused("link to a device");
    if (was_there) fs::rename(folder_ / kept, folder_ / file);
  }
  EXPECT_EQ(run({"resume", "run", "--sweeps", "160", "-q"}).exit_code, 0);
}

TEST_F(NotRegular, AFolderInPlaceOfAFileIsRefusedBeforeTheRun) {
  fs::remove(folder_ / "run/solution.txt");
  fs::create_directory(folder_ / "run/solution.txt");
  const auto done = run({"resume", "run", "--sweeps", "160"});
  EXPECT_EQ(done.exit_code, 6);
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(
      done.err.starts_with("error[io.write]: run/solution.txt: this is a folder, and the "
                           "run writes a file of this name\n"))
      << done.err;
}

TEST_F(NotRegular, APipeForAReportIsNotReplaced) {
  make_pipe("run/report.html");
  const auto done = run({"report", "run"});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(fs::is_fifo(folder_ / "run/report.html"));
}

}  // namespace
}  // namespace kiln::not_regular_test
