// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/kernels/run/slot_array.hpp"

namespace kiln {

/// The sources of the bits of a word of 32 slots: masks for the neighbours, which are nearly all
/// sources when neighbouring rungs exchange, and for the rest.
struct WordMoves {
  std::uint32_t next = 0;   ///< lanes that take the bit of the next slot
  std::uint32_t last = 0;   ///< lanes that take the bit of the previous slot
  std::uint32_t other = 0;  ///< lanes that take a more distant bit

  KILN_HD std::uint32_t all() const { return next | last | other; }
};

/// Exchange by state: moves every replica to the home slot of its rung.
///
/// ReplicaSwap and WalkerSwap decide and exchange rung numbers. This kernel, launched after them,
/// reverts the numbers and moves the replicas instead: slot h, the home of number m, receives the
/// values of slot slot_of[m] in every one of `arrays`; then rung_of[h] = m and slot_of[m] = h
/// again. So slots keep their rungs. Replicas move within their group only. The arrays must include
/// all values of a replica: states, energies, best states, counts, and the number under which its
/// sweeps draw; then the result has the bits of exchange by index.
///
/// Any permutation within a group is valid, but swaps of neighbours are cheap: in packed arrays
/// they are a shift and a mask. Bits of a word are exchanged without touching the others. Slots
/// after the last group are unchanged. Class E. A group has at most max_group_size slots, an array
/// as many slots as rung_of.
/// @par Source  None: it is an exchange of values.
struct KILN_API StateSwap {
  static constexpr const char* name = "state_swap";
  static constexpr const char* summary =
      "moves every replica into the slot of its rung, so that the rung of each slot stays fixed";
  static constexpr int max_arrays = 40;
  static constexpr std::int64_t max_group_size = 2048;

  SlotArray arrays[max_arrays];
  std::int32_t n_arrays = 0;
  View1<std::int32_t> rung_of;  ///< [slots]
  View1<std::int32_t> slot_of;  ///< [places.size()], numbers
  LadderPlaces places;
  const RunControl* control = nullptr;  ///< nothing is done once stopped

  /// No replica moves at least.
  double bytes() const { return bytes_of(rung_of) + bytes_of(slot_of); }
  /// The slot whose replica belongs at `slot`.
  KILN_HD std::int64_t source_of(std::int64_t slot) const {
    return slot < places.size() ? slot_of[places.number_of(slot)] : slot;
  }
  /// The change of a word of a row of bits, for an exclusive or. It calls `source(slot)` for lanes
  /// that take a more distant bit.
  template <class Source>
  KILN_HD static std::uint32_t changes(const std::uint32_t* row, std::int64_t word,
                                       const WordMoves& moves, Source source) {
    const std::uint32_t now = row[word];
    std::uint32_t next = now >> 1, last = now << 1;
    // Reads a neighbouring word only if one of its bits is needed.
    if ((moves.next >> 31) != 0) next |= row[word + 1] << 31;
    if ((moves.last & 1u) != 0) last |= row[word - 1] >> 31;
    std::uint32_t fresh = (next & moves.next) | (last & moves.last);
    for (std::uint32_t lane = 0; (moves.other >> lane) != 0; ++lane) {
      if (((moves.other >> lane) & 1u) == 0) continue;
      const std::int64_t from = source(32 * word + lane);
      fresh |= ((row[from / 32] >> (from % 32)) & 1u) << lane;
      if (lane == 31) break;  // avoids a shift by 32
    }
    return (now ^ fresh) & moves.all();
  }
  /// The last step: restores the rung of the slot.
  KILN_HD void settle(std::int64_t slot) const {
    const std::int64_t number = places.number_of(slot);
    rung_of[slot] = static_cast<std::int32_t>(number);
    slot_of[number] = static_cast<std::int32_t>(slot);
  }
};

}  // namespace kiln
