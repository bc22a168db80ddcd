// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/memory/memory_map.hpp"

namespace kiln {

/// Where an arena takes memory from: the driver of a device, or the host.
class KILN_API MemorySource {
 public:
  virtual ~MemorySource();
  /// Memory aligned to 256 bytes. @throws OutOfDeviceMemory
  virtual void* take(std::size_t bytes) = 0;
  virtual void give(void* memory, std::size_t bytes) noexcept = 0;
  /// Sets all bytes to one value, in the order of the work that uses the memory.
  virtual void fill(void* memory, std::size_t bytes, unsigned char value) = 0;
};

/// How arenas treat memory, for those who look for a mistake: `KILN_MEMORY` in the environment, a
/// list of these words.
struct KILN_API ArenaHabits {
  /// "direct": each array is taken from the driver alone and given back at once, so that tools that
  /// watch the driver see reads beyond its end.
  bool direct = false;
  /// "fill=0xa5": all bytes of an array have this value when it is handed out. "fill=0xff" makes
  /// every double a NaN. Code that reads what it never wrote then gives another answer.
  std::optional<unsigned char> fill;

  /// @throws InvalidArgument (`device.memory`) for another word.
  static ArenaHabits from_environment();
};

/// Memory of one stream of work, taken from the driver in large slabs and kept for the next run.
///
/// A run reserves what its plan says before its first array, and arrays come from there: the free
/// piece with the lowest address that suffices. A request that no free piece serves takes a new
/// slab, before which slabs that nobody uses go back. Used by one thread at a time.
class KILN_API Arena {
 public:
  explicit Arena(std::unique_ptr<MemorySource> source,
                 const ArenaHabits& habits = ArenaHabits::from_environment());
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Sees to it that so many bytes are free in one piece. Does nothing in an arena with the habit
  /// `direct`. @throws OutOfDeviceMemory, and has then what it had
  void reserve(std::size_t bytes);
  /// Memory aligned to 256 bytes; null for 0 bytes. @throws OutOfDeviceMemory
  void* allocate(std::size_t bytes);
  /// Takes back what allocate() gave, with the same number of bytes.
  void deallocate(void* memory, std::size_t bytes) noexcept;
  /// Gives slabs that nobody uses back to the driver.
  void trim() noexcept;

  std::uint64_t used_bytes() const noexcept { return used_; }
  std::uint64_t reserved_bytes() const noexcept { return reserved_; }
  /// The part of it that arrays have ever reached: the rest is no memory yet on a host.
  std::uint64_t touched_bytes() const noexcept;
  ArenaState state() const noexcept;
  /// Whether `all` bytes are free, `piece` of them in one piece.
  bool has_free(std::uint64_t piece, std::uint64_t all) const noexcept;

 private:
  struct Piece {
    std::byte* begin;
    std::size_t bytes;
    std::byte* end() const noexcept { return begin + bytes; }
    bool before(const std::byte* at) const noexcept;
  };
  struct Slab : Piece {
    std::byte* touched;  // the end of what was ever handed out
  };

  void* carve(std::size_t bytes);
  void add_slab(std::size_t bytes);
  void put_back(const Piece& piece) noexcept;
  Slab& slab_of(const std::byte* at) noexcept;

  std::unique_ptr<MemorySource> source_;
  ArenaHabits habits_;
  std::vector<Slab> slabs_;  // by address
  std::vector<Piece> free_;  // by address; neighbours in a slab are merged
  std::size_t live_ = 0;     // arrays
  std::uint64_t used_ = 0, reserved_ = 0, driver_calls_ = 0;
};

}  // namespace kiln
