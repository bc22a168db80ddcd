// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

/// The lines of a file that another process appends to, read as they come: by polling, so that it
/// works on every file system. The file is opened anew for each look, and never locked or changed.
class FollowedFile {
 public:
  explicit FollowedFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// What a look has found.
  struct News {
    std::vector<std::string> lines;  ///< whole ones, without line feeds
    bool restarted = false;          ///< the file is another one or shorter: all begins anew
    bool more = false;               ///< there is more to be read at once
  };
  /// New whole lines, some megabytes of them at most. A line of more than a mebibyte is left out,
  /// and counted. What is no regular file has no lines.
  News read();

  std::int64_t long_lines() const noexcept { return long_lines_; }
  /// Seconds since the file was changed, by the clock of this machine; nothing without a file.
  std::optional<double> age_s() const;

 private:
  void take(std::string_view text, News& news);

  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  off_t offset_ = 0;
  std::string partial_;       // of the line whose end is not there yet
  bool is_too_long_ = false;  // this line
  std::int64_t long_lines_ = 0;
};

/// The last whole line of a file and the one some lines before it, "" where they are not there: of
/// a file that grows too fast to be read as a whole.
struct LastLines {
  std::string first, last;
};
LastLines last_lines(const std::filesystem::path& path);

}  // namespace kiln::cli
