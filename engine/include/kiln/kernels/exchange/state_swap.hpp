// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/slot_array.hpp"

namespace kiln {

/// How the groups of a batch are divided into ladders of `rungs` rungs and `walkers` replicas
/// beside them, and which slot is the home of which number: slot k of a group is that of rung k,
/// then the walkers follow. Rung r of group g has the number g * rungs + r; the walkers of all
/// groups are counted after all rungs.
struct LadderPlaces {
  std::int64_t groups = 0;
  std::int64_t rungs = 1;
  std::int64_t walkers = 0;

  KILN_HD std::int64_t group_size() const { return rungs + walkers; }
  KILN_HD std::int64_t size() const { return groups * group_size(); }
  /// The number whose home a slot is, slot < size().
  KILN_HD std::int64_t number_of(std::int64_t slot) const {
    const std::int64_t group = slot / group_size(), k = slot % group_size();
    return k < rungs ? group * rungs + k : groups * rungs + group * walkers + k - rungs;
  }
};

/// Where the lanes of a word of 32 slots get their bits from: masks for the neighbours, which are
/// nearly all where neighbouring rungs exchange, and for the rest.
struct WordMoves {
  std::uint32_t next = 0;   ///< lanes that take the bit of the slot behind them
  std::uint32_t last = 0;   ///< lanes that take the bit of the slot before them
  std::uint32_t other = 0;  ///< lanes that take a bit from farther away

  KILN_HD std::uint32_t all() const { return next | last | other; }
};

/// Exchange by state: brings every replica to the home slot of the rung where it stands.
///
/// ReplicaSwap and WalkerSwap decide and exchange rung numbers; this kernel, launched after them,
/// undoes that and moves the replicas instead: slot h, the home of number m, gets what slot
/// slot_of[m] holds, in every one of `arrays`, and then rung_of[h] = m and slot_of[m] = h again. So
/// slots keep their rungs. Replicas move within their group only. Whatever belongs to a replica
/// must be among the arrays: states, energies, best states, counts, and the number under which its
/// sweeps draw; then the answer has the bits of exchange by index.
///
/// Any permutation within a group will do, but neighbours that change places are cheap: in packed
/// arrays that is a shift and a mask. Bits of a word are exchanged without touching the others.
/// Slots behind the last group stay. Class E. A group has at most max_group_size slots, an array
/// as many slots as rung_of.
/// @par Source  None: it is an exchange of values.
struct KILN_API StateSwap {
  static constexpr const char* name = "state_swap";
  static constexpr const char* summary =
      "exchange by state: brings every replica to the slot of its rung, so that slots keep theirs";
  static constexpr int max_arrays = 40;
  static constexpr std::int64_t max_group_size = 2048;

  SlotArray arrays[max_arrays];
  std::int32_t n_arrays = 0;
  View1<std::int32_t> rung_of;  ///< [slots]
  View1<std::int32_t> slot_of;  ///< [places.size()], numbers
  LadderPlaces places;
  const RunControl* control = nullptr;  ///< nothing is done once stopped

  /// The slot whose replica belongs at `slot`.
  KILN_HD std::int64_t source_of(std::int64_t slot) const {
    return slot < places.size() ? slot_of[places.number_of(slot)] : slot;
  }
  /// What changes in a word of a row of bits, to be combined with it by exclusive or.
  /// `source(slot)` is asked for lanes that take a bit from farther away.
  template <class Source>
  KILN_HD static std::uint32_t changes(const std::uint32_t* row, std::int64_t word,
                                       const WordMoves& moves, Source source) {
    const std::uint32_t now = row[word];
    std::uint32_t next = now >> 1, last = now << 1;
    // A neighbouring word is read only where one of its bits is wanted.
    if ((moves.next >> 31) != 0) next |= row[word + 1] << 31;
    if ((moves.last & 1u) != 0) last |= row[word - 1] >> 31;
    std::uint32_t fresh = (next & moves.next) | (last & moves.last);
    for (std::uint32_t lane = 0; (moves.other >> lane) != 0; ++lane) {
      if (((moves.other >> lane) & 1u) == 0) continue;
      const std::int64_t from = source(32 * word + lane);
      fresh |= ((row[from / 32] >> (from % 32)) & 1u) << lane;
      if (lane == 31) break;  // a shift by 32 is none
    }
    return (now ^ fresh) & moves.all();
  }
  /// Last of all: the slot has its own rung again.
  KILN_HD void settle(std::int64_t slot) const {
    const std::int64_t number = places.number_of(slot);
    rung_of[slot] = static_cast<std::int32_t>(number);
    slot_of[number] = static_cast<std::int32_t>(slot);
  }
};

}  // namespace kiln
