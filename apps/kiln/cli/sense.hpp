// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kiln/problem.hpp"

#include "cli/arguments.hpp"
#include "cli/settings.hpp"

namespace kiln::cli {

/// The options that turn a problem, beside --sense.
const std::vector<OptionSpec>& sense_specs();

/// What --sense, --minimize and --maximize say; of those that differ the one of the later origin
/// counts. Nothing: the natural sense of the problem.
/// @throws InvalidArgument for another word, and where two of one origin contradict each other.
std::optional<Sense> sense_of(const Settings& settings);

/// The problem in that sense. @throws InvalidArgument `problem.sense` where there is no choice
Problem in_sense(Problem problem, std::optional<Sense> sense);

}  // namespace kiln::cli
