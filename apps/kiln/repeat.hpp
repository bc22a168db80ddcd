// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "settings.hpp"

namespace kiln::cli {

/// What a run.json says that is needed to repeat the run.
struct RecordedRun {
  std::string problem;      ///< as it was given
  std::string fingerprint;  ///< of the problem's data, "" if it was not known
  ConfigFile config;        ///< options and parameters; the number of replicas as it came out
};

/// Reads the run.json at `path`, or in the run folder `path`.
///
/// Options of the device and of the output are not taken over: a run is repeated on any device.
/// @throws InputError if it cannot be opened; ParseError if it is no such document.
RecordedRun read_recorded_run(const std::string& path, const RunVerb& verb);

}  // namespace kiln::cli
