// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/population/resample.hpp"

namespace kiln {

/// The common settings of the populations of a run. Betas in the user's units.
struct PopulationPlan {
  double beta_min = 0;
  double beta_max = 0;            ///< finite
  double overlap = 0.86;          ///< effective fraction of the weights that a step aims at
  double step_max = 0;            ///< largest step of beta; 0: no bound
  std::int64_t polish_ticks = 0;  ///< ticks at beta = infinity that end a round
};

enum class PopulationPhase : std::uint32_t { anneal, polish };

/// The state of one population in its round, and sums of its energies.
struct Population {
  double beta = 0;          ///< of the last resampling, so of the sweeps since then
  double log_z = 0;         ///< log Z(beta) - log Z(beta_min) over states of finite energy, stored
                            ///< energies without their offset
  double log_finite = 0;    ///< log of the share of the round's first states whose energy is finite
  double lowest = 0;        ///< smallest finite energy at the end of the last tick, stored
  double mean = 0;          ///< mean of the finite ones, stored
  std::int64_t finite = 0;  ///< energies that are finite
  std::int64_t steps = 0;   ///< temperature steps of this round
  std::int64_t rounds = 0;  ///< rounds completed, without their polish
  std::int64_t polish_left = 0;  ///< ticks
  PopulationPhase phase = PopulationPhase::anneal;
  std::uint32_t searching = 0;  ///< 1 while a step is being chosen
  std::uint32_t opened = 0;     ///< 1 once the first states of the round were examined
  std::uint32_t unused = 0;     ///< fills the padding: saved states are compared by their bytes
};
static_assert(sizeof(Population) == 9 * 8 + 4 * 4);

/// The common step of beta of all populations of a batch, and its bracket.
struct PopulationChoice {
  double lowest = 0;        ///< smallest finite energy of all populations, stored
  double low = 0;           ///< the step lies between low and high
  double high = 0;          ///< low == high: the step is chosen
  std::int64_t finite = 0;  ///< energies of all populations that are finite
};

/// The result of a population at beta_max.
struct PopulationEnd {
  double log_z = 0;
  double log_finite = 0;
  double mean = 0;
  double lowest = 0;
  std::int64_t steps = 0;
  ResampleTotals totals;
};

/// A temperature of the first population, for the report.
struct PopulationRecord {
  double beta = 0;
  double log_z = 0;
  double mean = 0;
  std::int64_t families = 0;
  std::uint64_t family_squares = 0;
};

/// The kept records: every `stride`-th step, and a stride twice as long when memory is full.
struct PopulationHistory {
  std::int64_t size = 0;
  std::int64_t stride = 1;
};

/// Ends a temperature of population annealing: from the energies of all populations computes the
/// next inverse temperature, the weights of the replicas there, and log Z.
///
/// x_r = E_r - min E (user's units). The step d is the largest for which the effective fraction
/// (sum w)^2 / (N sum w^2) is at least `overlap`, with w = exp(-d x) and N the number of finite
/// energies of the whole batch. Separate steps would bias log Z of a population by about 1 / (2 R),
/// R its replicas (ADR 0027), so all use the same one; beta + d is at most beta_max, and d at most
/// step_max. If 16 candidates cap / 4^k bracket it, two more passes of 16 between the ends of the
/// bracket find d to within 1.2 %; if even cap / 4^15 is too far, that is taken. Then weight_r =
/// floor(2^40 w_r), relative to the smallest energy of the population, and log Z grows by log(sum
/// weight / (2^40 N)) - d min E. Energies that are NaN or infinite have weight 0.
///
/// With `opening` it begins a round, before the first sweep: a step of length 0 that keeps the
/// states of finite energy. Their share of the population goes into log_finite, they get equal
/// weights, and `opens` marks the populations to resample. States drawn uniformly give an unbiased
/// estimate of the share; a sweep would move replicas out of infinite energies without weights.
///
/// At beta_max a round is complete: polish_ticks ticks at beta = infinity follow, then `begins` is
/// raised for one tick and the population is at beta_min again. Without resampling all weights are
/// 0.
///
/// Class E: exact arithmetic, and sums in one order. Within parts of 1024 replicas lane t of 256
/// adds the replicas t, t + 256, ...; each 32 lanes are added as a tree (t + 16 to t, t + 8 to t,
/// ...), and so are the 8 sums (w + 4 to w, ...). Lane t of a second such tree adds the parts t,
/// t + 256, ... Weights are integers, so their sums need no order.
/// @par Source  Hukushima, Iba, AIP Conf. Proc. 690 (2003) 200; Machta, Phys. Rev. E 82 (2010)
/// 026704; the adaptive step: Barash et al., Comput. Phys. Commun. 220 (2017) 341.
struct KILN_API PopulationStep {
  static constexpr const char* name = "population_step";
  static constexpr const char* summary =
      "computes the next temperature, the weights and log Z of populations from the energies";
  static constexpr int lanes = 256;
  static constexpr int candidates = 16;
  static constexpr std::int64_t part_size = 1024;
  static constexpr int weight_bits = 40;
  static constexpr std::int64_t kept_ends = 64;  ///< of a population, the last ones
  static constexpr double shortest = 0x1p-30;    ///< 4^-15

