// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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

/// Options of problem_specs() that the user gives and a recorded run has not, or with another text,
/// a clause each: "--pick=3, which was 2".
/// @param recorded  of the run that is repeated
/// @param now  merged, with their origin
std::vector<std::string> changed_problem_options(const Settings& recorded, const Settings& now);

/// What was given of problem_specs(), judged. @throws InvalidArgument
ProblemOptions problem_options_of(const Settings& settings);

}  // namespace kiln::cli
