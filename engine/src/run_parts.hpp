// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <limits>

#include "kiln/kernels/propose_move.hpp"
#include "kiln/run.hpp"

namespace kiln {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What the host knows of a run between report points.
struct Run::Progress {
  double setup_s = 0;
  double run_s = 0;  ///< of earlier calls of advance()
  double to_best_s = 0;
  std::uint64_t best_key = ~0ull;
  Counters in_ticks;
  bool warmed_up = false;  ///< a tick was enqueued
  bool captured = false;

  // Since the last call of the observers.
  double reported_s = 0;
  std::uint64_t reported_step = 0;
  std::uint64_t reported_accepted = 0;
  std::uint64_t reported_best_key = ~0ull;
};

/// Arrays for sweeps by proposal and evaluation, where the objective has no sweep of its own.
struct Run::Fallback {
  Fallback(Queue& queue, const ReplicaBatch& batch)
      : first(queue, batch.slots()),
        second(queue, batch.slots()),
        value(queue, batch.slots()),
        trial_energy(queue, std::vector<double>(static_cast<std::size_t>(batch.slots()),
                                                std::numeric_limits<double>::infinity())) {}
  MoveUndo undo() { return {first.view(), second.view(), value.view()}; }

  DeviceArray<std::int32_t> first, second;
  DeviceArray<double> value, trial_energy;
};

}  // namespace kiln
