// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/registry.hpp"
#include "kiln/result.hpp"

#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "errors.hpp"
#include "experiments/recalled_evaluations.hpp"
#include "output/run_folder.hpp"
#include "output/run_record.hpp"
#include "run/problem_source.hpp"
#include "run/resumption.hpp"
#include "run/set_up.hpp"
#include "run/signals.hpp"

namespace kiln::cli {

/// Everything that a verb runs with, read, judged and opened.
struct Session {
  CommandOptions options;
  Registry registry;
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<RunFolder> folder;
  LoadedProblem loaded;
  Points reference_front;  ///< to compare the front with; may be empty
  OpenedBackend backend;
  std::unique_ptr<SetUp> set_up = nullptr;
  std::unique_ptr<StopSignals> signals = nullptr;  ///< that end the set-up, and then ask the run
  std::optional<Resumption> resumption = {};       ///< of a run that continues
  std::shared_ptr<const RecalledEvaluations> recalled = nullptr;  ///< of such a run, if expensive
};

/// Judges the arguments, makes the folder, reads the problem, opens the device.
/// @throws InvalidArgument, InputError, IoError, ParseError, NoDevice, ...
/// @param resumed  the folder of a run that continues; its options are those of the run, beside
/// those that are given
Session prepare(const RunVerb& verb, const Arguments& arguments,
                const std::optional<ResumedFolder>& resumed = {});

/// Runs the session, or shows its plan if that is what was asked for; progress and advice go to
/// standard error, the result to standard output and into the folder.
ExitCode run_session(Session session, const std::vector<std::string>& words,
                     const RunOutput& output);

}  // namespace kiln::cli
