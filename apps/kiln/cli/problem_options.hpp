// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/registry.hpp"

#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// What every verb that reads a PROBLEM can be told about it.
const std::vector<OptionSpec>& problem_specs();

/// --data, which verbs without the others have, too.
const OptionSpec& data_spec();

/// --var as kiln sample has it.
const OptionSpec& variable_spec();

/// Those that belong to a family of problems (ProblemEntry::settings).
std::vector<OptionSpec> problem_specs_of(const ProblemEntry& entry);

/// What was given of problem_specs(), judged. @throws InvalidArgument
ProblemOptions problem_options_of(const Settings& settings);

}  // namespace kiln::cli
