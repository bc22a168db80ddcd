// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// The pairs of rungs that try to swap in one phase; they are always disjoint. L rungs.
enum class PairMode : std::uint8_t {
  even_odd,  ///< (0,1), (2,3), ... and (1,2), (3,4), ... in turn: nonreversible, so replicas drift
             ///< along the ladder instead of diffusing
  random_adjacent,  ///< one of the two sets, by a fair draw
  sequential,       ///< one pair (r, r + 1) after the other, r = phase mod (L - 1)
  all_pairs,        ///< the pairs of a random matching; of an odd number one is left out
};

/// Whether a call of the kernel is a swap phase.
enum class CadenceKind : std::uint8_t {
  fixed,       ///< every `interval` calls
  adaptive,    ///< the same, the interval follows the acceptance rate until `burn_in`
  stochastic,  ///< with `probability`, drawn anew at each call
};

/// The cadence rule; its adaptive state is in SwapLadder.
struct SwapCadence {
  CadenceKind kind = CadenceKind::fixed;
  double interval = 1;        ///< calls between phases, at the start; >= 1
  double least = 1;           ///< adaptive: bounds of the interval
  double most = 64;           ///< ...
  double target = 0.23;       ///< adaptive: acceptance rate aimed at
  double factor = 1.25;       ///< adaptive: factor by which the interval is multiplied or divided
  std::int64_t window = 20;   ///< adaptive: phases between two checks of the rate
  std::uint64_t burn_in = 0;  ///< adaptive: first step at which the interval is frozen
  double probability = 1;     ///< stochastic
};

/// The state of one ladder from phase to phase.
struct SwapLadder {
  double interval = 1;
  std::uint64_t waited = 0;  ///< calls since the last phase
  std::uint64_t phases = 0;
  std::int64_t in_window = 0;  ///< phases since the last check
  std::uint64_t attempts = 0;  ///< in the window
  std::uint64_t accepted = 0;  ///< ...
};

/// The pairs of one phase. Pair p < size is (first + 2 p, first + 2 p + 1); with
/// PairMode::all_pairs these are places in the matching.
struct SwapPhase {
  std::int32_t first = 0;
  std::int32_t size = 0;
  bool due = false;  ///< a phase is due, perhaps without pairs (two rungs, every second time)
};

/// Counts of the swaps of all ladders, in integers. Neighbouring rungs only.
struct SwapCounts {
  View1<std::uint64_t> attempts;  ///< [rungs - 1], pair (r, r + 1)
  View1<std::uint64_t> accepted;  ///< [rungs - 1]
  View1<std::uint64_t> chance;  ///< [rungs - 1], sum of acceptance probabilities in units of 2^-24
  View1<std::uint64_t> totals;  ///< [2]: swap phases, round trips
};

/// What a swap phase of blocks of 32 ladders (LadderPlaces) changes beside the counts. All are
/// overwritten in each phase that is active.
struct SwapBlocks {
  View1<double> energy;  ///< [slots], those of ReplicaSwap, exchanged
  /// [rung numbers], at the lower rung of each pair: the ladders of the block that swap, a bit
  /// each.
  View1<std::uint32_t> swapping;
  /// [rung numbers], for all_pairs: the upper rung of the pair, where `swapping` is not 0; else
  /// empty.
  View1<std::int32_t> partner;
};

/// The end of its ladder that a replica visited last.
enum class LadderEnd : std::uint32_t { none = 0, hot = 1, cold = 2 };

/// Number of 32-bit words that swap the replicas of two rungs: floor(2^32 P),
/// P = min(1, exp((beta_a - beta_b) (E_a - E_b))), in double.
///
/// Equal betas or equal energies always swap. One infinite energy always moves to the hotter rung
/// and never to the colder one; two never swap. beta may be infinite. A NaN swaps nothing.
KILN_HD inline std::uint64_t swap_threshold(double beta_a, double beta_b, double energy_a,
                                            double energy_b, double inverse_scale) {
  if (beta_a != beta_a || beta_b != beta_b || energy_a != energy_a || energy_b != energy_b)
    return 0;
  const double most = exact::infinity();
  const bool none_finite =
      (energy_a == most || energy_a == -most) && (energy_b == most || energy_b == -most);
  if (none_finite) return 0;
  if (beta_a == beta_b || energy_a == energy_b) return 0x100000000ull;
  const double difference = exact::mul(exact::sub(beta_a, beta_b), inverse_scale);
  return exact::accept_threshold(-exact::mul(difference, exact::sub(energy_a, energy_b)));
}

