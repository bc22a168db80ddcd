// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// A run, and what gave way so that it could begin.
struct BegunRun {
  std::unique_ptr<Run> run;
  /// "64 replicas instead of 128, because ..."; empty if it has the default number, or the given.
  std::string fewer_replicas = {};
  bool moved = false;  ///< to another device than the given one, which was busy
};

/// Makes a run as the constructor of Run does, and tries again where the device refuses it:
/// - If its plan fitted into the free memory, the device has no memory left for it nevertheless,
///   and RunOptions::replicas is 0: with half of the replicas, in whole groups, and half of these,
///   down to one group or Needs::min_replicas. A run that is given the number that was reached
///   takes the same path.
/// - If the device is busy (`device.busy`) and RunOptions::device is "auto": on the next CUDA
///   device that works, or on the CPU. OpenedBackend::fallback_reason has the reason.
/// @throws as the constructor of Run
KILN_API BegunRun begin_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                            const RunOptions& options, OpenedBackend backend);

}  // namespace kiln
