// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kiln/problem.hpp"

#include "errors.hpp"

namespace kiln::cli {

/// Sees to it that no program that is called outlives its call, or this process. Each call has an
/// entry KILN_CALL of its own in its environment; this process adopts what leaves its parents
/// (PR_SET_CHILD_SUBREAPER); and a watcher, started with the first call, ends what is left when
/// this process is gone, however it ended. Both begin with the first call.
std::shared_ptr<ProgramKeeper> make_program_keeper();

/// What the program calls itself with to be that watcher; for nobody else.
inline constexpr const char* end_programs_verb = "--end-programs";
/// The watcher: hears of groups of processes on standard input, and ends those that are left when
/// it is closed, and whatever else has the mark in its environment.
ExitCode end_programs(const std::vector<std::string>& words);

}  // namespace kiln::cli
