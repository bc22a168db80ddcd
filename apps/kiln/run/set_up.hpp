// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "kiln/result.hpp"
#include "kiln/run.hpp"

#include "output/run_folder.hpp"

namespace kiln::cli {

/// The time before a run has its first states: reading, planning, uploading. After a second it says
/// so on standard error. A signal ends the program: there is nothing yet to be kept.
class SetUp {
 public:
  SetUp() = default;
  ~SetUp() { end(); }
  SetUp(const SetUp&) = delete;
  SetUp& operator=(const SetUp&) = delete;

  /// The options are known: from now on the time counts.
  /// @param shown  whether it may say so
  void begin(bool shown);
  /// Makes the folder of the run, which vanishes again with a signal.
  /// @throws IoError as RunFolder does
  std::unique_ptr<RunFolder> claim(const std::string& path);
  /// Claims the folder of a run that continues. @throws as RunFolder does
  std::unique_ptr<RunFolder> reclaim(const std::string& path);
  /// What it does from now on, in words that follow "interrupted while".
  void is(std::string doing);
  /// Ends the program as a signal asks: without states there is no result.
  [[noreturn]] void interrupt();
  /// What came before does not count: a pipe may bring its problem late.
  void begin_now() { began_ = std::chrono::steady_clock::now(); }
  /// Nothing is said any more.
  void end();
  /// What of a limit is left: set-up beyond its first second counts in it. A run always gets enough
  /// to answer with the best of its first states.
  Budget what_is_left_of(Budget budget);
  /// Adds advice to a result whose time limit left nothing for the search.
  /// @param given  the budget as the user gave it
  /// @param left   what_is_left_of() it, or the same where set-up does not count
  void explain(const Budget& given, const Budget& left, Result& result) const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double taken_s_ = 0;  ///< when what_is_left_of() a limit was asked for
  std::mutex mutex_;
  std::string doing_ = "reading the options";
  RunFolder* folder_ = nullptr;
  std::condition_variable_any ended_;
  std::jthread teller_;
};

}  // namespace kiln::cli
