// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "kiln/export.hpp"

namespace kiln {

/// What becomes of a file that a new one would take the place of.
enum class Existing : std::uint8_t {
  replace,
  refuse,
  keep_previous,  ///< it gets the name previous_of(path), and the file of that name goes
};

/// Whether a file outlives a crash of the machine from the moment it has its name.
enum class Durability : std::uint8_t { none, synchronized };

/// "run/checkpoint.kiln" -> "run/checkpoint.prev.kiln".
KILN_API std::filesystem::path previous_of(const std::filesystem::path& path);

/// A file that is written whole or not at all: into a file without a name in the same folder, which
/// is synchronised and then put in its place; the folder is synchronised last. No link is followed.
/// A process that is killed leaves nothing behind, except on file systems without nameless files,
/// and there, or between the two steps of a replacement, a hidden file `.NAME.XXXXXXXX.tmp`.
///
/// Every function throws IoError: `io.exists` if the file is there and must not be replaced,
/// `io.write` with the reason of the system otherwise. The old file, if any, is then unchanged, and
/// nothing new is left.
class KILN_API WholeFile {
 public:
  explicit WholeFile(std::filesystem::path target);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(const void* data, std::size_t bytes);
  /// Synchronises what was written and gives it its name: the last call. Without durability it does
  /// not wait for the disk: for a file that is replaced again soon.
  void put_in_place(Existing existing, Durability durability = Durability::synchronized);

 private:
  std::string own_path() const;
  std::filesystem::path other_name() const;
  bool link_to(const std::filesystem::path& name) const;
  void keep_previous() const;
  void close();
  void check(bool done) const;
  bool rename_to_new() const;
  void write_early() noexcept;

  std::filesystem::path target_;
  std::filesystem::path path_;  // "": it has no name yet, or is in its place
  int descriptor_ = -1;
  std::uint64_t written_ = 0, early_ = 0;  // bytes; of those, what the disk was told to write
};

}  // namespace kiln
