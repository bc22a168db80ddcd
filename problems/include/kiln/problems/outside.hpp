// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/command.hpp"

namespace kiln::problems {

/// A problem whose values come from outside the process: variables with names, a sense and a number
/// of constraints, for BayesianOptimizer. States and variables correspond as in a command. Its
/// objective has no value: it throws ObjectiveError `outside.value`.
/// @throws InvalidArgument `command.variable`, `command.constraints`
KILN_API Problem make_outside_problem(const std::vector<CommandVariable>& variables,
                                      int constraints = 0, Sense sense = Sense::minimize);

/// The same of the settings var (several separated by semicolons), constraints and sense.
KILN_API Problem outside_by_settings(const ProblemSettings& settings);

}  // namespace kiln::problems
