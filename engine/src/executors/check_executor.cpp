// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "executors/check_executor.hpp"

#include <string>

#include "kiln/errors.hpp"

namespace kiln {

void check_executor(const RunOptions& options, const DeviceInfo& device, bool waits_for_host) {
  const Executor executor = options.executor;
  if (executor == Executor::automatic || executor == Executor::stream) return;
  const std::string found = "executor " + std::string(to_string(executor));
  const Fix fix = Fix::use_executor(to_string(Executor::automatic));
  if (!device.gpu) {
    throw InvalidArgument(
        "executor.device",
        found + " does not apply to " + device.name + ": a CPU runs a kernel where it is launched",
        "a GPU, whose ticks can be captured", fix);
  }
  if (waits_for_host) {
    throw InvalidArgument("executor.pace",
                          found + " does not apply to this run: its ticks wait for the host",
                          "a schedule and an objective that need no host between two kernels", fix);
  }
  if (executor != Executor::graph && options.profile) {
    throw InvalidArgument("executor.profile",
                          found + " cannot be profiled: the host does not see its ticks",
                          "a profile measures single ticks between graphs",
                          Fix::use_executor(to_string(Executor::graph)));
  }
}

}  // namespace kiln
