// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/observer.hpp"

namespace kiln::cli {

/// The rows of trace.csv, kept in memory and written at the end: some ten a second.
class Trace {
 public:
  explicit Trace(bool integral);
  void add(const ReportPoint& point);
  const std::string& text() const noexcept { return text_; }

 private:
  bool integral_;
  std::string text_;
};

/// The folder of one run. Made at once, so that a place that cannot be written to is noticed before
/// hours of work; vanishes again if nothing was ever written into a folder that was made here.
class RunFolder {
 public:
  /// @throws IoError `io.exists` if it has files in it, `io.write` if it cannot be made or written.
  explicit RunFolder(const std::string& path);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Writes a file whole or not at all. @throws IoError
  void write(const std::string& name, std::string_view content);
  /// The same for one of many files that are listed as a range, once.
  void write(const std::string& name, std::string_view content, const std::string& listed_as);
  /// "out/g22/{result.json,solution.txt}"
  std::string description() const;

 private:
  std::filesystem::path path_;
  std::string names_;
  bool made_here_ = false;
};

}  // namespace kiln::cli
