// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kiln::cli {

enum class Existing { replace, refuse };

/// Writes a file whole or not at all: into a file without a name of the same folder, which is
/// synchronised and then put in its place; the folder is synchronised last. No link is followed. A
/// process that is killed leaves nothing behind, except on file systems without nameless files.
///
/// @throws IoError `io.exists` if the file is there and must not be replaced, `io.write` with the
///   system's reason otherwise; the old file, if any, is unchanged and nothing new is left.
void write_file(const std::filesystem::path& path, std::string_view content,
                Existing existing = Existing::replace);

/// Whether a file can be made in a folder, found out by making one. @throws IoError
void check_writable(const std::filesystem::path& folder);

/// A new file that grows: what was appended is there for every reader, and stays when the process
/// is killed. The first error ends it, so that a full disk costs no run: `error()` has the reason.
class GrowingFile {
 public:
  GrowingFile() = default;
  /// @throws IoError `io.exists` if the file is there, `io.write` if it cannot be made.
  explicit GrowingFile(const std::filesystem::path& path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// @param durable  power may go at once: waits until the disk has it.
  void append(std::string_view text, bool durable = false);
  /// Why something is missing; "" if nothing is.
  const std::string& error() const noexcept { return error_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string error_;
};

}  // namespace kiln::cli
