// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "kiln/run.hpp"

namespace kiln::cli {

/// The time before a run has its first states: reading, planning, uploading. After a second it says
/// so on standard error.
class SetUp {
 public:
  /// @param shown  whether it may say so
  explicit SetUp(bool shown);
  ~SetUp() { end(); }
  SetUp(const SetUp&) = delete;
  SetUp& operator=(const SetUp&) = delete;

  /// What came before does not count: a pipe may bring its problem late.
  void begin_now() { began_ = std::chrono::steady_clock::now(); }
  /// Nothing is said any more.
  void end();
  /// What of a limit is left: set-up beyond its first second counts in it. A run always gets enough
  /// to answer with the best of its first states.
  Budget what_is_left_of(Budget budget) const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread teller_;
};

}  // namespace kiln::cli