/// The threshold for rungs with different Hamiltonians: E_i = A + lambda_i B on rung i, so that
/// four energies decide:
///
///     P = min(1, exp(-beta_a (E_a(x_b) - E_a(x_a)) - beta_b (E_b(x_a) - E_b(x_b))))
///       = min(1, exp((beta_a - beta_b) (A_a - A_b)
///                    + (beta_a lambda_a - beta_b lambda_b) (B_a - B_b)))
///
/// for x_a, x_b the states on rungs a and b and A_a = A(x_a), ... Equal rungs and equal energies
/// always swap; a rung of infinite beta decides by the sign of its change, the other one at a tie;
/// a NaN swaps nothing. If lambda is the same for both, this is the rule above for E = A + lambda B
/// up to rounding.
struct FamilyRung {
  double beta, lambda;  ///< of the rung
  double base, term;    ///< A and B of the state at the rung
};
KILN_HD inline std::uint64_t family_swap_threshold(const FamilyRung& a, const FamilyRung& b,
                                                   double inverse_scale) {
  const double base = exact::sub(a.base, b.base), term = exact::sub(a.term, b.term);
  if (base != base || term != term) return 0;
  if (base == 0.0 && term == 0.0) return 0x100000000ull;
  if (a.beta == b.beta && a.lambda == b.lambda) return 0x100000000ull;
  const bool cold_a = a.beta == exact::infinity(), cold_b = b.beta == exact::infinity();
  if (cold_a || cold_b) {
    // The difference that the exchange makes to the energies of rungs a and b.
    const double of_a = exact::add(base, exact::mul(a.lambda, term));
    const double of_b = exact::add(base, exact::mul(b.lambda, term));
    const double rise = exact::sub(cold_b ? of_b : 0.0, cold_a ? of_a : 0.0);
    if (rise != 0.0) return rise < 0.0 ? 0x100000000ull : 0;
    if (cold_a && cold_b) return 0x100000000ull;
    const double other = cold_a ? exact::mul(b.beta, of_b) : -exact::mul(a.beta, of_a);
    return exact::accept_threshold(exact::mul(other, inverse_scale));
  }
  const double of_base = exact::mul(exact::sub(a.beta, b.beta), base);
  const double difference = exact::sub(exact::mul(a.beta, a.lambda), exact::mul(b.beta, b.lambda));
  const double gain = exact::mul(exact::add(of_base, exact::mul(difference, term)), inverse_scale);
  return exact::accept_threshold(-gain);
}

/// Energies of A and B and the lambda of each rung, if rungs have different Hamiltonians; all empty
/// if they differ in temperature alone.
struct FamilyEnergies {
  View1<const double> base;       ///< [slots], stored units
  View1<const double> term;       ///< [slots], stored units
  View1<const double> parameter;  ///< [rung numbers]

  KILN_HD explicit operator bool() const { return static_cast<bool>(parameter); }
  KILN_HD std::uint64_t threshold(const View1<const double>& beta, std::int64_t rung_a,
                                  std::int64_t rung_b, std::int64_t slot_a, std::int64_t slot_b,
                                  double inverse_scale) const {
    return family_swap_threshold({beta[rung_a], parameter[rung_a], base[slot_a], term[slot_a]},
                                 {beta[rung_b], parameter[rung_b], base[slot_b], term[slot_b]},
                                 inverse_scale);
  }
};

/// One exchange phase of many ladders: replicas swap neighbouring temperatures.
///
/// A group of the batch is a ladder of `rungs` rungs, with optional further replicas (WalkerSwap),
/// or a block of 32 ladders (LadderPlaces), r = 0 the hottest rung. A pair swaps if r <
/// swap_threshold(...), r the word (LadderPlaces::name_of(ladder), index: the lower rung of the
/// pair). Draw blocks 1, 2 and 3 have the parity of random_adjacent, the cadence of
/// CadenceKind::stochastic and the matching of all_pairs: rungs are ordered by their words (ties by
/// number), places 2p and 2p + 1 form a pair. All ladders of a block have the matching of its first
/// one. The step is that of the last sweep of the tick; a truncated tick has no phase.
///
/// Ladders that lie one by one exchange rung numbers: states never move, the numbers of two slots
/// are exchanged in rung_of, and slot_of is its inverse (padding slots are in rung_of only). In
/// blocks slots keep their rungs: energies, ends and round trips of the two slots are exchanged,
/// and WordSwap, launched next, exchanges the states.
///
/// Class E: counts are sums of integers, so their order does not matter. At most 1024 rungs.
/// @par Source  Geyer (1991); Hukushima, Nemoto, J. Phys. Soc. Japan 65 (1996) 1604; deterministic
/// even-odd: Okabe et al., Chem. Phys. Lett. 335 (2001) 435, Syed et al., J. R. Stat. Soc. B 84
/// (2022) 321.
struct KILN_API ReplicaSwap {
  static constexpr const char* name = "replica_swap";
  static constexpr const char* summary =
      "makes one swap phase of all ladders: tries to swap the rung numbers of pairs of replicas";
  static constexpr std::int64_t max_rungs = 1024;
  static constexpr int chance_bits = 24;

