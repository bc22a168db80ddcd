// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// The values that an observer sees at a report point: reduced, already on the host.
struct ReportPoint {
  double time_s = 0;        ///< since the run began
  std::int64_t sweeps = 0;  ///< of each replica
  double attempts = 0;      ///< of all replicas
  bool has_best = false;
  double best = 0;             ///< objective value of the best state so far
  double best_energy = 0;      ///< its energy
  double mean = 0;             ///< objective value of the mean energy of the current states
  double acceptance_rate = 0;  ///< since the last report point
  double attempts_per_ns = 0;  ///< since the last report point
  double beta = 0;             ///< of the first rung
  bool improved = false;       ///< best is better than at the last report point
  double time_left_s =
      -1;  ///< until the time limit or, from the rate, the sweep limit; -1: unknown
  /// Trial energies since the last report point that were NaN or infinite.
  std::uint64_t nonfinite = 0;
  std::string stage = {};  ///< of a pipeline, "2/2 parallel-tempering"; else empty
  /// Further numbers from the schedule, by name (Schedule::annotate); often empty.
  std::vector<std::pair<std::string, double>> notes = {};
};

enum class Next : std::uint8_t { go_on, stop };

/// Runs on the host between ticks. It may end a run, and never changes its path.
using Observer = std::function<Next(const ReportPoint&)>;
using Observers = std::vector<Observer>;

}  // namespace kiln
