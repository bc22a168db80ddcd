// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// An improvement of the best of all replicas, as it is noted at the end of its tick.
struct BestLogEntry {
  std::uint64_t key;     ///< exact::order_key of the stored energy
  std::uint64_t step;    ///< sweeps of each replica at the end of the tick
  std::int32_t replica;  ///< the first that had it at the end of the tick; -1 until that is known
  std::int32_t rung;     ///< of that replica when TrackBest found it
};

/// The improvements of the best of all replicas since the last epoch of telemetry, in device
/// memory: a log that AdvanceTick writes at the end of ticks and RecordTelemetry empties.
///
/// AdvanceTick runs in one thread and knows best_key alone. Which replica has it TrackBest finds in
/// the next tick, when it reads the best energies of all slots anyhow. What is noted depends on the
/// numbers of the ticks alone: after tick t the next note comes t / 32 ticks later or more, so that
/// the step of a note is at most about 3 % too late, and a run of any length has few.
struct BestLog {
  static constexpr std::int64_t capacity = 256;  ///< more than an epoch of 512 ticks can note
  static constexpr std::uint64_t no_finder = ~0ull;

  View1<BestLogEntry> entries;  ///< [capacity]; empty: nothing is noted

  KILN_HD static std::uint64_t next_after(std::uint64_t tick) { return tick + 1 + tick / 32; }
  KILN_HD static std::int64_t place_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number % static_cast<std::uint64_t>(capacity));
  }
  /// The least is that of the first replica.
  KILN_HD static std::uint64_t finder_of(std::int32_t replica, std::int32_t rung) {
    return static_cast<std::uint64_t>(replica) << 32 | static_cast<std::uint32_t>(rung);
  }
  KILN_HD static std::int32_t replica_of(std::uint64_t finder) {
    return static_cast<std::int32_t>(finder >> 32);
  }
  KILN_HD static std::int32_t rung_of(std::uint64_t finder) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(finder));
  }
};

}  // namespace kiln
