// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"

// A kernel that runs once in a while fetches every instruction from afar: what is long or rare is
// called, not copied to each place.
#if defined(__CUDACC__)
#define KILN_CALLED __noinline__
#else
#define KILN_CALLED
#endif

namespace kiln {

/// A sum of exponentials, value exp(scale), whose exponents may exceed the range of a double: value
/// stays within exp(+-350) times the number of terms, scale is a multiple of 700. It has no initial
/// values, because shared memory does not allow any.
struct ExpSum {
  double value, scale;

  static constexpr double step = 700;
  static constexpr double largest = 0x1p1000;  ///< larger exponents are clipped

  KILN_HD KILN_CALLED static ExpSum of(double x) {
#if !defined(__CUDA_ARCH__)
    // NaN has no integer: a device takes the least for it, a host has no answer (C++20, 7.3.11).
    if (x != x) return {x, 0.0};
#endif
    x = x > largest ? largest : x < -largest ? -largest : x;
    const double shifts = exact::div(x, step);
    // From 2^52 on every double is whole, and steps of x are longer than those of the scale.
    const double half = shifts < 0.0 ? -0.5 : 0.5;
    const bool whole = shifts > 0x1p50 || shifts < -0x1p50;
    const double count =
        whole ? shifts : static_cast<double>(static_cast<std::int64_t>(exact::add(shifts, half)));
    const double scale = exact::mul(count, step);
    return {whole ? 1.0 : exact::exp(exact::sub(x, scale)), scale};
  }
  /// The sum of two; one without terms has value 0, whatever its scale.
  KILN_HD static ExpSum add(const ExpSum& a, const ExpSum& b) {
    if (a.scale == b.scale) return {exact::add(a.value, b.value), a.scale};
    return add_unequal(a, b);
  }

 private:
  KILN_HD KILN_CALLED static ExpSum add_unequal(const ExpSum& a, const ExpSum& b) {
    if (b.value == 0.0) return a;
    if (a.value == 0.0) return b;
    const ExpSum &high = a.scale > b.scale ? a : b, &low = a.scale > b.scale ? b : a;
    const double down = exact::exp(exact::sub(low.scale, high.scale));
    return {exact::add(high.value, exact::mul(low.value, down)), high.scale};
  }
};

/// Stepping-stone sums of a part of the data of a rung: of some ladders, or of some calls. The
/// fluctuation between parts gives the error of the whole.
struct RungCell {
  ExpSum forward = {0, 0}, backward = {0, 0};  ///< as in RungSums
  std::uint64_t count = 0;
  std::uint64_t outside = 0;
};

/// Sums over the energies at one rung, of all ladders and calls. Energies are relative to
/// `reference`, so that squares and exponentials keep their digits.
struct RungSums {
  double reference = 0;  ///< stored energy, that of ladder 0 at the first call (0 if not finite)
  double sum = 0;        ///< of E - reference
  double squares = 0;    ///< of (E - reference)^2
  double weighed_reference = 0;  ///< the same for the weighted quantity V of the coordinate
  ExpSum forward = {0, 0};       ///< of exp(-(c_above - c) (V - weighed_reference) / 2)
  ExpSum backward = {0, 0};      ///< of exp((c - c_below) (V - weighed_reference) / 2)
  double best = std::numeric_limits<double>::infinity();  ///< lowest energy seen, stored units
  std::uint64_t count = 0;                                ///< finite energies
  std::uint64_t outside = 0;  ///< at lambda 0: states of nonfinite V, which has no weight there
  std::uint64_t calls = 0;
};

/// Adds the energies of all replicas to the sums of their rungs, for means, heat capacities and
/// stepping-stone estimates of log Z, and records the rung where a replica improves its best.
///
/// The coordinate c of a ladder weights V: beta the energy, and lambda the term of a family. Rungs
/// r and r + 1 meet in the middle of their gap, w = c_{r+1} - c_r wide: log Z of rung r + 1 less
/// that of r is
///
///     log(forward_r / count_r) - log(backward_{r+1} / count_{r+1})
///         - w (weighed_reference_r + weighed_reference_{r+1}) / 2,
///
/// with energies in units of the user; over lambda with all rungs at the same beta, which
/// multiplies the widths. A gap of infinite width adds nothing. Energies that are not finite add
/// nothing either, so Z is the sum over states of finite energy. At lambda 0, where V has no
/// weight, states of nonfinite V count for that rung: `outside` is added to its count in the mean
/// of `forward`.
///
/// The same sums go into cells, which give the error of log Z. With 32 ladders or more cell j < 16
/// has the ladders whose number mod 32 is 2 j or 2 j + 1, which cluster moves join. With fewer,
/// cell j < 32 has the calls j b .. (j + 1) b - 1 of a round; b doubles when all are full.
///
/// Class E: for each rung, lane t of 256 adds ladders t, t + 256, ... in order; lanes are added as
/// a balanced tree (lane t + 128 to t, t + 64 to t, ...), and the tree to the sums. With 32 ladders
/// or more, lanes 2 j and 2 j + 1 of the 32 at the end of the tree are added to cell j. Launch it
/// before TrackBest, which overwrites the reference of an improvement.
/// @par Source  Gelman, Meng, Statistical Science 13 (1998) 163, for the bridge in the middle.
struct KILN_API LadderStatistics {
  static constexpr const char* name = "ladder_statistics";
  static constexpr const char* summary =
      "adds the energies, squared energies and stepping-stone weights of each rung to sums of the "
      "rung";
  static constexpr int lanes = 256;
  static constexpr int cells_of_rung = 32;

