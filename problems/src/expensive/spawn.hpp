// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace kiln::problems::detail {

/// Both ends of a pipe; closed by exec, so that no other child inherits them.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reason() const noexcept { return reason_; }  ///< 0, or why there is no pipe
  int reader() const noexcept { return ends_[0]; }
  int writer() const noexcept { return ends_[1]; }
  void close_reader() noexcept { close_end(ends_[0]); }
  void close_writer() noexcept { close_end(ends_[1]); }

  /// Takes what is there, and keeps the end of much; closes the reader at the end of the pipe.
  /// @pre the reader does not block
  void drain(std::string& text);

 private:
  static void close_end(int& end) noexcept;
  std::array<int, 2> ends_{-1, -1};
  int reason_ = 0;
};

/// The standard streams of a child.
struct ChildStreams {
  int input = -1;  ///< -1: empty
  int output = -1;
  int errors = -1;  ///< -1: those of this process
};

/// Attributes and file actions of a child that leads a separate process group.
class SpawnPlan {
 public:
  explicit SpawnPlan(const ChildStreams& streams);
  ~SpawnPlan();
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// 0, or why it cannot be started.
  /// @param entry  NAME=VALUE for its environment; may be empty
  int start(const std::vector<std::string>& words, const std::string& entry, pid_t& child) const;

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Whether the child has ended. It is not reaped: its number, and so its group, stays taken.
bool has_ended(pid_t child);

}  // namespace kiln::problems::detail
