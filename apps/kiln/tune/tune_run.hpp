// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "errors.hpp"

namespace kiln::cli {

/// What `kiln tune` was told.
struct TuneOptions {
  std::vector<std::string> kernels;  ///< kernels or tunables; empty: all
  std::string device = "auto";
  double limit_s = 1800;  ///< no trial begins after this
  bool retry = false;     ///< search again what was searched before
  bool json = false;
};

/// Tunes the launch shapes of a device and prints the table. @throws NoDevice, ...; InvalidArgument
/// `tune.kernel` for a name that has no tunable; IoError
ExitCode run_tuning(const TuneOptions& options);

/// Prints the tables of all devices that were tuned. @throws IoError
ExitCode print_tune_reports(bool json);

}  // namespace kiln::cli
