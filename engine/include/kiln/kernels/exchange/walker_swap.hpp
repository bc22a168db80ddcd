// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Exchange counts of the walkers of a ladder.
struct WalkerCounts {
  std::uint64_t attempts = 0;
  std::uint64_t accepted = 0;
};

/// Exchanges states between annealing walkers and the ladder of their group.
///
/// A group is a ladder of `rungs` rungs and `walkers` further replicas, whose beta another kernel
/// changes. Rungs have the numbers of ReplicaSwap; walker w of group g has the number groups *
/// rungs + g * walkers + w. Each walker in turn tries to exchange with the rung of its ladder that
/// is nearest in beta (the colder of two), by the rule of ReplicaSwap; the word is (key of the
/// group, RngDomain::swap, draw block 5, index: w). Rung numbers are exchanged, states stay. A
/// replica that leaves the ladder restarts its round trip.
///
/// It runs in every `interval`-th tick, counted in steps; a truncated tick has no exchange. An
/// energy below the best of a walker is recorded in best_rung as rungs + w: launch it before
/// TrackBest. Class E.
/// @par Source  The rule is that of replica exchange, see ReplicaSwap. A walker that is cooling is
/// not in equilibrium at its beta, so a ladder with walkers samples its distribution only
/// approximately.
struct KILN_API WalkerSwap {
  static constexpr const char* name = "walker_swap";
  static constexpr const char* summary =
      "tries to exchange each annealing walker with the replica at the rung nearest in beta";
  static constexpr std::uint8_t draw_block = 5;

  View1<const double> energy;       ///< [slots], stored units
  View1<const double> best_energy;  ///< [slots]
  View1<const double> beta;         ///< [groups * (rungs + walkers)]
  FamilyEnergies family;            ///< empty: they differ in temperature alone
  View1<std::int32_t> rung_of;      ///< [slots]
  View1<std::int32_t> slot_of;      ///< [groups * (rungs + walkers)]
  View1<std::int32_t> best_rung;    ///< [slots], within the group
  View1<LadderEnd> last_end;        ///< [slots]
  View1<WalkerCounts> counts;       ///< [groups]
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::int64_t rungs = 1;
  std::int64_t walkers = 0;
  std::uint32_t sweeps_per_tick = 1;
  std::uint32_t interval = 1;
  double inverse_scale = 1;

  KILN_HD std::uint64_t last_sweep() const {
    return (control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) - 1;
  }
  /// Counted in steps, so that a tick in two parts counts once.
  KILN_HD bool due() const {
    return (control->step + last_sweep() + 1) / sweeps_per_tick % interval == 0;
  }
  KILN_HD std::int64_t number_of(std::int64_t group, std::int64_t walker) const {
    return counts.size * rungs + group * walkers + walker;
  }
  /// The rung of a group nearest to a beta; the colder of two, the last of equal ones.
  KILN_HD std::int64_t nearest(std::int64_t group, double wanted) const {
    const std::int64_t first = group * rungs;
    std::int64_t best = first;
    double least = exact::infinity();
    for (std::int64_t r = first; r < first + rungs; ++r) {
      const double difference = exact::sub(beta[r], wanted);
      const double distance = difference < 0.0 ? -difference : difference;
      if (distance > least) continue;
      least = distance;
      best = r;
    }
    return best;
  }

  /// Exchanges all walkers of a group.
  KILN_HD void operator()(std::int64_t group) const {
    if (!control->active(last_sweep())) return;
    for (std::int64_t w = 0; w < walkers; ++w) {
      const std::int32_t slot = slot_of[number_of(group, w)];
      if (energy[slot] < best_energy[slot]) best_rung[slot] = static_cast<std::int32_t>(rungs + w);
    }
    if (!due()) return;
    const DrawName draws{draw_ids.key[group * (rungs + walkers)], control->step + last_sweep(), 0,
                         RngDomain::swap, draw_block};
    for (std::int64_t w = 0; w < walkers; ++w) try_walker(group, w, draws);
    counts[group].attempts += static_cast<std::uint64_t>(walkers);
  }

 private:
  KILN_HD void try_walker(std::int64_t group, std::int64_t walker, const DrawName& draws) const {
    const std::int64_t number = number_of(group, walker);
    const std::int64_t rung = nearest(group, beta[number]);
    const std::int32_t here = slot_of[number], there = slot_of[rung];
    const std::uint64_t threshold =
        family
            ? family.threshold(beta, number, rung, here, there, inverse_scale)
            : swap_threshold(beta[number], beta[rung], energy[here], energy[there], inverse_scale);
    if (draw_word(draws, static_cast<std::uint32_t>(walker)) >= threshold) return;
    rung_of[here] = static_cast<std::int32_t>(rung);
    rung_of[there] = static_cast<std::int32_t>(number);
    slot_of[rung] = here;
    slot_of[number] = there;
    last_end[there] = LadderEnd::none;
    ++counts[group].accepted;
  }
};

}  // namespace kiln
