// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/telemetry/record.hpp"

namespace kiln {

/// A place of the ring: a record as words that are read and written one by one. The first is its
/// sequence number, 0 while the place is being written.
struct alignas(64) TelemetrySlot {
  static constexpr int words = sizeof(TelemetryRecord) / sizeof(std::uint64_t);
  std::uint64_t word[words];
};

/// The ring of records, in host memory that the device writes while the host reads.
///
/// A writer never waits. It writes the payload, and then the sequence number; before that it marks
/// the place of its next record as being written, so that nobody finds the old number there when
/// its payload comes. A reader takes a record only if it finds the expected number before and after
/// it has copied the payload. What a writer has overwritten before it was read is lost, and the
/// reader counts it. Writers of one epoch never share a place, and epochs follow each other.
struct TelemetryRing {
  static constexpr std::uint64_t thinning = 64;  ///< stride after the first epochs

  TelemetrySlot* slots = nullptr;
  std::uint64_t capacity = 0;             ///< places, a power of two; at least records_per_epoch
  std::uint64_t records_per_epoch = 0;    ///< 0: nothing is written
  std::uint64_t all_of_first = thinning;  ///< that may be kept; a power of two, at least `thinning`
  TelemetryLevel level = TelemetryLevel::off;
  std::uint64_t every = 1;  ///< epoch that may be kept; a power of two

  /// Of so many epochs that may be kept one is: every one of the first `all_of_first`, then, each
  /// time that their number has doubled, as many again as a 64th of the first. It depends on the
  /// number of the epoch alone, and at most twice as many as the first are kept, however long a run
  /// is.
  KILN_HD std::uint64_t stride(std::uint64_t number) const {
    if (number < all_of_first) return 1;
    std::uint64_t stride = thinning;
    for (std::uint64_t end = 2 * all_of_first; number >= end && end < end * 2; end *= 2)
      stride *= 2;
    return stride;
  }
  KILN_HD bool keeps(std::uint64_t epoch) const {
    const std::uint64_t number = epoch / every;
    return records_per_epoch > 0 && epoch % every == 0 && number % stride(number) == 0;
  }
  KILN_HD std::uint64_t seq_of(std::uint64_t epoch, std::uint64_t record) const {
    return epoch * records_per_epoch + record + 1;
  }
  /// The number of an epoch among those that are kept.
  KILN_HD std::uint64_t kept_before(std::uint64_t epoch) const {
    const std::uint64_t number = epoch / every + (epoch % every == 0 ? 0 : 1);
    if (number < all_of_first) return number;
    std::uint64_t begin = all_of_first, before = all_of_first;
    for (; number >= 2 * begin && begin < begin * 2; begin *= 2) before += all_of_first / thinning;
    return before + (number - begin) / stride(number);
  }
  KILN_HD TelemetrySlot& slot_of(std::uint64_t epoch, std::uint64_t record) const {
    return slots[(kept_before(epoch) * records_per_epoch + record) & (capacity - 1)];
  }

  /// Writes one record of an epoch that is kept; its sequence number is set here.
  KILN_HD void publish(std::uint64_t epoch, std::uint64_t record, TelemetryRecord value) const {
    value.seq = seq_of(epoch, record);
    const std::uint64_t place = kept_before(epoch) * records_per_epoch + record;
    write(slots[place & (capacity - 1)], slots[(place + records_per_epoch) & (capacity - 1)],
          value);
  }

  /// Writes a record, and marks the place of the next.
  KILN_HD static void write(TelemetrySlot& slot, TelemetrySlot& next,
                            const TelemetryRecord& value) {
#if defined(__CUDA_ARCH__)
    const auto* const words = reinterpret_cast<const std::uint64_t*>(&value);
    volatile std::uint64_t* const to = slot.word;
    for (int i = 1; i < TelemetrySlot::words; ++i) to[i] = words[i];
    *static_cast<volatile std::uint64_t*>(next.word) = 0;
    __threadfence_system();
    to[0] = words[0];
#else
    const auto from = std::bit_cast<TelemetrySlot>(value);
    for (int i = 1; i < TelemetrySlot::words; ++i) {
      std::atomic_ref(slot.word[i]).store(from.word[i], std::memory_order_relaxed);
    }
    std::atomic_ref(next.word[0]).store(0, std::memory_order_relaxed);
    std::atomic_ref(slot.word[0]).store(from.word[0], std::memory_order_release);
#endif
  }

  /// What a reader finds in a place.
  enum class Found : std::uint8_t { record, nothing_yet, another };

  /// By the host: copies the record with this sequence number.
  static Found read(TelemetrySlot& slot, std::uint64_t seq, TelemetryRecord& value) {
    TelemetrySlot copy;
    copy.word[0] = std::atomic_ref(slot.word[0]).load(std::memory_order_acquire);
    if (copy.word[0] != seq) return copy.word[0] > seq ? Found::another : Found::nothing_yet;
    for (int i = 1; i < TelemetrySlot::words; ++i) {
      copy.word[i] = std::atomic_ref(slot.word[i]).load(std::memory_order_acquire);
    }
    // Every load above comes before this one: it acquires.
    if (std::atomic_ref(slot.word[0]).load(std::memory_order_relaxed) != seq) return Found::another;
    value = std::bit_cast<TelemetryRecord>(copy);
    return Found::record;
  }
};

/// An improvement of the best of all replicas, as the device hands it to the host.
struct IncumbentEntry {
  std::uint64_t step;    ///< sweeps of each replica at the end of the tick that found it
  double energy;         ///< stored units
  std::int32_t replica;  ///< the first that has it; -1: there is none
  std::int32_t group;
  std::int32_t rung;  ///< where that replica is a tick later, or at the end of the epoch
  std::int32_t reserved;
};

/// What the device leaves for the host beside the ring: how far it has come, and the log of
/// improvements. The host takes entries with each summary that it waits for; a chunk of ticks has
/// at most max_epochs epochs and two chunks are under way. An epoch hands over one improvement, and
/// those that AdvanceTick has noted: of 2^20 ticks from the first on that is less than 400. So none
/// is overwritten.
struct TelemetryMailbox {
  static constexpr std::uint64_t max_epochs = 256;           ///< of a chunk of ticks
  static constexpr std::uint64_t capacity = 4 * max_epochs;  ///< entries of the log

  std::uint64_t epochs;      ///< complete
  std::uint64_t incumbents;  ///< entries that the log has had
  IncumbentEntry now;        ///< of the last launch that only looked; replica -1: there is none
  IncumbentEntry log[capacity];
};

}  // namespace kiln
