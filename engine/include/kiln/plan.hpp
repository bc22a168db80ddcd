// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Backend, shape and memory of a run, computed before anything is allocated. A Run begins with a
/// plan; a plan alone says how much memory a run would need.
struct RunPlan {
  OpenedBackend opened;  ///< what will be used: another one than was given for objectives that
                         ///< run on the host only, or leave a GPU little to do
  DeviceInfo device;
  Needs needs;                        ///< of the schedule
  BatchShape shape;                   ///< with the replicas that will be taken
  std::uint64_t batch_bytes = 0;      ///< states and what belongs to each replica
  std::uint64_t objective_bytes = 0;  ///< data of the problem, and what it keeps for each replica
  /// Memory of engine and schedule beside them: scratch memory, models, arrays of sweeps.
  std::uint64_t scratch_bytes = 0;
  std::uint64_t scratch_fixed_bytes = 0;  ///< what of it fewer replicas would take, too
  /// The copy on which a run finishes a tick that is cut, or descends, and on the CPU that to which
  /// it goes back from a tick that it gives up: taken beyond bytes_needed() while that is done, in
  /// host memory where the device has no room. 0: no tick can be cut.
  std::uint64_t copy_bytes = 0;

  std::uint64_t bytes_needed() const noexcept {
    return batch_bytes + objective_bytes + scratch_bytes;
  }
  /// Free memory less a margin of a twentieth; only where the device says how much is free.
  std::uint64_t bytes_usable() const noexcept {
    return device.memory_free - device.memory_free / 20;
  }
  bool fits() const noexcept { return device.memory_free == 0 || bytes_needed() <= bytes_usable(); }
  /// A number of replicas, near the largest, for which the run fits; 0 if there is none.
  KILN_API std::int64_t fitting_replicas() const;
};

/// Checks problem, budget and options as a run does, asks the schedule for its needs, and adds up
/// the memory: that of the schedule by its own allocate(), on a queue that counts.
/// Nothing is allocated on the device and nothing is run.
/// @throws InvalidArgument for everything that a run would refuse before it allocates.
KILN_API RunPlan plan_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                          const RunOptions& options, OpenedBackend backend);

/// @throws OutOfDeviceMemory, with a number of replicas that would fit, unless the plan fits.
KILN_API void require_memory(const RunPlan& plan);

}  // namespace kiln
