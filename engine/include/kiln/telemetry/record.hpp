// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// What a run writes into its telemetry ring at the end of each epoch. A level includes those
/// before it.
enum class TelemetryLevel : std::uint32_t {
  off = 0,
  summary = 1,   ///< one record of all replicas
  groups = 2,    ///< one record of each group, too
  replicas = 3,  ///< one record of each replica, too
};

/// What a record is about.
enum class TelemetryKind : std::uint32_t { run = 0, group = 1, replica = 2 };

/// One record of telemetry, 64 bytes: energies at the end of an epoch. What it counts, it counts
/// since the epoch before; a record of a replica since the beginning of the run.
struct TelemetryRecord {
  static constexpr std::uint32_t kind_bits = 3;
  static constexpr std::uint32_t improved_bit = 4;  ///< the best of all replicas fell

  std::uint64_t seq;         ///< 1 + the place among all records of the run, dropped ones included
  std::uint64_t step;        ///< sweeps of each replica so far
  std::uint32_t subject;     ///< the group or the replica; 0 for the run
  std::int32_t rung;         ///< where the best replica is, or this one
  double energy;             ///< mean of the finite energies; NaN if there are none
  double best;               ///< least energy so far; +infinity if there is none
  double beta;               ///< inverse temperature of `rung`; 0 where the schedule has none
  float deviation;           ///< standard deviation of the energies (divisor n); 0 of a replica
  float acceptance;          ///< accepted share of the attempts
  std::uint32_t not_finite;  ///< trial energies that were NaN or infinite, at most 2^32 - 1
  std::uint32_t flags;       ///< kind_bits: TelemetryKind; improved_bit

  KILN_HD TelemetryKind kind() const { return static_cast<TelemetryKind>(flags & kind_bits); }
  KILN_HD bool improved() const { return (flags & improved_bit) != 0; }
};
static_assert(sizeof(TelemetryRecord) == 64);

/// Statistics of the replicas of a group, or of all, at the end of one epoch.
struct TelemetryEpoch {
  std::uint64_t count;       ///< finite energies
  double mean, m2;           ///< of these: mean, sum of the squared deviations from it
  double least, most;        ///< of these; +infinity and -infinity if there are none
  std::uint64_t accepted;    ///< attempts accepted since the epoch before
  std::uint64_t not_finite;  ///< trial energies without a value since the epoch before
  double best;               ///< least energy so far; +infinity if there is none
  std::int32_t replica;      ///< that has it, the first of several; 2^31 - 1 if there is none
  std::int32_t slot;         ///< where that replica is; -1 if there is none
};

/// Sums over all epochs of a group. They are kept on the device at every level, and saved with the
/// run.
struct TelemetrySums {
  std::uint64_t epochs;
  std::uint64_t count;       ///< finite energies in all epochs
  double mean, m2;           ///< of these
  double least, most;        ///< of these
  std::uint64_t accepted;    ///< attempts accepted since the beginning
  std::uint64_t not_finite;  ///< trial energies without a value since the beginning
  TelemetryEpoch last;       ///< the last epoch
};

/// Scalars of the telemetry of a run, in device memory.
struct TelemetryState {
  std::uint64_t last_tick = ~0ull;  ///< of the last epoch; ~0: there was none
  std::uint64_t last_step = 0;
  std::uint64_t epochs = 0;
  std::uint64_t incumbents = 0;     ///< handed to the host
  std::uint64_t best_key = ~0ull;   ///< exact::order_key of the energy of the last of them
  std::uint64_t epoch_key = ~0ull;  ///< of the best of all replicas at the end of the last epoch
  std::uint64_t emptied = 0;        ///< entries of the BestLog that were taken out
};

}  // namespace kiln