  /// The passes over the energies, in this order.
  enum Pass { look, bracket, narrow, narrow_again, weigh, admit };
  static constexpr int n_passes = 5;  ///< `admit` is the only one of an opening

  /// Sums over replicas. `look`: first[0] of energies, second[0] the minimum, count the finite
  /// ones; `weigh`: count of weights; `admit`: count of finite energies; else first of w and second
  /// of w^2 by candidate. Without initial values, because shared memory does not allow any.
  struct Part {
    double first[candidates], second[candidates];
    std::uint64_t count;
  };

  View1<const double> energy;          ///< [slots], stored units
  View1<Population> populations;       ///< [groups], all at the same beta
  View1<PopulationChoice> choice;      ///< [1], scratch
  View1<double> beta;                  ///< [groups], of the next sweeps
  View1<std::uint32_t> begins;         ///< [groups], 1: a round begins with the next tick
  View1<std::uint64_t> weight;         ///< [slots]
  View1<Part> parts;                   ///< [groups * parts_of(group_size)], scratch
  View1<PopulationEnd> ends;           ///< [groups * kept_ends], a ring for each group
  View1<PopulationRecord> records;     ///< of population 0
  View1<PopulationHistory> history;    ///< [1]
  View1<const ResampleTotals> totals;  ///< [groups], of the last resampling
  std::int64_t group_size = 0;         ///< replicas of a population
  PopulationPlan plan;
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;
  bool opening = false;
  View1<std::uint32_t> opens = {};  ///< [groups], for an opening: 1 for populations to resample
  /// [2], scratch: zero between launches. A GPU makes all passes in one launch if its room suffices
  /// for all parts at once; empty: each pass has launches.
  View1<std::uint32_t> arrivals = {};

  /// Energies once, and the weights.
  double bytes() const { return bytes_of(energy) + bytes_of(weight); }
  KILN_HD static std::int64_t parts_of(std::int64_t replicas) {
    return (replicas + part_size - 1) / part_size;
  }
  KILN_HD std::int64_t parts_of_batch() const { return populations.size * parts_of(group_size); }
  KILN_HD static constexpr int width_of(int pass) {
    return pass == weigh || pass == admit ? 0 : pass == look ? 1 : candidates;
  }
  /// Whether the tick is complete; for an opening, whether it begins.
  KILN_HD bool whole() const {
    return control->active(opening ? 0 : ends_tick(*control, sweeps_per_tick));
  }

  KILN_HD static void clear(int pass, Part& part) {
    for (int k = 0; k < width_of(pass); ++k) {
      part.first[k] = 0.0;
      part.second[k] = pass == look ? exact::infinity() : 0.0;
    }
    part.count = 0;
  }
  KILN_HD static void combine(int pass, Part& to, const Part& from) {
    for (int k = 0; k < width_of(pass); ++k) {
      to.first[k] = exact::add(to.first[k], from.first[k]);
      to.second[k] = second_of(pass, to.second[k], from.second[k]);
    }
    to.count += from.count;
  }
  /// Copies the sums of a pass, and nothing else.
  KILN_HD static void copy(int pass, Part& to, const Part& from) {
    for (int k = 0; k < width_of(pass); ++k) {
      to.first[k] = from.first[k];
      to.second[k] = from.second[k];
    }
    to.count = from.count;
  }
  KILN_HD static double second_of(int pass, double a, double b) {
    return pass == look ? (b < a ? b : a) : exact::add(a, b);
  }

