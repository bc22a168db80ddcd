// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "errors.hpp"

namespace kiln::cli {

/// Whether a path names a run folder: one with run.json.
bool is_run_folder(const std::string& path);

/// Analyses a run folder, writes analysis.json into it, and prints text or, with --json, the
/// document. Reads --surrogates, --fdr, --rows, --device, --threads, --seed.
/// @throws as analyze_run(); InvalidArgument for a value that an option does not take
ExitCode analyze_run_folder(const Arguments& arguments);

}  // namespace kiln::cli
