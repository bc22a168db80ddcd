// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "kiln/export.hpp"
#include "kiln/memory/memory_map.hpp"

namespace kiln {

/// Whole lines of device memory: what an array of so many bytes takes.
constexpr std::uint64_t device_lines(std::uint64_t bytes) noexcept {
  return (bytes + 255) / 256 * 256;
}

/// Counts the device memory of a run by owner, over all of its queues. Thread-safe.
class KILN_API MemoryAccount {
 public:
  /// An array of `bytes` bytes begins to live at `memory`.
  void take(const void* memory, std::uint64_t bytes, MemoryOwner owner);
  /// It ends. Memory that was never taken is ignored.
  void give(const void* memory) noexcept;
  /// Memory without an address: what threads will work in.
  void plan(std::uint64_t bytes, MemoryOwner owner);
  void take_pinned(std::uint64_t bytes) noexcept;
  void give_pinned(std::uint64_t bytes) noexcept;

  /// When all but the copies together were at their most.
  OwnedBytes at_peak() const noexcept;
  OwnedBytes now() const noexcept;
  /// All but the plan and the arena.
  MemoryMap map() const;

 private:
  void add(std::uint64_t bytes, MemoryOwner owner) noexcept;

  mutable std::mutex mutex_;
  std::unordered_map<const void*, MemoryMap::Piece> live_;
  OwnedBytes now_, peaks_, at_peak_;
  std::uint64_t peak_bytes_ = 0, arrays_ = 0;
  std::uint64_t pinned_ = 0, pinned_peak_ = 0;
};

}  // namespace kiln
