// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "output/atomic_file.hpp"

namespace kiln::cli {

/// The folder of one run, claimed at once: a place that cannot be written to is noticed before
/// hours of work, and of two runs into one folder the second is refused. Vanishes again, with the
/// folders around it that were made here, if nothing was ever written into it. A folder of the same
/// name that took its place is another one, and is never written into.
class RunFolder {
 public:
  /// @throws IoError `io.exists` if it has files in it or belongs to a run that is under way,
  ///   `io.write` if it cannot be made or written, `io.open_files` if the process may not open as
  ///   many files as a run has.
  explicit RunFolder(const std::string& path);
  struct Continues {};
  /// The folder of a run that continues: its files are taken for its own.
  /// @throws InputError `resume.missing` if there is none, `resume.busy` if it belongs to a run
  /// that
  ///   is under way; IoError `io.write` if it or a log in it cannot be written, `io.open_files`.
  RunFolder(const std::string& path, Continues);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Writes a file whole or not at all; only one of its own is replaced. @throws IoError
  void write(const std::string& name, std::string_view content);
  /// The same for one of many files that are listed as a range, once.
  void write(const std::string& name, const Pieces& content, const std::string& listed_as);
  /// The same, where another program may have written the file meanwhile: it is replaced.
  void replace(const std::string& name, std::string_view content);
  /// A file that grows while the run goes on. @throws IoError
  std::unique_ptr<GrowingFile> grow(const std::string& name);
  /// Of a run that continues: how much of a growing file is kept, all of it where nothing is said.
  void keep_of(const std::string& name, std::uint64_t bytes) { kept_[name] = bytes; }
  /// Removes what a killed process left between two steps of replacing a file.
  void remove_remains() noexcept;
  /// Where a file of that name lies; list() it once it is there. @throws IoError if the folder is
  /// another one
  std::filesystem::path place_of(const std::string& name) const;
  void list(const std::string& name) { list(name, name); }
  bool continues() const noexcept { return continues_; }
  /// What the end of its life does, for programs that end without one.
  void give_back() noexcept;
  /// Removes what was written into it: there is nothing that is worth a folder.
  void discard() noexcept;
  /// "out/g22/{result.json,solution.txt}"; "" where the folder is gone.
  std::string description() const;

 private:
  void make();
  void require_files() const;
  bool claim();
  void make_folder_of(const std::string& name) const;
  bool is_own() const noexcept;
  void require_own() const;
  void list(const std::string& name, const std::string& listed_as);

  /// Of the folder, locked: the claim ends with the process, however that ends.
  struct Claim {
    Claim() = default;
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    int descriptor = -1;
  };

  std::filesystem::path path_;
  Claim claim_;
  bool continues_ = false;
  std::map<std::string, std::uint64_t> kept_;
  std::set<std::string> written_;
  std::vector<std::string> listed_;
  std::vector<std::filesystem::path> made_here_;  // innermost first
};

}  // namespace kiln::cli
