// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kiln/budget.hpp"
#include "kiln/checkpoint.hpp"
#include "kiln/run.hpp"

#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// The folder of a run that is to continue, and the limits of the command line.
struct ResumedFolder {
  std::string path;
  Budget given;
};

/// A run that continues in its folder.
class Resumption {
 public:
  std::string folder;
  std::optional<FoundCheckpoint> found;  ///< none: the run was killed before its first one
  Budget given;                          ///< limits of the command line

  /// Until when it continues: the limits that were given, and those of the run that were not
  /// reached.
  /// @param planned  the budget of the run
  /// @throws InvalidArgument `resume.finished` if there is none
  Budget limit(const Budget& planned) const;
  /// Puts the run into the state of the checkpoint. @throws CheckpointError
  void restore(Run& run) const;
  /// One line for the terminal: from where it continues.
  std::string text() const;

 private:
  Budget left_of(Budget planned) const;
  Budget end_of(Budget planned) const;
};

/// Texts that the program keeps in each checkpoint.
CheckpointNotes checkpoint_notes(const RunVerb& verb, const LoadedProblem& loaded,
                                 const std::string& finished);

/// The problem must have the data of the saved run. @throws CheckpointError
void require_data(const Resumption& resumption, const LoadedProblem& loaded);

}  // namespace kiln::cli