  /// Adds one replica to a part. In the last pass its weight is stored.
  KILN_HD void take(int pass, const Population& p, const PopulationChoice& c, std::int64_t slot,
                    Part& part) const {
    const double e = energy[slot];
    const bool counts = e < exact::infinity() && e > -exact::infinity();
    switch (pass) {
      case look:
        if (!counts) return;
        part.first[0] = exact::add(part.first[0], e);
        part.second[0] = e < part.second[0] ? e : part.second[0];
        ++part.count;
        return;
      case bracket:
        if (p.searching != 0 && counts) add_powers(excess(c.lowest, e), c.high, part);
        return;
      case weigh: {
        const bool weighs = p.searching != 0 && counts;
        const std::uint64_t w = weighs ? integer_weight(excess(p.lowest, e), c.low) : 0;
        weight[slot] = w;
        part.count += w;
        return;
      }
      case admit:
        if (p.opened != 0) return;
        weight[slot] = counts ? Resample::max_weight : 0;
        part.count += counts ? 1 : 0;
        return;
      default:
        if (p.searching != 0 && counts && c.low < c.high) {
          add_between(excess(c.lowest, e), c.low, exact::sub(c.high, c.low), part);
        }
    }
  }

  KILN_HD static constexpr bool concludes(int pass) { return pass == look || !chooses(pass); }
  KILN_HD static constexpr bool chooses(int pass) { return pass < weigh; }

  /// Updates a population from the sums of a pass over all its replicas, if the pass `concludes`.
  KILN_HD void conclude(int pass, std::int64_t group, const Part& sums) const {
    Population& p = populations[group];
    if (pass == look) return observe(group, p, sums);
    if (pass == admit) return open_round(group, p, sums.count);
    if (p.searching != 0) cool(group, p, sums.count);
  }

  /// Updates the common step from the sums over all replicas of the batch, if the pass `chooses`.
  /// Called after conclude() of the populations.
  KILN_HD void choose(int pass, const Part& sums) const {
    if (populations[0].searching == 0) return;
    PopulationChoice& c = choice[0];
    if (pass == look) return begin_choice(c, sums);
    if (pass == bracket) return choose_bracket(c, sums);
    if (c.low < c.high) choose_between(c, sums);
    if (pass == narrow_again) c.high = c.low;
  }

  /// Before the first pass, also in a truncated tick: the states of a new round were drawn.
  KILN_HD void open(std::int64_t group) const {
    if (control->active(0)) begins[group] = 0;
  }

  KILN_HD static std::uint64_t integer_weight(double excess, double step) {
    const double w = exact::exp(-exact::mul(step, excess));
    return static_cast<std::uint64_t>(exact::mul(w, 0x1p40));
  }

 private:
  KILN_HD double excess(double lowest, double e) const {
    return exact::mul(exact::sub(e, lowest), inverse_scale);
  }

  // Candidate k is the k-th quarter of `most`; its weight is that of k + 1 to the fourth power.
  KILN_HD static void add_powers(double x, double most, Part& part) {
    double w = exact::exp(-exact::mul(exact::mul(most, shortest), x));
    for (int k = candidates - 1; k >= 0; --k) {
      const double w2 = exact::mul(w, w);
      part.first[k] = exact::add(part.first[k], w);
      part.second[k] = exact::add(part.second[k], w2);
      w = exact::mul(w2, w2);
    }
  }
  // Candidate k is low + (k + 1) width / 16.
  KILN_HD static void add_between(double x, double low, double width, Part& part) {
    const double factor = exact::exp(-exact::mul(exact::mul(width, 1.0 / candidates), x));
    double w = exact::exp(-exact::mul(low, x));
    for (int k = 0; k < candidates; ++k) {
      w = exact::mul(w, factor);
      part.first[k] = exact::add(part.first[k], w);
      part.second[k] = exact::add(part.second[k], exact::mul(w, w));
    }
  }

  KILN_HD bool good(const PopulationChoice& c, double sum, double squares) const {
    const double wanted = exact::mul(plan.overlap, static_cast<double>(c.finite));
    return exact::mul(sum, sum) >= exact::mul(wanted, squares);
  }

