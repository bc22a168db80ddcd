// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <istream>
#include <streambuf>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/numeric_table.hpp"

namespace kiln::problems::numeric_table_test {
namespace {

/// Reads from the end of a pipe.
class PipeBuffer : public std::streambuf {
 public:
  explicit PipeBuffer(int descriptor) : descriptor_(descriptor) {}

 protected:
  int_type underflow() override {
    const ssize_t n = ::read(descriptor_, bytes_, sizeof bytes_);
    if (n <= 0) return traits_type::eof();
    setg(bytes_, bytes_, bytes_ + n);
    return traits_type::to_int_type(bytes_[0]);
  }

 private:
  int descriptor_;
  char bytes_[1 << 16];
};

/// Writes 64 MiB to a pipe and returns its other end.
int pipe_of(const std::string& beginning, const std::string& repeated) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  if (::fork() == 0) {
    ::close(ends[0]);
    const auto put = [&](const std::string& text) {
      for (std::size_t at = 0; at < text.size();) {
        const ssize_t n = ::write(ends[1], text.data() + at, text.size() - at);
        if (n <= 0) ::_exit(0);  // the reader has refused the text
        at += static_cast<std::size_t>(n);
      }
    };
    std::string block;
    while (block.size() < (std::size_t{1} << 20)) block += repeated;
    put(beginning);
    for (int i = 0; i < 64; ++i) put(block);
    ::_exit(0);
  }
  ::close(ends[1]);
  return ends[0];
}

std::int64_t peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// The growth of the peak of memory, in KiB, while a process of its own acts; -1 if the action
/// fails.
std::int64_t growth_kib(const std::function<bool()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::int64_t before = peak_kib();
    const std::int64_t growth = action() ? peak_kib() - before : -1;
    const bool written = ::write(ends[1], &growth, sizeof growth) == sizeof growth;
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::int64_t growth = -1;
  const bool read = ::read(ends[0], &growth, sizeof growth) == sizeof growth;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return read ? growth : -1;
}

// A reader that holds the text grows by 64 MiB, one that holds all columns by 80 MB.
TEST(NumericTableMemory, HoldsTheKeptNumbersOnly) {
  const std::string row = "1.25,-3.5e-7,123456,0.1,7,8,9,10\n";
  const std::int64_t growth = growth_kib([&] {
    PipeBuffer buffer(pipe_of("a,b,c,d,e,f,g,h\n", row));
    std::istream in(&buffer);
    const NumericTable table =
        read_numeric_table(in, "pipe", {.columns = {"c"}, .rows = 200'000, .every = 10});
    const auto rows = static_cast<std::int64_t>(((1u << 20) + row.size() - 1) / row.size() * 64);
    return table.rows == 200'000 && table.rows_in_file == rows && table.columns[0].back() == 123456;
  });
  EXPECT_GE(growth, 200'000 * 8 / 1024 / 2) << "a measurement that sees nothing";
  EXPECT_LE(growth, 16 << 10);
}

TEST(NumericTableMemory, RefusesRowsWithoutEnd) {
  for (const std::string beginning : {"1,2\n1,\"", "1,2\n"}) {
    const std::int64_t growth = growth_kib([&] {
      PipeBuffer buffer(pipe_of(beginning, beginning.ends_with('"') ? "1,2\n" : "1,2,"));
      std::istream in(&buffer);
      try {
        read_numeric_table(in, "pipe");
      } catch (const ParseError& error) {
        return error.issues().front().line == 2 &&
               error.issues().front().message == "the row is longer than 16777216 bytes";
      }
      return false;
    });
    EXPECT_GE(growth, 0) << "another message";
    EXPECT_LE(growth, 80 << 10);  // 16 MiB and its copy while it grows; the text has 64
  }
}

}  // namespace
}  // namespace kiln::problems::numeric_table_test
