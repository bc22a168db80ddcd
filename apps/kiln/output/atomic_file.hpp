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

/// The same without waiting for the disk: for a file that is replaced again soon. After a crash of
/// the machine it may be an earlier one, or empty. @throws IoError
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Whether a file can be made in a folder, found out by making one. @throws IoError
void check_writable(const std::filesystem::path& folder);

/// A new file that grows: what was appended is there for every reader, and stays when the process
/// is killed. A full disk costs no run: what cannot be written is kept, and is written before the
/// next text as soon as there is room. Until then `error()` has the reason.
class GrowingFile {
 public:
  GrowingFile() = default;
  /// Makes the file, or does so later where that fails. @throws IoError `io.exists` if it is there.
  explicit GrowingFile(const std::filesystem::path& path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// @param durable  power may go at once: waits until the disk has it.
  void append(std::string_view text, bool durable = false);
  /// Why something is missing; "" if nothing is.
  const std::string& error() const noexcept { return error_; }

 private:
  int open();
  int write_pending(bool durable);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool torn_ = false;            // ends in a part of a line that cannot be taken back
  bool unsynchronized_ = false;  // once: what was written then may not be on the disk
  std::string pending_;          // what could not be written
  std::string error_;
};

}  // namespace kiln::cli
