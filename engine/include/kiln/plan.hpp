// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// The number of a user that decided how many replicas a run has. With `groups` it is the number of
/// groups, or that of replicas in a group: Kiln would have chosen fewer replicas otherwise.
enum class GivenNumber : std::uint8_t { none, replicas, groups };

/// Backend, shape and memory of a run, computed before any allocation. A Run begins with a plan; a
/// plan alone tells how much memory a run would need.
struct RunPlan {
  /// As given; a work limit has become a limit of sweeps where each sweep has the same work.
  Budget budget;
  OpenedBackend opened;  ///< the backend of the run: not the given one for objectives that run on
                         ///< the host only, or leave a GPU little to do
  DeviceInfo device;
  Needs needs;       ///< of the schedule
  BatchShape shape;  ///< with the number of replicas of the run; a group may be a block of ladders
  /// Follows from problem, schedule, options and replicas, not from the device.
  DrawNaming draw_naming = DrawNaming::words;
  GivenNumber given = GivenNumber::none;
  bool naming_given = false;          ///< by RunOptions::draw_naming
  std::uint64_t batch_bytes = 0;      ///< states and other arrays of each replica
  std::uint64_t objective_bytes = 0;  ///< data of the problem, and of each replica
  /// Further memory of engine and schedule: scratch memory, of threads too, models, arrays of
  /// sweeps.
  std::uint64_t scratch_bytes = 0;
  std::uint64_t scratch_fixed_bytes = 0;  ///< the part of it that does not depend on the replicas
  /// The copy on which a run finishes a truncated tick or descends; on the CPU also the state to
  /// restore after an abandoned tick. Taken beyond bytes_needed() meanwhile, in host memory where
  /// the device has no room. 0: no tick can be truncated.
  std::uint64_t copy_bytes = 0;

  OwnedBytes owned_bytes;  ///< the same by owner

  std::uint64_t bytes_needed() const noexcept {
    return batch_bytes + objective_bytes + scratch_bytes;
  }
  /// Free memory less a margin of a twentieth; only where the device reports its free memory.
  std::uint64_t bytes_usable() const noexcept {
    return device.memory_free - device.memory_free / 20;
  }
  bool fits() const noexcept { return device.memory_free == 0 || bytes_needed() <= bytes_usable(); }
  /// Whether ladders lie in blocks of 32 (LadderPlaces).
  bool ladders_in_blocks() const noexcept {
    return needs.ladders_in_blocks && draw_naming == DrawNaming::planes;
  }
  /// Groups as the schedule divides its replicas: ladders, not their blocks.
  std::int64_t groups() const noexcept {
    return ladders_in_blocks() ? shape.groups * ladders_of_block : shape.groups;
  }
  /// A number of replicas, near the largest, for which the run fits; 0 if none does.
  KILN_API std::int64_t fitting_replicas() const;
};

/// Checks problem, budget and options as a run does, asks the schedule for its needs, and adds up
/// the memory. The schedule's memory is counted by calling its allocate() on a queue that only
/// counts. Allocates nothing on the device and runs nothing.
/// @throws InvalidArgument for everything that a run would refuse before it allocates.
KILN_API RunPlan plan_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                          const RunOptions& options, OpenedBackend backend);

/// @throws InvalidArgument (`run.memory`), with the largest number that fits, if a number that was
/// given does not; OutOfDeviceMemory, with a number of replicas that would fit, for other plans
/// that do not fit.
KILN_API void require_memory(const RunPlan& plan);

}  // namespace kiln
