// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/run.hpp"

#include "output/run_folder.hpp"

namespace kiln::cli {

/// The line of an incumbent in incumbents.ndjson.
std::string incumbent_line(const Incumbent& one, bool integral);

/// telemetry.bin of a run folder: records as the run gives them. The first come before the run is
/// known, so they wait for the head.
class TelemetryLog {
 public:
  /// Keeps records for the next write(): a function for TelemetryOptions::take. A full disk is no
  /// error here.
  void take(std::span<const TelemetryRecord> records);
  /// The run continues: forgets what was taken, which is in the file already. Checkpoints name the
  /// length of the file from the beginning.
  void go_on(RunFolder& folder);
  /// Writes what was taken; makes the file when there is something to write. @throws IoError
  void write(RunFolder& folder, const Run& run);
  GrowingFile* file() const noexcept { return file_.get(); }

 private:
  std::unique_ptr<GrowingFile> file_;
  std::string pending_;
};

/// incumbents.ndjson of a run folder, and incumbents/000123.txt where solutions are wanted.
class IncumbentLog {
 public:
  /// @param solutions  whether to write the solution of each incumbent that is the best at a report
  ///   point
  IncumbentLog(const Problem& problem, bool solutions) : problem_(problem), solutions_(solutions) {}

  /// The run continues: removes solutions of incumbents that it has not found yet, which may be
  /// others than those of the run that was killed.
  static void go_on(const RunFolder& folder, const Run& run);
  /// A report point. @throws IoError
  void update(RunFolder& folder, Run& run);
  /// The end: the last incumbent, which may be of the result alone. @throws IoError
  void finish(RunFolder& folder, const Result& result);
  GrowingFile* file() const noexcept { return file_.get(); }

 private:
  void append(RunFolder& folder, const std::vector<Incumbent>& all, std::size_t count);
  void write_solution(RunFolder& folder, std::size_t number, State state);

  const Problem& problem_;
  bool solutions_;
  std::unique_ptr<GrowingFile> file_;
  std::size_t written_ = 0;   // lines
  double solved_energy_ = 0;  // of the last solution written, where there is one
  bool has_solution_ = false;
};

}  // namespace kiln::cli
