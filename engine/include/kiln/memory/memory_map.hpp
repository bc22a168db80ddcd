// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Whose device memory is: allocations are counted by owner.
enum class MemoryOwner : std::uint8_t {
  engine,    ///< counters of the run, telemetry, sweeps by proposal, threads, solutions at the end
  batch,     ///< states and other arrays of the replicas
  problem,   ///< data of the model, and what it keeps of each replica
  schedule,  ///< parameters, ladders, models, draws
  copies     ///< states to return to after ticks that are truncated, abandoned or tried
};

inline constexpr std::size_t memory_owners = 5;

KILN_API const char* to_string(MemoryOwner) noexcept;
/// All of them, in the order in which maps are shown.
KILN_API const std::array<MemoryOwner, memory_owners>& all_memory_owners() noexcept;

/// Bytes by owner.
struct OwnedBytes {
  std::array<std::uint64_t, memory_owners> of{};

  std::uint64_t& operator[](MemoryOwner owner) noexcept {
    return of[static_cast<std::size_t>(owner)];
  }
  std::uint64_t operator[](MemoryOwner owner) const noexcept {
    return of[static_cast<std::size_t>(owner)];
  }
  std::uint64_t sum() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : of) all += bytes;
    return all;
  }
  OwnedBytes& operator+=(const OwnedBytes& other) noexcept {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
    return *this;
  }
};

/// What an arena holds.
struct ArenaState {
  std::uint64_t reserved_bytes = 0;      ///< taken from the driver
  std::uint64_t free_bytes = 0;          ///< the part of it that nobody uses
  std::uint64_t largest_free_bytes = 0;  ///< in one piece
  std::uint64_t driver_calls = 0;        ///< pieces that were taken from the driver, so far

  /// 0: what is free lies in one piece.
  double fragmentation() const noexcept {
    return free_bytes == 0
               ? 0
               : 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
  }
};

/// The device memory of a run: every array has an owner. Arrays count in whole lines of 256 bytes,
/// as they lie. What the driver takes for its context, for kernels and for captured ticks is not
/// in it, nor is pinned host memory.
struct MemoryMap {
  std::uint64_t planned_bytes = 0;  ///< RunPlan::bytes_needed(): without copies
  std::uint64_t bytes = 0;          ///< at the end of the run
  std::uint64_t peak_bytes = 0;     ///< most at one time, without copies
  OwnedBytes planned, now, peak;    ///< by owner; each owner has its own peak
  std::uint64_t pinned_bytes = 0;   ///< host memory that the device writes, at its most
  std::uint64_t arrays = 0;         ///< that were requested in the run
  ArenaState arena;                 ///< at the end of the run; driver_calls: those of the run

  struct Piece {
    MemoryOwner owner = MemoryOwner::engine;
    std::uint64_t bytes = 0;
  };
  std::vector<Piece> largest;  ///< arrays at the end of the run, largest first, at most 8

  /// Share of the arrays that needed no call of the driver, [0, 1].
  double reuse() const noexcept {
    return arrays == 0 || arena.driver_calls >= arrays
               ? 0
               : 1 - static_cast<double>(arena.driver_calls) / static_cast<double>(arrays);
  }
};

}  // namespace kiln
