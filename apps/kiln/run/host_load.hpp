// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace kiln::cli {

/// Processor time of all present threads of a process since they began.
struct HostLoad {
  double running_s = 0;  ///< on a processor
  double waiting_s = 0;  ///< ready to run, without a processor
};

/// Reads the files schedstat of all threads; nothing where the system does not keep them.
/// @param tasks  the folder of the threads, other than /proc/self/task in tests only
std::optional<HostLoad> host_load(const std::filesystem::path& tasks = "/proc/self/task");

}  // namespace kiln::cli
