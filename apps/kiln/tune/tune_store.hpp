// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "kiln/tuning/tune_file.hpp"

namespace kiln::cli {

/// The file of the trials of a device, for the one process that tunes it. What was added is in the
/// file when add() returns, and stays there if the process is killed.
class TuneStore {
 public:
  /// Makes the file and its folder if they are not there, locks the file, reads it, and takes away
  /// a half line at its end. A file with lines that are no records is replaced by one without them,
  /// and stays beside it (previous_of()), and so is a file of more than 64 MiB.
  /// @throws IoError `tune.busy` if another process tunes the device, `io.write` or `io.read`
  /// otherwise
  explicit TuneStore(const TuneDevice& device);
  ~TuneStore();
  TuneStore(const TuneStore&) = delete;
  TuneStore& operator=(const TuneStore&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  const TuneRecords& records() const noexcept { return records_; }

  /// Appends a line whole or not at all. @throws IoError `io.write`
  void add(const TuneTrial& trial);
  void add(const TuneOutcome& outcome);

 private:
  void open();
  void open_readable();
  void drop_bad_lines();
  void write_lost_header(const TuneDevice& device);
  void close() noexcept;
  void append(std::string_view line);
  void write(std::string_view text);

  std::filesystem::path path_;
  std::string header_;  // to be written before the first record of a device that the file has not
  int descriptor_ = -1;
  TuneRecords records_;
};

}  // namespace kiln::cli
