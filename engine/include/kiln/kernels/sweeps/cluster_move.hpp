// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rng_domains.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// Makes isoenergetic cluster moves between pairs of replicas at equal temperature.
///
/// Ladders 2 k and 2 k + 1 are partners, rung by rung. One of the sites at which two replicas s and
/// t differ is drawn (word: LadderPlaces::name_of(ladder 2 k), draw block 4, index: the rung; in
/// the order of sites), and its connected component of differing sites in the coupling graph is
/// flipped in both. E(s) + E(t) is conserved, so the move needs no decision. In a model without
/// fields (`symmetric`) the agreeing sites are used if they are fewer, which is the same move after
/// flipping one replica as a whole. A cluster that is the whole model is left alone.
///
/// Energies are unchanged: `moved` flags the rung numbers to evaluate again, in blocks of 32
/// ladders (LadderPlaces) all slots of a word in which one has moved. If clusters percolate the
/// move has a cost and no effect: until step `burn_in` a rung with 32 moves or more is closed when
/// its mean cluster exceeds three eighths of the variables; later no statistics are read any more.
///
/// The move is made after every `interval`-th tick, at the beginning of the next one. Class E. At
/// most max_sites sites.
/// @par Source  Houdayer, Eur. Phys. J. B 22 (2001) 479; Zhu, Ochoa, Katzgraber, Phys. Rev. Lett.
/// 115 (2015) 077201.
struct KILN_API ClusterMove {
  static constexpr const char* name = "cluster_move";
  static constexpr const char* summary =
      "flips, in two replicas at equal temperature, a cluster of spins in which the replicas "
      "differ";
  static constexpr std::int32_t max_sites = 65536;
  static constexpr std::uint64_t enough_moves = 32;

  PairwiseView model;
  View2<std::uint32_t> state;         ///< packed32 [variable][word], updated in place
  View1<const std::int32_t> slot_of;  ///< [rung numbers]; not read in blocks
  View1<std::uint32_t> moved;         ///< [rung numbers], overwritten
  View1<std::uint32_t> open;          ///< [rungs], 0: closed
  View1<std::uint64_t> moves;         ///< [rungs]
  View1<std::uint64_t> sizes;         ///< [rungs], sites flipped in one of the two replicas
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint64_t burn_in = 0;
  std::uint32_t sweeps_per_tick = 1;
  std::uint32_t interval = 1;
  bool symmetric = false;
  bool in_blocks = false;  ///< ladders lie in blocks of 32 (LadderPlaces)

  KILN_HD std::int64_t rungs() const { return open.size; }
  KILN_HD LadderPlaces places() const { return {moved.size / rungs(), rungs(), 0, in_blocks}; }
  KILN_HD std::int64_t ladders() const { return places().ladders(); }
  KILN_HD std::int64_t number_at(std::int64_t ladder, std::int64_t rung) const {
    return places().number_at(ladder, rung);
  }
  /// The slot whose replica is at a rung of a ladder.
  KILN_HD std::int32_t slot_at(std::int64_t ladder, std::int64_t rung) const {
    return in_blocks ? static_cast<std::int32_t>(places().home_of(ladder, rung))
                     : slot_of[number_at(ladder, rung)];
  }
  /// Whether this tick has the move. The second part of a tick that was cut in two has none.
  KILN_HD bool due() const {
    const bool whole = control->tick_sweeps == 0 || control->tick_sweeps == sweeps_per_tick;
    const std::uint64_t ticks = control->step / sweeps_per_tick;
    return whole && control->active(0) && ticks > 0 && ticks % interval == 0;
  }
  /// Opens or closes a rung, before the moves of a tick.
  KILN_HD void decide(std::int64_t rung) const {
    if (control->step >= burn_in || moves[rung] < enough_moves) return;
    const auto n = static_cast<std::uint64_t>(model.n_variables);
    // Without fields at most half the sites are candidates, and nearly all of them join if clusters
    // percolate; on cold planar models the mean stays below a third.
    if (8 * sizes[rung] > 3 * moves[rung] * n) open[rung] = 0;
  }
  /// Index among `differing` sites, in site order, of the site that seeds the cluster of a pair.
  KILN_HD std::uint32_t seed_of(std::int64_t pair, std::int64_t rung,
                                std::uint32_t differing) const {
    const DrawName draws = places().name_of(draw_ids, 2 * pair, control->step, 4);
    return below(draw_word(draws, static_cast<std::uint32_t>(rung)), differing);
  }
};

}  // namespace kiln
