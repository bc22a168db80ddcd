// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Ladders of a block.
inline constexpr std::int64_t ladders_of_block = 32;

/// Where the replicas of ladders of `rungs` rungs and `walkers` further replicas lie, and under
/// which names they draw.
///
/// A group of the batch is a ladder, or a block of 32 ladders. It has a place for each rung and for
/// each walker, rungs first; a place has a slot for each ladder of the group, so places of blocks
/// are words of 32 slots. Rung r of group g has the number g * rungs + r; the walkers of all groups
/// are numbered after all rungs. Temperatures are indexed by these numbers. The home of rung r of a
/// ladder is its slot in that place. In blocks each slot keeps its rung.
///
/// All draws of a group have its key. A draw of a ladder (exchange, cluster moves) has as replica
/// the number of the ladder within the group.
struct LadderPlaces {
  std::int64_t groups = 0;
  std::int64_t rungs = 1;
  std::int64_t walkers = 0;
  bool in_blocks = false;  ///< a group is a block of 32 ladders

  KILN_HD std::int64_t lanes() const { return in_blocks ? ladders_of_block : 1; }
  KILN_HD std::int64_t ladders() const { return groups * lanes(); }
  /// Places of a group.
  KILN_HD std::int64_t group_size() const { return rungs + walkers; }
  /// Numbers of all groups.
  KILN_HD std::int64_t size() const { return groups * group_size(); }
  KILN_HD std::int64_t slots() const { return size() * lanes(); }
  KILN_HD std::int64_t group_of(std::int64_t ladder) const {
    return in_blocks ? ladder / ladders_of_block : ladder;
  }
  /// Of a ladder within its group.
  KILN_HD std::int64_t lane_of(std::int64_t ladder) const {
    return in_blocks ? ladder % ladders_of_block : 0;
  }
  /// The number whose home is `slot`, slot < slots().
  KILN_HD std::int64_t number_of(std::int64_t slot) const {
    const std::int64_t place = in_blocks ? slot / ladders_of_block : slot;
    const std::int64_t group = place / group_size(), k = place % group_size();
    return k < rungs ? group * rungs + k : groups * rungs + group * walkers + k - rungs;
  }
  /// The number of a rung of a ladder.
  KILN_HD std::int64_t number_at(std::int64_t ladder, std::int64_t rung) const {
    return group_of(ladder) * rungs + rung;
  }
  KILN_HD std::int64_t home_of(std::int64_t ladder, std::int64_t rung) const {
    return (group_of(ladder) * group_size() + rung) * lanes() + lane_of(ladder);
  }
  /// The name of a draw of a ladder.
  KILN_HD DrawName name_of(const DrawIds& ids, std::int64_t ladder, std::uint64_t step,
                           std::uint8_t block) const {
    return DrawName{ids.key[group_of(ladder) * group_size() * lanes()], step,
                    static_cast<std::uint32_t>(lane_of(ladder)), RngDomain::swap, block};
  }
};

}  // namespace kiln
