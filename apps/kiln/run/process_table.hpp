// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::cli {

/// What /proc tells of a process; a group of 0 if there is no such process.
struct ProcessStatus {
  int group = 0;
  bool zombie = false;
};
ProcessStatus status_of(int process);

std::vector<int> all_processes();
/// Those that any thread of this process has started, or that were left to it.
std::vector<int> children_of_this();

/// Whether an entry of the environment that a process began with begins so. False for processes
/// whose environment cannot be read, and for those that have ended.
bool has_in_environment(int process, const std::string& beginning);

}  // namespace kiln::cli
