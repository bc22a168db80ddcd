// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "run/supervision/shared_state.hpp"

namespace kiln::cli {

/// Standard input, for each process anew: what comes through a pipe is kept in memory.
class SharedInput {
 public:
  /// @param is_read  whether the command reads standard input
  /// @throws InputError `io.read`
  explicit SharedInput(bool is_read);
  ~SharedInput();
  SharedInput(const SharedInput&) = delete;
  SharedInput& operator=(const SharedInput&) = delete;

  /// A descriptor that stands at the beginning; -1: that of this process.
  int open() const;

 private:
  int kept_ = -1;
};

/// A process that runs this program under a supervisor.
class SupervisedChild {
 public:
  /// @param folder  in which it continues a run; "": it begins one
  /// @throws IoError `supervise.start`
  SupervisedChild(const std::vector<std::string>& words, const SharedInput& input,
                  const HangLimits& limits, int restarts, const std::string& folder);
  ~SupervisedChild();
  SupervisedChild(const SupervisedChild&) = delete;
  SupervisedChild& operator=(const SupervisedChild&) = delete;

  pid_t process() const noexcept { return process_; }
  const SharedState& state() const noexcept { return *state_; }

 private:
  void start(const std::vector<std::string>& words, int input);

  int memory_ = -1;
  SharedState* state_ = nullptr;
  pid_t process_ = -1;
};

}  // namespace kiln::cli
