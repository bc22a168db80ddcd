// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings.hpp"

namespace kiln::cli {

/// What a run.json says that is needed to repeat the run.
struct RecordedRun {
  std::string problem;          ///< as it was given
  std::string fingerprint;      ///< of the problem's data, "" if it was not known
  ConfigFile config;            ///< options and parameters; the number of replicas as it came out
  RecordedParameters resolved;  ///< with the defaults and automatic values of that run
  std::vector<std::string> notes;  ///< why the answer may be another one
  std::optional<Continuation> continuation = {};
};

/// Whether the file is a run.json.
bool is_run_document(const std::string& path);

/// Reads the run.json at `path`, or in the run folder `path`. What this version does not know is
/// left out with a note.
/// @throws InputError if it cannot be opened; ParseError if it is no such document.
RecordedRun read_recorded_run(const std::string& path, const RunVerb& verb,
                              TakeOver what = TakeOver::what_decides);

/// The verb that wrote the run.json in a run folder. @throws as read_recorded_run()
const RunVerb& recorded_verb(const std::string& path);

/// Defaults differ between versions, and a run.json repeats only what was given: names the
/// parameters that came out differently, with the options that restore them. "" if there are none,
/// or if the command line changes what defaults follow from: the problem, the schedule, or an
/// option that decides the answer. A parameter of the command line is left out.
/// @param now  of the schedule of this run, resolved
std::string changed_parameters(const CommandOptions& options,
                               const std::map<std::string, std::string>& now);

/// A file from anywhere must not run a program before somebody has seen which.
/// @throws InvalidArgument if the problem of the recorded run is a command.
void refuse_command(const RecordedRun& run, const std::string& path);

}  // namespace kiln::cli
