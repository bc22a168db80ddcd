// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"

namespace kiln {

class Queue;

/// Scratch memory of a CPU launch, for each thread that takes part.
struct HostTasks {
  std::int64_t count = 0;   ///< tasks; a thread does one at a time
  std::uint64_t bytes = 0;  ///< of a task

  /// Bytes for all threads, each on separate cache lines.
  std::uint64_t bytes_of(std::int64_t threads) const {
    const std::int64_t workers =
        std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(threads, 1));
    return (bytes + 63) / 64 * 64 * static_cast<std::uint64_t>(workers);
  }
};

/// GlmTransition: chains per task. Weights and gradients of a task lie side by side; each chain has
/// four more vectors (x, z, g, velocity).
inline constexpr int glm_chains_per_task = 16;
inline HostTasks glm_transition_tasks(std::int64_t replicas, std::int64_t columns) {
  return {(replicas + glm_chains_per_task - 1) / glm_chains_per_task,
          static_cast<std::uint64_t>(6 * glm_chains_per_task * columns) * sizeof(double)};
}

/// StateSwap: rows of an array that a task moves, in a copy of the moving values.
inline constexpr std::int64_t swap_rows_per_task = 64;
inline HostTasks state_swap_tasks(std::int64_t rows, std::int64_t moves) {
  return {(rows + swap_rows_per_task - 1) / swap_rows_per_task,
          static_cast<std::uint64_t>(moves) * sizeof(std::uint64_t)};
}

/// Announces in Schedule::allocate the scratch memory of a later launch. A planning queue counts
/// the largest; others allocate it at the launch.
KILN_API void plan_host_scratch(Queue& queue, const HostTasks& tasks);

/// Ability of objectives whose sweeps need scratch memory on the CPU, for memory plans.
class KILN_API HostScratch {
 public:
  static constexpr std::string_view interface_name = "host scratch";
  /// Bytes that the CPU backend uses to sweep `words` times 32 replicas with so many threads.
  virtual std::uint64_t host_scratch_bytes(std::int64_t words, std::int64_t threads,
                                           DrawNaming naming) const = 0;

 protected:
  ~HostScratch() = default;
};

/// What the chains of a density do, each with scratch memory.
enum class ChainWork : std::uint8_t { hmc, nuts, descent };

/// The same for densities and their objectives, whose transitions and descents need scratch memory.
class KILN_API TransitionScratch {
 public:
  static constexpr std::string_view interface_name = "transition scratch";
  /// On the CPU, for transitions of fixed length.
  virtual HostTasks transition_tasks(std::int64_t replicas) const = 0;
  /// Bytes on a GPU, beyond those of Objective::device_bytes().
  virtual std::uint64_t transition_bytes(ChainWork work, std::int64_t replicas) const;

 protected:
  ~TransitionScratch() = default;
};

}  // namespace kiln
