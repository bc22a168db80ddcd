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

TEST_F(NotRegular, APipeForALogCostsTheLogAlone) {
  make_pipe("run/trace.csv");
  const auto done = run({"resume", "run", "--sweeps", "160", "-q"});
  EXPECT_EQ(done.exit_code, 6);
  EXPECT_NE(done.err.find("run/trace.csv: cannot be created"), std::string::npos) << done.err;
  EXPECT_NE(done.out.find("energy"), std::string::npos) << "the answer is on the terminal";
}

TEST_F(NotRegular, APipeForAReportIsNotReplaced) {
  make_pipe("run/report.html");
  const auto done = run({"report", "run"});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(fs::is_fifo(folder_ / "run/report.html"));
}

}  // namespace
}  // namespace kiln::not_regular_test