  View1<const double> energy;         ///< [slots], stored units
  View1<const double> best_energy;    ///< [slots]
  View1<const double> beta;           ///< [rung numbers], 1/energy in the user's units
  View1<const std::int32_t> slot_of;  ///< [rung numbers]; not read in blocks
  View1<std::int32_t> best_rung;      ///< [slots], within the ladder: the rung of the best energy
  View1<RungSums> sums;               ///< [rungs]
  std::int64_t ladders = 0;
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;
  View1<const double> parameter = {};  ///< [rung numbers], lambda if it is the coordinate
  View1<const double> term = {};       ///< [slots], the quantity weighted by lambda
  View1<RungCell> cells = {};          ///< [rungs * cells_of_rung]; empty: not needed
  bool in_blocks = false;              ///< ladders lie in blocks of 32 (LadderPlaces)

  KILN_HD LadderPlaces places() const {
    return {in_blocks ? ladders / ladders_of_block : ladders, sums.size, 0, in_blocks};
  }
  KILN_HD std::int64_t number_at(std::int64_t ladder, std::int64_t rung) const {
    return places().number_at(ladder, rung);
  }
  /// The slot whose replica is at a rung of a ladder.
  KILN_HD std::int32_t slot_at(std::int64_t ladder, std::int64_t rung) const {
    return in_blocks ? static_cast<std::int32_t>(places().home_of(ladder, rung))
                     : slot_of[number_at(ladder, rung)];
  }

  /// Part of the sums, without initial values (the shared memory of a block does not allow any).
  struct Part {
    double sum, squares;
    ExpSum forward, backward;
    double best;
    std::uint64_t count, outside;
  };
  KILN_HD static Part nothing() {
    return {0.0, 0.0, {0.0, 0.0}, {0.0, 0.0}, exact::infinity(), 0, 0};
  }
  KILN_HD static Part combine(const Part& a, const Part& b) {
    return {exact::add(a.sum, b.sum),
            exact::add(a.squares, b.squares),
            ExpSum::add(a.forward, b.forward),
            ExpSum::add(a.backward, b.backward),
            b.best < a.best ? b.best : a.best,
            a.count + b.count,
            a.outside + b.outside};
  }
  /// Whether cells belong to ladders.
  KILN_HD bool cells_of_ladders() const { return cells.size > 0 && ladders >= cells_of_rung; }

  KILN_HD bool active() const {
    return control->active((control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) -
                           1);
  }
  KILN_HD static bool finite(double x) { return x < exact::infinity() && x > -exact::infinity(); }

