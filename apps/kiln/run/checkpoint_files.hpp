// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>

#include "kiln/checkpoint.hpp"
#include "kiln/run.hpp"

#include "output/run_folder.hpp"

namespace kiln::cli {

/// The name of the newest checkpoint in a run folder.
inline constexpr const char* checkpoint_name = "checkpoint.kiln";

/// When checkpoints of a run are written, and how: into its folder. Their interval grows until they
/// cost less than half a percent of the time.
class CheckpointFiles {
 public:
  /// @param every_s    seconds between two of them; 0: none are written
  /// @param expensive  evaluations may take hours: whatever is worth its cost is written
  CheckpointFiles(RunFolder& folder, double every_s, bool expensive);

  /// Whether the interval has passed at a time of the run.
  bool due(double time_s) const;
  /// Nothing where it failed: error() has the reason, until another one succeeds.
  std::optional<CheckpointSize> write(Run& run, const CheckpointNotes& notes);
  /// Takes the state that the run ends in, which finish_last() puts in its place: meanwhile other
  /// files are written.
  void begin_last(Run& run);
  void finish_last(const CheckpointNotes& notes);
  /// Gives its space to files that are worth more. False: it has none.
  bool drop_last() noexcept;
  /// What a checkpoint and all that is written with it took, at a time of the run.
  void spent(double time_s, double seconds);
  bool wanted() const noexcept { return every_s_ > 0; }
  std::exception_ptr error() const noexcept { return error_; }

 private:
  RunFolder& folder_;
  double every_s_, shortest_s_, interval_s_;
  double newest_s_ = 0;
  std::optional<PendingCheckpoint> last_;
  std::exception_ptr error_;
};

}  // namespace kiln::cli
