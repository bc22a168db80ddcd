// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/best_log.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"

namespace kiln {

/// Why the device stopped the run.
enum class DeviceStop : std::uint32_t {
  none = 0,
  target = 1,
  step_limit = 2,
  work_limit = 3,
  held = 4  ///< the host wants to act between two ticks (HoldFlag), after which the run goes on
};

/// The scalars of a run that change from tick to tick. They live in device memory, so that a tick
/// can be captured once and replayed: every launch of a tick reads its step and the stop flag from
/// them.
struct RunControl {
  std::uint64_t tick = 0;  ///< ticks finished
  std::uint64_t step = 0;  ///< sweeps finished, per replica
  std::uint64_t step_limit = ~0ull;
  std::uint64_t best_key = ~0ull;  ///< exact::order_key of the best energy of all replicas
  /// Sweeps that the current tick may still do; 0: no bound. Fewer than those of a full tick only
  /// after a stop in the middle of a tick, so that the ticks of a continued run are those of an
  /// uninterrupted one.
  std::uint64_t tick_sweeps = 0;
  double target = 0;  ///< stop at or below this stored energy
  std::uint32_t has_target = 0;
  DeviceStop stop = DeviceStop::none;  ///< once set, every launch of a tick does nothing
  std::uint32_t ticket = 0;            ///< blocks of EndTick that are done; 0 between launches
  std::uint32_t reserved = 0;          ///< saved with the rest
  // What AdvanceTick notes of the improvements of best_key (BestLog).
  std::uint64_t noted_key = ~0ull;  ///< best_key when it was last noted
  std::uint64_t noted = 0;          ///< entries that the log has had
  std::uint64_t next_note = 0;      ///< tick from which on the next may be noted
  double wanted =
      exact::not_a_number();  ///< energy of an entry without a finder; NaN: there is none
  std::uint64_t finder = BestLog::no_finder;  ///< of it, as TrackBest finds it in the next tick

  /// Whether the current tick does sweep `offset`.
  KILN_HD bool active(std::uint64_t offset) const {
    return stop == DeviceStop::none && step + offset < step_limit &&
           (tick_sweeps == 0 || offset < tick_sweeps);
  }
};

/// The values of a report point, written to the host without stopping the device.
struct RunSummary {
  RunControl control;
  double mean_energy = 0;        ///< of the current states
  double min_energy = 0;         ///< of the current states
  double beta = 0;               ///< of rung 0
  std::uint64_t accepted = 0;    ///< moves accepted since the start, all replicas
  std::uint64_t not_finite = 0;  ///< trial energies that were NaN or infinite, likewise
};

}  // namespace kiln
