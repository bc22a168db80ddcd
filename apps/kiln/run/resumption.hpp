// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kiln/budget.hpp"
#include "kiln/checkpoint.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "run/former/former_result.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// Limits of the command line for a run that continues.
struct ResumeLimits {
  Budget budget = {};
  std::optional<WorkKind> work_unit = {};        ///< of the work limit, where it has one
  std::optional<std::int64_t> draws = {};        ///< of each chain
  std::optional<std::int64_t> evaluations = {};  ///< of each study
  std::optional<std::int64_t> generations = {};

  bool any() const;
};

/// The folder of a run that is to continue.
struct ResumedFolder {
  std::string path;
  ResumeLimits given;
};

/// A run that continues in its folder.
class Resumption {
 public:
  std::string folder;
  std::optional<FoundCheckpoint> found;  ///< none: the run was killed before its first one
  ResumeLimits given;
  std::optional<FormerResult> former = {};  ///< what the folder has of the run's result
  std::string steps_option = "sweeps";      ///< which option counts the steps of its schedule

  /// Until when it continues: the limits that were given, and those of the run that were not
  /// reached.
  /// @param planned  the budget of the run
  /// @throws InvalidArgument `resume.finished` if there is none
  Budget limit(const Budget& planned) const;
  /// Turns evaluations and generations that were given into steps. @throws InvalidArgument
  /// `resume.limit` for a schedule that has none of them
  void count_steps(const ScheduleEntry& entry, const Schedule& schedule);
  /// The number of draws that the run is to have now, where it is another one than it was planned
  /// for. @throws InvalidArgument `resume.draws` if it has as many
  std::optional<std::string> draws(const CommandOptions& options) const;
  /// Puts the run into the state of the checkpoint. @throws CheckpointError
  void restore(Run& run) const;
  /// Whether the newest checkpoint is damaged; "" if not.
  std::string warning() const;
  /// One line for the terminal: from where it continues.
  std::string text() const;

 private:
  void require_ahead() const;
  Budget left_of(Budget planned) const;
  Budget end_of(Budget planned) const;
};

/// Texts that the program keeps in each checkpoint.
CheckpointNotes checkpoint_notes(const RunVerb& verb, const LoadedProblem& loaded,
                                 const std::string& finished);

/// The problem must have the data of the saved run. @throws CheckpointError
void require_data(const Resumption& resumption, const LoadedProblem& loaded);

}  // namespace kiln::cli
