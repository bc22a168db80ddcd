// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs under `ulimit -n`.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "limits/limited_program.hpp"
#include "program.hpp"

namespace kiln::test::open_files_test {
namespace {

class OpenFiles : public ProgramTest {
 protected:
  /// The exit code of the program where it may have so many open files; its standard error is in
  /// the file `err`.
  int run_with(rlim_t files, std::vector<std::string> words) const {
    return run_limited(folder_, RLIMIT_NOFILE, files, std::move(words));
  }
};

TEST_F(OpenFiles, TooFewForARunFolderAreRefusedBeforeTheRun) {
  EXPECT_EQ(run_with(8, short_run({"-o", "run"})), 6);
  EXPECT_EQ(read("err"),
            "error[io.open_files]: a process may have 8 open files here, and a run with a run "
            "folder needs 9 more\n"
            "  the limit is that of ulimit -n\n"
            "  fix: ulimit -n 64, and then the same command\n");
  EXPECT_FALSE(exists("run")) << "no half folder";
}

// What the message asks for is enough, and whatever is refused leaves nothing.
TEST_F(OpenFiles, EveryNumberEndsInAnAnswerOrInNoFolder) {
  bool refused = false, solved = false;
  for (rlim_t files = 4; files <= 20; ++files) {
    std::filesystem::remove_all(folder_ / "run");
    const int code = run_with(files, short_run({"-o", "run", "-q"}));
    EXPECT_TRUE(code == 0 || code == 6) << files << "\n" << read("err");
    if (code == 0) {
      solved = true;
      for (const char* name : {"result.json", "solution.txt", "events.ndjson", "checkpoint.kiln"}) {
        EXPECT_TRUE(exists(std::string("run/") + name)) << files << " " << name;
      }
    } else {
      refused = true;
      EXPECT_TRUE(read("err").starts_with("error[io.open_files]: ")) << files << read("err");
      EXPECT_FALSE(exists("run")) << files;
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(solved) << "17 are enough";
}

TEST_F(OpenFiles, AContinuationIsRefusedBeforeItChangesTheFolder) {
  ASSERT_EQ(run(short_run({"-o", "run"})).exit_code, 0);
  const std::string before = read("run/events.ndjson"), result = read("run/result.json");
  EXPECT_EQ(run_with(8, {"resume", "run", "--sweeps", "1M", "--device", "cpu"}), 6);
  EXPECT_TRUE(read("err").starts_with("error[io.open_files]: ")) << read("err");
  EXPECT_EQ(read("run/events.ndjson"), before);
  EXPECT_EQ(read("run/result.json"), result);
}

}  // namespace
}  // namespace kiln::test::open_files_test