  View1<const double> energy;        ///< [slots], stored units
  View1<const double> beta;          ///< [rung numbers], 1/energy in the user's units
  View1<std::int32_t> rung_of;       ///< [slots]; not read in blocks
  View1<std::int32_t> slot_of;       ///< [rung numbers]; not read in blocks
  View1<SwapLadder> ladders;         ///< [ladders]
  View1<LadderEnd> last_end;         ///< [slots]
  View1<std::uint32_t> round_trips;  ///< [slots], hot to cold to hot again
  SwapCounts counts;
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::int64_t rungs = 1;
  PairMode mode = PairMode::even_odd;
  SwapCadence cadence;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;     ///< 1 / (stored energy per unit of the user's energy)
  FamilyEnergies family = {};   ///< empty: rungs differ in temperature alone
  std::int64_t group_size = 0;  ///< places of a group; 0: `rungs`
  SwapBlocks blocks = {};       ///< empty: ladders lie one by one

  /// Of a phase that is due and swaps no pair.
  double bytes() const {
    return bytes_of(energy) + bytes_of(beta) + 2 * bytes_of(ladders) +
           (in_blocks() ? bytes_of(blocks.swapping) : bytes_of(slot_of));
  }
  KILN_HD bool in_blocks() const { return static_cast<bool>(blocks.swapping); }
  KILN_HD LadderPlaces places() const {
    return {in_blocks() ? ladders.size / ladders_of_block : ladders.size, rungs,
            group_size > rungs ? group_size - rungs : 0, in_blocks()};
  }
  /// The slot whose replica is at a rung of a ladder.
  KILN_HD std::int32_t slot_at(std::int64_t ladder, std::int64_t rung) const {
    const LadderPlaces all = places();
    return in_blocks() ? static_cast<std::int32_t>(all.home_of(ladder, rung))
                       : slot_of[all.number_at(ladder, rung)];
  }
  /// Number within the tick of its last sweep.
  KILN_HD std::uint64_t last_sweep() const {
    return (control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) - 1;
  }
  KILN_HD DrawName name_of(std::int64_t ladder, std::uint8_t block) const {
    return places().name_of(draw_ids, ladder, control->step + last_sweep(), block);
  }
  /// Orders the rungs of a ladder for all_pairs.
  KILN_HD std::uint32_t matching_word(std::int64_t ladder, std::int64_t rung) const {
    const std::int64_t first = ladder - places().lane_of(ladder);
    return draw_word(name_of(first, 3), static_cast<std::uint32_t>(rung));
  }

  /// Counts a call of a ladder, or begins a phase.
  KILN_HD SwapPhase begin(std::int64_t ladder) const {
    SwapLadder state = ladders[ladder];
    const SwapPhase phase = begin(ladder, state);
    ladders[ladder] = state;
    return phase;
  }
  /// The same in a copy of the ladder's state.
  KILN_HD SwapPhase begin(std::int64_t ladder, SwapLadder& state) const {
    ++state.waited;
    const bool is_due = rungs >= 2 && due(state, ladder);
    const std::uint64_t phase = state.phases;
    if (is_due) {
      state.waited = 0;
      ++state.phases;
    }
    if (!is_due) return {};
    const auto n = static_cast<std::int32_t>(rungs);
    switch (mode) {
      case PairMode::even_odd:
        return adjacent(static_cast<std::int32_t>(phase % 2));
      case PairMode::random_adjacent:
        return adjacent(static_cast<std::int32_t>(draw_word(name_of(ladder, 1), 0) >> 31));
      case PairMode::sequential:
        return {static_cast<std::int32_t>(phase % static_cast<std::uint64_t>(n - 1)), 1, true};
      case PairMode::all_pairs:
        break;
    }
    return {0, n / 2, true};
  }

