// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/arguments.hpp"
#include "errors.hpp"

namespace kiln::cli {

/// The options of kiln analyze PROBLEM --landscape beside problem_specs(), --device, --seed and
/// --json. --box may be given twice.
const std::vector<OptionSpec>& landscape_specs();

/// Evaluates the slice of a problem and prints its landscape; plug-ins are loaded already.
/// @throws as load_problem(), take_slice() and landscape_of(); InvalidArgument; IoError for the
///   picture.
ExitCode run_landscape(const Arguments& arguments);

}  // namespace kiln::cli
