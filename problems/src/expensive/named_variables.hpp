// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problems/command.hpp"

namespace kiln::problems::detail {

/// The variables of the setting `var`, which may have several separated by semicolons.
/// @throws InvalidArgument `command.variable`
std::vector<CommandVariable> variables_of(const ProblemSettings& settings);
/// The setting `constraints`, -1 for what is no number of constraints.
int constraints_of(const ProblemSettings& settings);

/// @param of  what they are of: "the command"
/// @param example  the name of a variable for the fix
/// @throws InvalidArgument `command.variable` where there are none, or two of a name
void check_variables(const std::vector<CommandVariable>& variables, const std::string& of,
                     const std::string& example);
/// @param of  "a command"
/// @throws InvalidArgument `command.constraints`
void check_constraints(int constraints, const std::string& of);

/// Gives a problem whose space is that of CommandStates the names and units of its variables.
void describe_variables(Problem& problem, std::vector<CommandVariable> variables);

}  // namespace kiln::problems::detail
