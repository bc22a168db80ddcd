// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/files/whole_file.hpp"

namespace kiln::cli {

/// What a file is to hold, in pieces that follow each other: large ones need not be copied.
using Pieces = std::vector<std::string_view>;

/// Writes a file whole or not at all, as WholeFile does. @throws IoError as WholeFile does
void write_file(const std::filesystem::path& path, const Pieces& content,
                Existing existing = Existing::replace);
void write_file(const std::filesystem::path& path, std::string_view content,
                Existing existing = Existing::replace);

/// The same without waiting for the disk: for a file that is replaced again soon. After a crash of
/// the machine it may be an earlier one, or empty. @throws IoError
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Whether a file of this name can be made, found out by making one of another name in its folder.
/// @throws IoError
void check_writable(const std::filesystem::path& file);

/// A new file that grows: what was appended is there for every reader, and stays when the process
/// is killed. A full disk costs no run: what cannot be written is kept, and is written before the
/// next text as soon as there is room. Until then `error()` has the reason.
class GrowingFile {
 public:
  GrowingFile() = default;
  /// Makes the file, or does so later where that fails. @throws IoError `io.exists` if it is there.
  explicit GrowingFile(const std::filesystem::path& path);
  /// Opens the file of a run that continues, and takes away what is behind its first `kept` bytes.
  /// Makes it if it is not there.
  GrowingFile(const std::filesystem::path& path, std::uint64_t kept);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// @param durable  power may go at once: waits until the disk has it.
  void append(std::string_view text, bool durable = false);
  /// Why something is missing; "" if nothing is.
  const std::string& error() const noexcept { return error_; }
  /// The bytes of the file.
  std::uint64_t size() const noexcept;

 private:
  int open(int flags);
  int write_pending(bool durable);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool torn_ = false;            // ends in a part of a line that cannot be taken back
  bool unsynchronized_ = false;  // once: what was written then may not be on the disk
  std::string pending_;          // what could not be written
  std::string error_;
};

}  // namespace kiln::cli
