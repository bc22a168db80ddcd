// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

#include "spawn.hpp"

namespace kiln::problems::detail {

/// What came of a request to a worker.
struct WorkerReply {
  enum class End : std::uint8_t { line, ended, timed_out, stopped, too_long };
  End end = End::line;
  std::string line;  ///< without its line feed
};

/// A program that stays: it reads requests, a line each, and prints an answer to each, a line too.
/// It leads a separate process group, which ends with it. Standard error is that of this process.
/// For one thread at a time.
class KILN_TEST_API Worker {
 public:
  /// @param keeper  is told of the process; may be null
  Worker(const std::vector<std::string>& words, std::shared_ptr<ProgramKeeper> keeper);
  /// Ends the group at once, by SIGKILL, unless end() did it.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// 0, or why it could not be started, an errno.
  int reason() const noexcept { return reason_; }
  /// Whether it lives and has printed nothing beyond its answers.
  bool is_ready();
  /// Sends a line and waits for one. With any other end than a line, the worker has to be ended.
  /// @param timeout_s  0: no limit
  WorkerReply exchange(std::string_view request, double timeout_s, const std::stop_token& stop);
  /// Tells it that no request follows: the end of its standard input.
  void close_input() noexcept { input_.close_writer(); }
  /// Waits for it, ends its group by SIGTERM after `patience_s` and by SIGKILL a second later, and
  /// says how it ended: "exit code 3", "signal 9".
  std::string end(double patience_s);

 private:
  int write_some(std::string_view& rest) const;

  Pipe input_, output_;
  std::shared_ptr<ProgramKeeper> keeper_;
  std::string text_;  // printed and not read
  pid_t child_ = 0;   // 0: there is none
  int reason_ = 0;
};

}  // namespace kiln::problems::detail