  /// The references of the energies of a rung and of the weighted quantity in a call.
  struct Reference {
    double energy, weighed;
  };
  KILN_HD Reference reference_of(std::int64_t rung) const {
    const std::int32_t slot = slot_at(0, rung);
    return reference_of(rung, energy[slot], weighed(slot));
  }
  /// The same from energy and weighted quantity of ladder 0, which count where the rung has no
  /// reference yet.
  KILN_HD Reference reference_of(std::int64_t rung, double e, double v) const {
    if (sums[rung].count != 0) return {sums[rung].reference, sums[rung].weighed_reference};
    return {finite(e) ? e : 0.0, finite(v) ? v : 0.0};
  }
  /// The quantity that the coordinate weights, of a slot.
  KILN_HD double weighed(std::int32_t slot) const { return parameter ? term[slot] : energy[slot]; }
  /// Whether a replica with this energy and weighted quantity improves its best, at a rung that
  /// best_rung does not have yet. In blocks slots keep their rungs, and best states their slots.
  KILN_HD bool improves(std::int32_t slot, double e, double v) const {
    return !in_blocks && finite(e) && finite(v) && e < best_energy[slot];
  }
  /// The sums of one replica, that of ladder `ladder` at rung `rung`. Notes the rung of a best.
  KILN_HD Part of_replica(std::int64_t rung, std::int64_t ladder,
                          const Reference& reference) const {
    const std::int64_t at = number_at(ladder, rung);
    const std::int32_t slot = slot_at(ladder, rung);
    const double e = energy[slot], v = weighed(slot);
    // Everything is read before anything is written: reads wait for writes that may concern them.
    const bool better = improves(slot, e, v);
    const Part part = of_energies(rung, at, e, v, reference);
    if (better) best_rung[slot] = static_cast<std::int32_t>(rung);
    return part;
  }
  /// The same from an energy and its weighted quantity at rung number `at`.
  KILN_HD Part of_energies(std::int64_t rung, std::int64_t at, double e, double v,
                           const Reference& reference) const {
    Part part = nothing();
    if (!finite(e) || !finite(v)) {
      part.outside = parameter && parameter[at] == 0.0 && !finite(v) ? 1 : 0;
      return part;
    }
    part.sum = exact::sub(e, reference.energy);
    part.squares = exact::mul(part.sum, part.sum);
    const double w = exact::sub(v, reference.weighed);
    if (rung + 1 < sums.size) part.forward = weight(at, -w);
    if (rung > 0) part.backward = weight(at - 1, w);
    part.best = e;
    part.count = 1;
    return part;
  }
  KILN_HD void add(std::int64_t rung, const Reference& reference, const Part& part) const {
    RungSums all = sums[rung];
    add_to_sums(all, rung, reference, part);
    sums[rung] = all;
  }
  /// Adds to a copy of the sums of a rung.
  KILN_HD void add_to_sums(RungSums& all, std::int64_t rung, const Reference& reference,
                           const Part& part) const {
    all.reference = reference.energy;
    all.weighed_reference = reference.weighed;
    all.sum = exact::add(all.sum, part.sum);
    all.squares = exact::add(all.squares, part.squares);
    all.forward = ExpSum::add(all.forward, part.forward);
    all.backward = ExpSum::add(all.backward, part.backward);
    all.best = part.best < all.best ? part.best : all.best;
    all.count += part.count;
    all.outside += part.outside;
    if (cells.size > 0 && !cells_of_ladders()) add_call(rung, all.calls, part);
    ++all.calls;
  }
  /// Adds lanes 2 j and 2 j + 1 of the 32 at the end of the tree.
  KILN_HD void add_ladders(std::int64_t rung, int j, const Part& even, const Part& odd) const {
    add_to_cell(rung, j, combine(even, odd));
  }
  KILN_HD void add_to_cell(std::int64_t rung, int j, const Part& part) const {
    add_to(cells[rung * cells_of_rung + j], part);
  }

 private:
  KILN_HD static void add_to(RungCell& cell, const Part& part) {
    const RungCell before = cell;
    cell = {ExpSum::add(before.forward, part.forward), ExpSum::add(before.backward, part.backward),
            before.count + part.count, before.outside + part.outside};
  }
  KILN_HD void add_call(std::int64_t rung, std::uint64_t call, const Part& part) const {
    RungCell* const mine = &cells[rung * cells_of_rung];
    std::uint64_t length = 1;
    while (call >= cells_of_rung * length) length *= 2;
    if (call > 0 && call == cells_of_rung * (length / 2)) {  // all full: merge pairs
      for (int j = 0; j < cells_of_rung; ++j) {
        const bool joins = 2 * j < cells_of_rung;
        const RungCell a = joins ? mine[2 * j] : RungCell{},
                       b = joins ? mine[2 * j + 1] : RungCell{};
        mine[j] = {ExpSum::add(a.forward, b.forward), ExpSum::add(a.backward, b.backward),
                   a.count + b.count, a.outside + b.outside};
      }
    }
    add_to(mine[call / length], part);
  }
  /// Weight of a difference of the weighted quantity, between rung number `at` and the next.
  KILN_HD ExpSum weight(std::int64_t at, double difference) const {
    const double step = parameter
                            ? exact::mul(beta[at], exact::sub(parameter[at + 1], parameter[at]))
                            : exact::sub(beta[at + 1], beta[at]);
    const double width = exact::mul(exact::mul(step, 0.5), inverse_scale);
    if (!finite(width)) return {0.0, 0.0};
    return ExpSum::of(exact::mul(width, difference));
  }
};

}  // namespace kiln
