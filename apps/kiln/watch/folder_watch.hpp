// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "watch/followed_file.hpp"
#include "watch/panel.hpp"
#include "watch/watched_run.hpp"

namespace kiln::cli {

/// Follows the files of a run folder. Only reads: any number of processes may follow one folder.
class FolderWatch {
 public:
  /// @throws InvalidArgument `watch.no_run` if the folder is not one of a run
  explicit FolderWatch(std::string folder);

  /// Reads what is new, and returns the new events. @throws InputError `watch.vanished`
  std::vector<EventJson> look();
  /// The run as it is now.
  RunView view() const;
  /// Whether the run is over, one way or the other.
  bool has_ended() const { return life_ == RunLife::died || life_ == RunLife::finished; }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<EventJson> read_events();
  bool read_trace();
  RunLife judge_life();
  double age_s() const;
  double silent_s() const;

  std::string folder_;
  std::filesystem::path path_;
  FollowedFile events_;
  WatchedRun run_;
  RunLife life_ = RunLife::running;
  bool looked_ = false;
  Clock::time_point changed_ = Clock::now();  // when the newest reading came
  Clock::time_point asked_;                   // when the lock was last asked for
  std::int64_t bad_lines_ = 0;
};

}  // namespace kiln::cli
