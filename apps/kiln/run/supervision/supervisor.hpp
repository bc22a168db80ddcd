// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/settings.hpp"
#include "errors.hpp"
#include "run/session/session.hpp"

namespace kiln::cli {

/// Whether the command asks for a supervisor and this process has none. A plan needs none.
bool wants_supervisor(const Arguments& arguments);

/// Runs the command in a child process, which has the terminal, the streams and the signals of this
/// one. A child that crashes or hangs is started again and continues in its run folder; one that
/// ends by itself gives the exit code.
/// @param words  of the command, behind the verb
/// @throws IoError `supervise.start` if the system grants no process
ExitCode supervise(const RunVerb& verb, const Arguments& arguments,
                   const std::vector<std::string>& words);

/// The session of a command. A supervised process that was started again continues its run.
Session prepare_supervised(const RunVerb& verb, const Arguments& arguments);

}  // namespace kiln::cli
