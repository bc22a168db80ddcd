// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "kiln/telemetry/record.hpp"

namespace kiln {

/// What a run tells of itself while it runs. Nothing here changes its answer.
struct TelemetryOptions {
  TelemetryLevel level = TelemetryLevel::off;
  /// Most bytes of a file of all records; 0 turns telemetry off. Half of it is for the first
  /// epochs, all of which are kept; of later ones fewer and fewer are (TelemetryRing::stride). A
  /// level of which 128 epochs do not fit gives way to the level below.
  std::uint64_t budget_bytes = std::uint64_t{4} << 20;
  /// Called with the records of each epoch that is kept, in order, by the thread that called
  /// advance(), while it waits for the device. An exception that it throws ends the run.
  std::function<void(std::span<const TelemetryRecord>)> take = {};
  /// false: epochs are not recorded at all, so that what they cost can be measured. The result then
  /// has the last incumbent alone.
  bool epochs = true;
  /// Most sweeps of an epoch. An epoch has at least one tick, and never more ticks than problem and
  /// options give it; every epoch is then recorded, whatever a GPU spends on it. 0: as many as
  /// problem and options give.
  std::int32_t interval = 0;
};

/// What is needed to read the records of a run: the head of telemetry.bin, 128 bytes.
struct TelemetryHeader {
  static constexpr std::array<char, 8> expected_magic{'K', 'I', 'L', 'N', 'T', 'E', 'L', '\n'};
  static constexpr std::uint32_t current_version = 1;

  std::array<char, 8> magic = expected_magic;
  std::uint32_t version = current_version;
  std::uint32_t header_bytes = 128;
  std::uint32_t record_bytes = sizeof(TelemetryRecord);
  TelemetryLevel level = TelemetryLevel::off;
  std::uint64_t replicas = 0;
  std::uint64_t groups = 0;
  std::uint64_t variables = 0;
  std::uint64_t ticks_per_epoch = 0;
  std::uint64_t sweeps_per_tick = 0;
  std::uint64_t records_per_epoch = 0;
  std::uint64_t all_of_first = 0;  ///< epochs; all that may be kept are (TelemetryRing::every)
  double value_slope = 1;          ///< objective value = value_slope * energy + value_offset
  double value_offset = 0;
  std::array<std::uint64_t, 4> reserved = {};
};
static_assert(sizeof(TelemetryHeader) == 128);

/// What became of the records of a run.
struct TelemetryCounts {
  std::uint64_t epochs = 0;   ///< complete
  std::uint64_t records = 0;  ///< taken from the ring
  std::uint64_t lost = 0;     ///< overwritten before they were taken
};

}  // namespace kiln
