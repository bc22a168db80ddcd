// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// What the energies at one rung add up to, over all ladders and calls. Energies are taken from
/// `reference`, so that neither squares nor exponentials lose what matters.
struct RungSums {
  double reference = 0;  ///< stored energy, that of ladder 0 at the first call (0 if not finite)
  double sum = 0;        ///< of E - reference
  double squares = 0;    ///< of (E - reference)^2
  double weighed_reference = 0;  ///< the same of what the coordinate weighs, V
  double forward = 0;   ///< of exp(-(c_above - c) (V - weighed_reference)), above: the next rung
  double backward = 0;  ///< of exp((c - c_below) (V - weighed_reference))
  double best = std::numeric_limits<double>::infinity();  ///< lowest energy seen, stored units
  std::uint64_t count = 0;                                ///< finite energies
};

/// Adds the energies of all replicas to the sums of their rungs, for means, heat capacities and
/// stepping-stone estimates of log Z, and notes at which rung a replica improves on its best.
///
/// The coordinate c of a ladder weighs V: beta the energy, and lambda the term of a family. log Z
/// of rung r + 1 less that of r = log(forward_r / count_r) - (c_{r+1} - c_r) weighed_reference_r =
/// -log(backward_{r+1} / count_{r+1}) - (c_{r+1} - c_r) weighed_reference_{r+1}, energies in units
/// of the user; over lambda with all rungs at the same beta, which multiplies the widths. Exponents
/// are cut at +-700; a gap of infinite width adds nothing.
///
/// Class E: for each rung, lane t of 256 adds ladders t, t + 256, ... in order; lanes are added as
/// a balanced tree (lane t + 128 to t, t + 64 to t, ...), and the tree to the sums. Launch before
/// TrackBest, which overwrites what an improvement is measured against.
struct KILN_API LadderStatistics {
  static constexpr const char* name = "ladder_statistics";
  static constexpr const char* summary =
      "adds energies, their squares and stepping-stone weights to the sums of their rungs";
  static constexpr int lanes = 256;

  View1<const double> energy;         ///< [slots], stored units
  View1<const double> best_energy;    ///< [slots]
  View1<const double> beta;           ///< [ladders * rungs], 1/energy in the user's units
  View1<const std::int32_t> slot_of;  ///< [ladders * rungs]
  View1<std::int32_t> best_rung;      ///< [slots], within the ladder: where the best was met
  View1<RungSums> sums;               ///< [rungs]
  std::int64_t ladders = 0;
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;
  View1<const double> parameter = {};  ///< [ladders * rungs], lambda where it is the coordinate
  View1<const double> term = {};       ///< [slots], what lambda weighs

  /// Part of the sums, without initial values (shared memory of a block cannot have any).
  struct Part {
    double sum, squares, forward, backward, best;
    std::uint64_t count;
  };
  KILN_HD static Part nothing() { return {0.0, 0.0, 0.0, 0.0, exact::infinity(), 0}; }
  KILN_HD static Part combine(const Part& a, const Part& b) {
    return {exact::add(a.sum, b.sum),          exact::add(a.squares, b.squares),
            exact::add(a.forward, b.forward),  exact::add(a.backward, b.backward),
            b.best < a.best ? b.best : a.best, a.count + b.count};
  }

  KILN_HD bool active() const {
    return control->active((control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) -
                           1);
  }
  KILN_HD static bool finite(double x) { return x < exact::infinity() && x > -exact::infinity(); }

  /// From what a call takes the energies of a rung, and what is weighed.
  struct Reference {
    double energy, weighed;
  };
  KILN_HD Reference reference_of(std::int64_t rung) const {
    if (sums[rung].count != 0) return {sums[rung].reference, sums[rung].weighed_reference};
    const std::int32_t slot = slot_of[rung];
    const double e = energy[slot], v = weighed(slot);
    return {finite(e) ? e : 0.0, finite(v) ? v : 0.0};
  }
  /// The replica that ladder `ladder` has at rung `rung`, added to `part`.
  KILN_HD void take(std::int64_t rung, std::int64_t ladder, const Reference& reference,
                    Part& part) const {
    const std::int64_t at = ladder * sums.size + rung;
    const std::int32_t slot = slot_of[at];
    const double e = energy[slot], v = weighed(slot);
    if (!finite(e) || !finite(v)) return;
    if (e < best_energy[slot]) best_rung[slot] = static_cast<std::int32_t>(rung);
    const double d = exact::sub(e, reference.energy);
    part.sum = exact::add(part.sum, d);
    part.squares = exact::add(part.squares, exact::mul(d, d));
    const double w = exact::sub(v, reference.weighed);
    if (rung + 1 < sums.size) part.forward = exact::add(part.forward, weight(at, -w));
    if (rung > 0) part.backward = exact::add(part.backward, weight(at - 1, w));
    part.best = e < part.best ? e : part.best;
    ++part.count;
  }
  KILN_HD void add(std::int64_t rung, const Reference& reference, const Part& part) const {
    RungSums& all = sums[rung];
    all.reference = reference.energy;
    all.weighed_reference = reference.weighed;
    all.sum = exact::add(all.sum, part.sum);
    all.squares = exact::add(all.squares, part.squares);
    all.forward = exact::add(all.forward, part.forward);
    all.backward = exact::add(all.backward, part.backward);
    all.best = part.best < all.best ? part.best : all.best;
    all.count += part.count;
  }

 private:
  KILN_HD double weighed(std::int32_t slot) const { return parameter ? term[slot] : energy[slot]; }

  /// Of a difference of what is weighed, between rung number `at` and the next.
  KILN_HD double weight(std::int64_t at, double difference) const {
    const double step = parameter
                            ? exact::mul(beta[at], exact::sub(parameter[at + 1], parameter[at]))
                            : exact::sub(beta[at + 1], beta[at]);
    const double width = exact::mul(step, inverse_scale);
    if (!finite(width)) return 0.0;
    const double x = exact::mul(width, difference);
    return exact::exp(x > 700.0 ? 700.0 : x < -700.0 ? -700.0 : x);
  }
};

}  // namespace kiln