  /// Tries the pair of rungs a and b of a ladder; returns the threshold, and whether they swapped.
  KILN_HD std::uint64_t try_pair(std::int64_t ladder, std::int32_t a, std::int32_t b,
                                 bool& swapped) const {
    const LadderPlaces all = places();
    const std::int64_t rung_a = all.number_at(ladder, a), rung_b = all.number_at(ladder, b);
    const std::int32_t slot_a = slot_at(ladder, a), slot_b = slot_at(ladder, b);
    const std::uint64_t threshold =
        family ? family.threshold(beta, rung_a, rung_b, slot_a, slot_b, inverse_scale)
               : swap_threshold(beta[rung_a], beta[rung_b], energy[slot_a], energy[slot_b],
                                inverse_scale);
    const auto lower = static_cast<std::uint32_t>(a < b ? a : b);
    swapped = pair_word(ladder, lower) < threshold;
    if (swapped && in_blocks()) {
      exchange(slot_a, slot_b);
    } else if (swapped) {
      rung_of[slot_a] = static_cast<std::int32_t>(rung_b);
      rung_of[slot_b] = static_cast<std::int32_t>(rung_a);
      slot_of[rung_a] = slot_b;
      slot_of[rung_b] = slot_a;
    }
    return threshold;
  }

  /// The word of a pair: it swaps if this is below its threshold.
  KILN_HD std::uint32_t pair_word(std::int64_t ladder, std::uint32_t lower) const {
    return draw_word(name_of(ladder, 0), lower);
  }
  /// Notes that a replica is at the hot end of its ladder; returns the completed round trips.
  KILN_HD static std::uint32_t reach_hot(LadderEnd& end) {
    const std::uint32_t trips = end == LadderEnd::cold ? 1u : 0u;
    end = LadderEnd::hot;
    return trips;
  }
  /// Notes that a replica is at the cold end. Only one from the hot end can complete a trip.
  KILN_HD static void reach_cold(LadderEnd& end) {
    if (end == LadderEnd::hot) end = LadderEnd::cold;
  }

  /// Ends a phase of a ladder: records the replicas at its ends and returns the completed round
  /// trips (0 or 1).
  KILN_HD std::uint32_t end(std::int64_t ladder, std::uint32_t attempts,
                            std::uint32_t accepted) const {
    adapt(ladders[ladder], attempts, accepted);
    const std::int32_t hot = slot_at(ladder, 0), cold = slot_at(ladder, rungs - 1);
    LadderEnd of_hot = last_end[hot], of_cold = last_end[cold];
    const std::uint32_t trips = reach_hot(of_hot);
    reach_cold(of_cold);
    if (trips != 0) round_trips[hot] += trips;
    last_end[hot] = of_hot;
    last_end[cold] = of_cold;
    return trips;
  }

 private:
  KILN_HD SwapPhase adjacent(std::int32_t first) const {
    return {first, (static_cast<std::int32_t>(rungs) - first) / 2, true};
  }
  /// What moves between two slots of a block with a replica, but for its state.
  KILN_HD void exchange(std::int32_t a, std::int32_t b) const {
    const double energy_a = blocks.energy[a], energy_b = blocks.energy[b];
    const LadderEnd end_a = last_end[a], end_b = last_end[b];
    const std::uint32_t trips_a = round_trips[a], trips_b = round_trips[b];
    blocks.energy[a] = energy_b;
    blocks.energy[b] = energy_a;
    last_end[a] = end_b;
    last_end[b] = end_a;
    round_trips[a] = trips_b;
    round_trips[b] = trips_a;
  }
  KILN_HD bool due(const SwapLadder& state, std::int64_t ladder) const {
    if (cadence.kind == CadenceKind::stochastic) {
      const std::uint32_t word = draw_word(name_of(ladder, 2), 0);
      return static_cast<double>(word) < exact::mul(cadence.probability, 0x1p32);
    }
    // The adaptive interval is rounded to a whole number of calls.
    return static_cast<double>(state.waited) >= exact::sub(state.interval, 0.5);
  }
  KILN_HD void adapt(SwapLadder& state, std::uint32_t attempts, std::uint32_t accepted) const {
    if (cadence.kind != CadenceKind::adaptive || control->step >= cadence.burn_in) return;
    state.attempts += attempts;
    state.accepted += accepted;
    if (++state.in_window < cadence.window) return;
    const bool often = static_cast<double>(state.accepted) >
                       exact::mul(cadence.target, static_cast<double>(state.attempts));
    double interval = often ? exact::div(state.interval, cadence.factor)
                            : exact::mul(state.interval, cadence.factor);
    interval = interval < cadence.least ? cadence.least : interval;
    state.interval = interval > cadence.most ? cadence.most : interval;
    state.in_window = 0;
    state.attempts = state.accepted = 0;
  }
};

}  // namespace kiln
