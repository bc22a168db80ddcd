// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kiln::test {

/// How the program is called.
struct Call {
  std::vector<std::string> words;                    ///< after the program's name
  std::string input{};                               ///< standard input
  std::map<std::string, std::string> environment{};  ///< beside the inherited one without KILN_*
  int signal = 0;  ///< sent once when standard output or error has `signal_at`
  std::string signal_at{};
  int second_signal = 0;           ///< another one that comes together with the first
  bool closed_output = false;      ///< nobody reads standard output
  std::string readers_leave_at{};  ///< nobody reads anything once standard error has this
  std::int64_t file_limit = 0;     ///< bytes that a file may have; 0: any
  std::string output_file{};       ///< instead of a pipe
  bool no_streams = false;         ///< all three standard streams are closed
};

struct Outcome {
  int exit_code = -1;  ///< 128 + N if signal N ended it
  std::string out;
  std::string err;
};

/// A folder of its own for each test; the program runs in it, so that messages hold relative names.
class ProgramTest : public testing::Test {
 public:
  ProgramTest();
  ~ProgramTest() override;

 protected:
  /// Runs the program to its end, or kills it and fails the test after half a minute (ten under a
  /// sanitizer).
  Outcome run(const Call& call) const;
  Outcome run(std::vector<std::string> words) const { return run(Call{std::move(words)}); }

  /// Writes a file into the folder.
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;

  std::filesystem::path folder_;
};

/// A fixture of Bayesian searches whose models are cheap.
class SearchTest : public ProgramTest {
 protected:
  Outcome search(const std::string& problem, const std::vector<std::string>& more) const;
};

/// In a child process, in place of what it was: the program in `folder`, with signals as a shell
/// leaves them. Exits with 127 where it cannot be started.
/// @param words, environment  ended by a null each; the first word is the program's name
[[noreturn]] void become_program(const std::filesystem::path& folder, char** words,
                                 char** environment);

/// The words of a run on the CPU, with further ones.
std::vector<std::string> solve(const std::string& problem, std::vector<std::string> more = {});

/// A run that is short and the same on every machine, with further words.
std::vector<std::string> short_run(std::vector<std::string> more);

/// What a program that succeeded has written as JSON.
nlohmann::json result_of(const Outcome& outcome);

/// Of standard error, without its line feed.
std::string first_line(const Outcome& outcome);

std::vector<std::string> lines_of(const std::string& text);

/// Line feeds.
std::int64_t count_lines(const std::string& text);

}  // namespace kiln::test
