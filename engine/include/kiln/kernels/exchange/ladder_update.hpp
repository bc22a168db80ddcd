// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"

namespace kiln {

/// Progress of the adaptation of a ladder. All rounds and the rest together are the burn-in; the
/// counts of a round are discarded at its end.
struct LadderPlan {
  std::int64_t rounds_left = 0;  ///< 0: frozen, everything counts
  std::int64_t round_calls = 1;  ///< length of this round; the next is twice as long
  std::int64_t calls = 0;        ///< in this round
  std::int64_t moves = 1;        ///< 0: temperatures are not changed
  /// Calls of the burn-in after the rounds: a last round of this length moves nothing.
  std::int64_t rest = 0;
};

/// Ends a round of adaptation when it is due: places the temperatures at equal steps of the
/// communication barrier and resets the counts.
///
/// With r_i = 1 - mean acceptance probability of the pair (i, i + 1) (at least 2^-13),
/// Lambda(beta_i) = r_0 + ... + r_{i-1} is interpolated between the rungs by the monotone cubic of
/// Fritsch and Carlson (slopes: means of the neighbouring secants, at the ends the secant, then
/// limited). Rung k moves to Lambda(beta) = k / (L - 1) of the whole, by 52 bisections; both ends
/// are fixed. A round in which a pair was never tried, or two rungs have equal beta, moves nothing.
///
/// Class E (exact arithmetic in a fixed order).
/// @par Source  Syed, Bouchard-Cote, Deligiannidis, Doucet, J. R. Stat. Soc. B 84 (2022) 321;
/// Fritsch, Carlson, SIAM J. Numer. Anal. 17 (1980) 238.
struct KILN_API LadderUpdate {
  static constexpr const char* name = "ladder_update";
  static constexpr const char* summary =
      "ends a round of adaptation: places temperatures at equal steps of the communication barrier";

  View1<LadderPlan> plan;  ///< [1]
  View1<double> beta;      ///< [rung numbers], the same for every ladder
  View1<RungSums> sums;    ///< [rungs], reset
  SwapCounts counts;       ///< reset
  View1<double> barrier;   ///< [rungs], scratch: Lambda at each rung
  View1<double> slope;     ///< [rungs], scratch
  View1<double> fresh;     ///< [rungs], scratch: the new temperatures
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;
  View1<RungCell> cells = {};  ///< [rungs * LadderStatistics::cells_of_rung], reset; may be empty

  KILN_HD std::int64_t rungs() const { return sums.size; }

  /// Whether the call counts.
  KILN_HD bool counts_call() const {
    const std::uint64_t last =
        (control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) - 1;
    return control->active(last) && plan[0].rounds_left != 0;
  }
  /// Whether a call would end a round.
  KILN_HD bool ends_round() const {
    return counts_call() && plan[0].calls + 1 >= plan[0].round_calls;
  }
  /// Counts a call; true if it ends a round.
  KILN_HD bool due() const { return counts_call() && ++plan[0].calls >= plan[0].round_calls; }
  /// Computes barrier and slopes at the rungs; false if no temperature moves.
  KILN_HD bool prepare() const {
    if (plan[0].moves == 0 || rungs() < 3) return false;
    barrier[0] = 0.0;
    for (std::int64_t i = 0; i + 1 < rungs(); ++i) {
      if (counts.attempts[i] == 0 || !(beta[i] < beta[i + 1])) return false;
      barrier[i + 1] = exact::add(barrier[i], rejection(i));
    }
    slope[0] = secant(0);
    slope[rungs() - 1] = secant(rungs() - 2);
    for (std::int64_t i = 1; i + 1 < rungs(); ++i) {
      slope[i] = exact::mul(0.5, exact::add(secant(i - 1), secant(i)));
    }
    for (std::int64_t i = 0; i + 1 < rungs(); ++i) limit(i);
    return true;
  }
  /// The new temperature of a rung, from those in `beta`.
  KILN_HD void place(std::int64_t rung, bool moves) const {
    const std::int64_t last = rungs() - 1;
    fresh[rung] = beta[rung];
    if (!moves || rung == 0 || rung == last) return;
    const double share = exact::div(static_cast<double>(rung), static_cast<double>(last));
    const double wanted = exact::mul(barrier[last], share);
    std::int64_t i = 0;
    while (i + 1 < last && barrier[i + 1] <= wanted) ++i;
    double low = 0.0, high = 1.0;
    for (int step = 0; step < 52; ++step) {
      const double middle = exact::mul(0.5, exact::add(low, high));
      (between(i, middle) <= wanted ? low : high) = middle;
    }
    fresh[rung] = exact::add(beta[i], exact::mul(width(i), low));
  }
  /// Element i of `beta`, once all rungs are placed.
  KILN_HD void spread(std::int64_t i) const { beta[i] = fresh[i % rungs()]; }
  /// Resets the counts of a rung, and for rung 0 ends the round.
  KILN_HD void reset(std::int64_t rung) const {
    RungSums none;
    none.best = sums[rung].best;  // covers the whole run
    sums[rung] = none;
    const std::int64_t of_rung = cells.size / rungs();
    for (std::int64_t i = rung * of_rung; i < (rung + 1) * of_rung; ++i) cells[i] = RungCell{};
    if (rung + 1 < rungs()) {
      counts.attempts[rung] = counts.accepted[rung] = counts.chance[rung] = 0;
    }
    if (rung != 0) return;
    counts.totals[0] = counts.totals[1] = 0;
    plan[0].calls = 0;
    plan[0].round_calls *= 2;
    if (--plan[0].rounds_left > 0 || plan[0].rest == 0) return;
    plan[0].rounds_left = 1;
    plan[0].round_calls = plan[0].rest;
    plan[0].moves = plan[0].rest = 0;
  }

 private:
  KILN_HD double rejection(std::int64_t i) const {
    const double tried = exact::mul(static_cast<double>(counts.attempts[i]), 0x1p24);
    const double r = exact::sub(1.0, exact::div(static_cast<double>(counts.chance[i]), tried));
    return r < 0x1p-13 ? 0x1p-13 : r;
  }
  KILN_HD double width(std::int64_t i) const { return exact::sub(beta[i + 1], beta[i]); }
  KILN_HD double rise(std::int64_t i) const { return exact::sub(barrier[i + 1], barrier[i]); }
  KILN_HD double secant(std::int64_t i) const { return exact::div(rise(i), width(i)); }

  // Keeps the slopes at both ends of an interval within the circle in which the cubic is monotone.
  KILN_HD void limit(std::int64_t i) const {
    const double d = secant(i);
    const double a = exact::div(slope[i], d), b = exact::div(slope[i + 1], d);
    const double square = exact::add(exact::mul(a, a), exact::mul(b, b));
    if (!(square > 9.0)) return;
    const double scale = exact::div(exact::mul(3.0, d), exact::sqrt(square));
    slope[i] = exact::mul(scale, a);
    slope[i + 1] = exact::mul(scale, b);
  }
  // The cubic on interval i at t = 0 .. 1, in Horner's form.
  KILN_HD double between(std::int64_t i, double t) const {
    const double y = rise(i);
    const double left = exact::mul(slope[i], width(i)), right = exact::mul(slope[i + 1], width(i));
    const double cubic = exact::sub(exact::add(left, right), exact::mul(2.0, y));
    const double square = exact::sub(exact::sub(exact::mul(3.0, y), exact::mul(2.0, left)), right);
    double value = exact::add(square, exact::mul(t, cubic));
    value = exact::add(left, exact::mul(t, value));
    return exact::add(barrier[i], exact::mul(t, value));
  }
};

}  // namespace kiln
