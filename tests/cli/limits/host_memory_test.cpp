// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Runs whose memory ends.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "limits/limited_program.hpp"
#include "program.hpp"

namespace kiln::host_memory_test {
namespace {

using test::lines_of;
using test::Outcome;
using test::run_limited;

constexpr rlim_t mib = rlim_t{1} << 20;

class HostMemory : public test::ProgramTest {
 protected:
  static std::vector<std::string> sample(const std::string& folder) {
    return {"sample",    "posterior:eight-schools",
            "--device",  "cpu",
            "--threads", "1",
            "--chains",  "1024",
            "--draws",   "400",
            "--warmup",  "20",
            "-p",        "keep=1024",
            "--csv",     "0",
            "-q",        "--no-report",
            "-o",        folder};
  }

  /// The exit code of the program with so much address space; its standard error is in the file
  /// `err`.
  int run_with(rlim_t bytes, std::vector<std::string> words) const {
    return run_limited(folder_, RLIMIT_AS, bytes, std::move(words));
  }

  /// Into a new folder `run`.
  int sample_with(rlim_t bytes) const {
    std::filesystem::remove_all(folder_ / "run");
    return run_with(bytes, sample("run"));
  }

  /// Whether the run made all of its steps.
  bool has_all_steps() const {
    if (!exists("run/trace.csv")) return false;
    const std::string last = lines_of(read("run/trace.csv")).back();
    return last.find(",420,") != std::string::npos;
  }

  /// The run says that its state is kept, and with more memory it becomes what it would have been.
  void expect_kept() {
    EXPECT_NE(read("err").find("error[memory.host]: there is not enough memory; the run is kept in "
                               "its last checkpoint\n  fix: kiln resume run with more memory, or a "
                               "new run with fewer --chains, a smaller -p keep or a larger -p "
                               "thin\n"),
              std::string::npos)
        << read("err");
    ASSERT_TRUE(exists("run/checkpoint.kiln"));

    const Outcome resumed = run({"resume", "run", "-q"});

    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(read("run/draws.npy"), read("whole/draws.npy"));
    EXPECT_EQ(read("run/summary.csv"), read("whole/summary.csv"));
  }
};

TEST_F(HostMemory, ThatEndsCostsNoDraw) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
#endif
  ASSERT_EQ(run(sample("whole")).exit_code, 0);
  ASSERT_EQ(sample_with(1024 * mib), 0) << read("err");
  // From a limit that suffices to one under which the run cannot begin. What threads take at one
  // moment differs from run to run: at the border a run may do with less than the last.
  int kept = 0, kept_at_end = 0;
  for (rlim_t limit = 320 * mib; limit > 16 * mib; limit -= 12 * mib) {
    SCOPED_TRACE(limit / mib);
    const int code = sample_with(limit);
    if (code == 0) {
      EXPECT_EQ(read("run/draws.npy"), read("whole/draws.npy"));
      continue;
    }
    ASSERT_EQ(code, 5) << read("err");
    if (!exists("run/trace.csv")) break;  // refused before its first state
    ++kept;
    kept_at_end += has_all_steps() ? 1 : 0;
    expect_kept();
  }
  EXPECT_GE(kept, 5);
  EXPECT_GE(kept_at_end, 3);
}

// A column times a row of 6000 elements: 288 MB on the device, and again for the result.
TEST_F(HostMemory, ThatEndsInAProductGetsAFixForMatrices) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
#endif
  std::string column, row;
  for (int i = 0; i < 6000; ++i) {
    column += "1.5\n";
    row += i == 0 ? "0.5" : ",0.5";
  }
  write("column.csv", column);
  write("row.csv", row + "\n");
  int of_device = 0, of_host = 0;
  for (rlim_t limit = 200 * mib; limit <= 600 * mib; limit += 50 * mib) {
    SCOPED_TRACE(limit / mib);
    const std::vector<std::string> words{"multiply", "column.csv", "row.csv", "--device",
                                         "cpu",      "--threads",  "1"};
    const int code = run_with(limit, words);
    if (code == 0) continue;
    ASSERT_EQ(code, 5) << read("err");
    const std::string err = read("err");
    const std::string fix = "  fix: multiply blocks of rows of A one after the other, or ";
    EXPECT_NE(err.find(fix), std::string::npos) << err;
    EXPECT_EQ(err.find("replicas"), std::string::npos) << err;
    EXPECT_EQ(err.find("kiln solve"), std::string::npos) << err;
    of_device += err.starts_with("error[memory.device]: the host cannot allocate ") ? 1 : 0;
    of_host += err.starts_with("error[memory.host]: ") ? 1 : 0;
  }
  EXPECT_GT(of_device, 0);
  EXPECT_GT(of_host, 0);
}

// Small runs, from limits under which nothing begins to those that suffice.
TEST_F(HostMemory, ThatIsAlmostNoneKeepsARunOrRefusesIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
#endif
  const auto anneal = [&](rlim_t bytes) {
    std::filesystem::remove_all(folder_ / "run");
    return run_with(bytes, {"solve", "function:sphere-20", "--device", "cpu", "--sweeps", "50",
                            "--replicas", "64", "-q", "--no-report", "-o", "run"});
  };
  ASSERT_EQ(anneal(1024 * mib), 0) << read("err");
  const std::string solution = read("run/solution.txt");
  int whole = 0, refused = 0;
  for (rlim_t limit = 17 * mib; limit < 50 * mib; limit += mib / 2) {
    SCOPED_TRACE(limit / 1024);
    const int code = anneal(limit);
    if (code != 0 && !exists("run/trace.csv")) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(exists("run/checkpoint.kiln")) << code << read("err");
    if (code == 0) {
      ++whole;
    } else {
      EXPECT_EQ(code, 5) << read("err");
      EXPECT_EQ(run({"resume", "run", "-q"}).exit_code, 0);
    }
    EXPECT_EQ(read("run/solution.txt"), solution);
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace kiln::host_memory_test