  KILN_HD void observe(std::int64_t group, Population& p, const Part& sums) const {
    p.searching = 0;
    p.finite = static_cast<std::int64_t>(sums.count);
    p.lowest = sums.second[0];
    p.mean = exact::div(sums.first[0], static_cast<double>(p.finite > 0 ? p.finite : 1));
    if (p.phase == PopulationPhase::polish) {
      if (--p.polish_left <= 0) begin_round(group, p);
      return;
    }
    if (group == 0) record(p);
    if (p.beta >= plan.beta_max) return end_round(group, p);
    p.searching = 1;
  }

  KILN_HD void begin_choice(PopulationChoice& c, const Part& sums) const {
    const double left = exact::sub(plan.beta_max, populations[0].beta);
    c.lowest = sums.second[0];
    c.finite = static_cast<std::int64_t>(sums.count);
    c.low = 0.0;
    c.high = plan.step_max > 0.0 && plan.step_max < left ? plan.step_max : left;
    if (c.finite == 0) c.low = c.high = left;  // no state counts, so there is nothing to wait for
  }

  KILN_HD void choose_bracket(PopulationChoice& c, const Part& sums) const {
    if (c.finite == 0) return;
    double step = c.high;
    for (int k = 0; k < candidates; ++k) {
      if (good(c, sums.first[k], sums.second[k])) {
        c.low = step;
        c.high = k == 0 ? step : exact::mul(step, 4.0);
        return;
      }
      if (k + 1 < candidates) step = exact::mul(step, 0.25);
    }
    c.low = c.high = step;
  }

  KILN_HD void choose_between(PopulationChoice& c, const Part& sums) const {
    const double width = exact::mul(exact::sub(c.high, c.low), 1.0 / candidates);
    int k = 0;
    while (k + 1 < candidates && good(c, sums.first[k], sums.second[k])) ++k;
    // The upper end of the bracket is known to be too far, or was the previous end.
    c.low = exact::add(c.low, exact::mul(width, static_cast<double>(k)));
    c.high = exact::add(c.low, width);
  }

  KILN_HD void cool(std::int64_t group, Population& p, std::uint64_t total) const {
    const double step = choice[0].low;
    if (p.finite > 0) {
      const double mean = exact::div(exact::mul(static_cast<double>(total), 0x1p-40),
                                     static_cast<double>(p.finite));
      const double shift = exact::mul(exact::mul(step, p.lowest), inverse_scale);
      p.log_z = exact::add(p.log_z, exact::sub(exact::log(mean), shift));
    } else {
      p.log_z = -exact::infinity();  // and it follows the other populations
    }
    const bool last = step >= exact::sub(plan.beta_max, p.beta);
    p.beta = last ? plan.beta_max : exact::add(p.beta, step);
    beta[group] = p.beta;
    ++p.steps;
  }

  KILN_HD void end_round(std::int64_t group, Population& p) const {
    ends[group * kept_ends + p.rounds % kept_ends] = {p.log_z,  p.log_finite, p.mean,
                                                      p.lowest, p.steps,      totals[group]};
    ++p.rounds;
    if (plan.polish_ticks <= 0) return begin_round(group, p);
    p.phase = PopulationPhase::polish;
    p.polish_left = plan.polish_ticks;
    beta[group] = exact::infinity();
  }

  KILN_HD void begin_round(std::int64_t group, Population& p) const {
    p.phase = PopulationPhase::anneal;
    p.beta = beta[group] = plan.beta_min;
    p.log_z = 0.0;
    p.steps = 0;
    p.opened = 0;
    begins[group] = 1;
  }

  KILN_HD void open_round(std::int64_t group, Population& p, std::uint64_t finite) const {
    const auto all = static_cast<std::uint64_t>(group_size);
    opens[group] = p.opened == 0 && finite > 0 && finite < all ? 1u : 0u;
    if (p.opened != 0) return;
    p.opened = 1;
    p.log_finite =
        exact::log(exact::div(static_cast<double>(finite), static_cast<double>(group_size)));
  }

  KILN_HD void record(const Population& p) const {
    PopulationHistory& h = history[0];
    if (p.steps == 0) h = {};
    if (p.steps % h.stride != 0 || records.size == 0) return;
    if (h.size == records.size) {
      for (std::int64_t i = 0; 2 * i < h.size; ++i) records[i] = records[2 * i];
      h.size = (h.size + 1) / 2;
      h.stride *= 2;
      if (p.steps % h.stride != 0) return;
    }
    records[h.size++] = {p.beta, p.log_z, p.mean, totals[0].families, totals[0].family_squares};
  }
};

}  // namespace kiln
