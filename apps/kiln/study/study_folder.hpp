// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/study.hpp"

namespace kiln::cli {

/// A point as it is given to who evaluates it: its id, and its values by name.
using PointDocument = nlohmann::ordered_json;

/// A study in a folder (docs/guides/ask_tell.md): study.json, the journal of what happened, and a
/// file for each pending point, in `waiting` or, once somebody has it, in `claimed`. The journal is
/// what counts; everything else follows from it.
class StudyFolder {
 public:
  /// Makes a study in a folder that is new or empty. @throws IoError
  static void create(const std::filesystem::path& path, const StudySettings& settings);
  /// @throws InputError if it is no study, ParseError
  explicit StudyFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const StudySettings& settings() const { return settings_; }
  const Problem& problem() const { return problem_; }

  /// Takes waiting points, those of the lowest ids first. A point goes to one of all processes that
  /// ask for it. Needs no lock.
  std::vector<PointDocument> claim(std::int64_t count) const;

  // The rest wants a StudyLock.
  /// Reads the journal. A last line without an end never happened.
  /// @throws ParseError for lines that are damaged
  StudyRecord read() const;
  /// Makes `waiting` and `claimed` what they should be after a process was killed: a pending point
  /// that is in neither was given to nobody; one that was told is in none.
  void repair(const StudyRecord& record) const;
  /// Adds to the journal, and waits until the disk has it. @throws IoError; nothing was added then
  void append(StudyRecord& record, const std::vector<StudyEvent>& events,
              const std::vector<StudyPoint>& points = {}) const;
  /// Writes the file of a pending point. @throws IoError
  void publish(const StudyPoint& point, bool claimed) const;
  /// Lets a claimed point wait again; false: nobody has it.
  bool release(std::int64_t id) const;
  /// Removes the file of a point that was told.
  void forget(std::int64_t id) const;
  bool is_claimed(std::int64_t id) const;
  /// evaluations.csv, the table of what was told.
  void write_table(const StudyRecord& record) const;

  /// What the search knew when the journal had the lines of the record.
  void save(const StudyRecord& record, const std::vector<double>& state) const;
  struct Saved {
    std::size_t lines = 0;  ///< of the journal that it knows
    std::vector<double> state;
  };
  /// Nothing where there is none, or it is of another journal or damaged.
  std::optional<Saved> saved(const StudyRecord& record) const;

  PointDocument document_of(const StudyPoint& point) const;

 private:
  std::filesystem::path file_of(const char* folder, std::int64_t id) const;

  std::filesystem::path path_;
  StudySettings settings_;
  Problem problem_;
};

/// While it lives, no other process changes the study. It goes with its process, however that ends.
class StudyLock {
 public:
  /// Waits for it. @throws IoError
  explicit StudyLock(const StudyFolder& folder);
  ~StudyLock();
  StudyLock(const StudyLock&) = delete;
  StudyLock& operator=(const StudyLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace kiln::cli
