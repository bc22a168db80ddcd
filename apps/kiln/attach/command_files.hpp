// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/commands/options.hpp"

namespace kiln::cli {

/// What a run was told, in its folder.
inline constexpr const char* command_log = "commands.ndjson";
/// What a run that repeats another one is going to be told, for its continuation.
inline constexpr const char* repeated_command_log = "repeated_commands.ndjson";

/// The commands of a recorded run that decide its answer.
/// @param run  its folder, or the run.json in it; "-" has none
/// @throws InputError, ParseError
std::vector<LoggedCommand> commands_of_run(const std::string& run);
/// Those that a run which continues has still to repeat.
std::vector<LoggedCommand> repeated_commands(const std::string& folder);

}  // namespace kiln::cli
