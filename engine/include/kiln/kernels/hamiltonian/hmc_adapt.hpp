// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/metric_estimate.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/team.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/hmc_adaptation.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Adapts step size, trajectory length and metric of every pool of chains after a transition.
///
/// Step size: doubled or halved until the acceptance crosses 0.8, then dual averaging of the mean
/// acceptance over the pool (gamma 0.05, kappa 0.75, t0 10), restarted after every new metric.
/// Retreat: the step of a chain that always rejects is halved until it accepts, and then doubled
/// again, while the pool learns from the other chains. Chains stranded by the shared step size
/// recover with a temporarily smaller one. At the end of a window a chain that still needs steps a
/// hundred times smaller continues from the state of another chain. At the end of the last window,
/// and of warmup, so does a chain that needs steps eight times smaller, or whose energy is more
/// than five units per coordinate above the lowest chain, where the density is negligible.
/// Length: ChEES, the slope of E[(|x' - m'|^2 - |x - m|^2)^2] / 4 along the logarithm of the length
/// by Adam: t E[(|x' - m'|^2 - |x - m|^2) (x' - m') . M^-1 p'], t the time of the transition, which
/// is the longest one times a van der Corput number. A change of the metric rescales the length.
/// Metric: at the end of every window, see estimate_metric(). After HmcPlan::warmup transitions all
/// values are frozen at their averages. Sums over chains have a backend-specific order (class D).
/// AISTATS 2021 (ChEES); Carpenter et al., J. Stat. Softw. 76 (2017) (windows).
struct KILN_API HmcAdapt {
  static constexpr const char* name = "hmc_adapt";
  static constexpr const char* summary =
      "adapts step size, trajectory length and metric of every pool of chains after a transition";
  static constexpr const char* accuracy = "D";
  /// Chains of a pool that adapt the trajectory length: more would add little.
  static constexpr std::int64_t max_length_members = 1024;
  /// An acceptance below this is a certain rejection, impossible if the step size fits: with 0.7 on
  /// average in a large dimension, one in 10^8.
  static constexpr double hopeless = 0.01;
  static constexpr double comfortable = 0.6;  ///< from here on a retreating chain returns
  /// If the mean of the other chains is below this, the common step size is too large, and no chain
  /// begins to retreat.
  static constexpr double steps_fit = 0.4;
  /// A chain in this much retreat is an outlier. The others count as rejections, so that the common
  /// step stays small enough for regions that chains return to, like the neck of a funnel.
  static constexpr std::int32_t outlier = 7;
  static constexpr std::int32_t lost = 3;  ///< at the end of the last window and of the warm-up
  static constexpr std::int32_t max_retreat = 60;
  /// Limit of the growth of a length by a change of the metric: an early length is wrong by
  /// magnitudes.
  static constexpr double max_growth = 4;

  HmcPlan plan;
  ChainPools pools;
  TransitionStatistics statistics;
  View2<double> position;         ///< [dimension][slots]
  View2<const double> gradient;   ///< [dimension][slots]
  View1<double> gradient_weight;  ///< [slots], becomes NaN if a chain was moved; may be empty
  /// [slots], the energy and its parts, which move with a chain; each may be empty.
  View1<double> energy, base, term;
  PoolMoments moments;
  View1<HmcAdaptation> adaptation;  ///< [pools]
  View1<HmcTuning> tuning;          ///< [pools]
  MetricStore metric;
  View1<double> scratch;  ///< [pools * scratch_size()]
  DrawIds draw_ids;       ///< of the draws that jitter steps; empty: all steps are equal
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension, bool cross) {
    return 2 * dimension + (cross ? dense_scratch(dimension) : 0);
  }

  /// Adapts one pool, by a team.
  template <class Team>
  KILN_HD void run(const Team& team, std::int64_t pool) const {
    const std::uint64_t done = control->step + step_offset + 1;
    HmcAdaptation state = adaptation[pool];
    HmcTuning next = tuning[pool];
    team.sync();  // all have read before one writes
    const bool adapts = plan.never_frozen || done <= plan.warmup;
    const bool frozen = !plan.never_frozen && done >= plan.warmup;
    if (adapts) {
      const bool searched = state.search != 0;
      const PoolState now = look_at(team, pool, state);
      if (plan.adapts_length && !searched) learn_length(team, pool, next, state);
      if (plan.adapts_step) learn_step(state, now.acceptance);
      if (plan.adapts_metric) pass_windows(team, pool, done, now.telling, state);
      if (frozen && plan.adapts_metric) relocate(team, pool, done, true, state);
      if (!searched || frozen) {
        retreat(team, pool, frozen || state.search != 0, now.healthy >= steps_fit);
      }
      state.ceiling = now.lowest + 5.0 * (static_cast<double>(moments.dimension) + 4);
    }
    if (adapts || plan.fixed_leapfrogs == 0) say_next(state, frozen, done, next);
    if (team.rank() != 0) return;
    adaptation[pool] = state;
    tuning[pool] = next;
  }

 private:
  KILN_HD std::int32_t retreat_of(std::int64_t slot) const {
    return statistics.retreat ? statistics.retreat[slot] : 0;
  }

  /// The statistics of a pool after a transition of all its chains.
  struct PoolState {
    double acceptance = 0;  ///< mean that adapts the step size
    double healthy = 0;     ///< mean over the chains that are not in retreat
    double telling = 0;     ///< number of informative chains
    double lowest = 0;      ///< smallest Hamiltonian
  };

  template <class Team>
  KILN_HD PoolState look_at(const Team& team, std::int64_t pool, const HmcAdaptation& state) const {
    double sums[4] = {0, 0, 0, 0}, lowest = exact::infinity();
    for (std::int64_t m = team.rank(); m < pools.members; m += team.size()) {
      const std::int64_t slot = pools.slot(pool, m);
      const std::int32_t retreat = retreat_of(slot);
      if (retreat == 0) {
        sums[0] += statistics.acceptance[slot];
        sums[1] += 1;
      } else if (retreat < outlier) {
        sums[2] += 1;
      }
      if (state.tells(statistics, slot)) sums[3] += 1;
      if (statistics.hamiltonian && statistics.hamiltonian[slot] < lowest) {
        lowest = statistics.hamiltonian[slot];
      }
    }
    team.sum(sums);
    const double counted = sums[1] + sums[2];
    PoolState now;
    now.acceptance = counted > 0 ? sums[0] / counted : 0;
    now.healthy = sums[1] > 0 ? sums[0] / sums[1] : 0;
    now.telling = sums[3];
    now.lowest = team.least(lowest);
    return now;
  }

  /// The chain that member m continues from: one of every `stride`-th informative chain, or -1.
  KILN_HD std::int64_t donor_for(std::int64_t m, std::int64_t pool, std::int64_t stride,
                                 std::uint64_t done, const HmcAdaptation& state) const {
    const auto fellows = static_cast<std::uint64_t>(pools.members / stride);
    // Spread over the pool: neighbours must not continue from the same point.
    const std::uint64_t first = static_cast<std::uint64_t>(m + 1) * 0x9e3779b97f4a7c15ull + done;
    for (std::uint64_t tried = 0; tried < fellows; ++tried) {
      const auto fellow = static_cast<std::int64_t>((first % fellows + tried) % fellows);
      const std::int64_t slot = pools.slot(pool, m % stride + stride * fellow);
      if (state.tells(statistics, slot)) return slot;
    }
    return -1;
  }

  /// Lost chains continue from others of their pool, while no draw counts yet. The donor is of the
  /// same super-chain, which must stay independent of the others, unless all of it is lost.
  template <class Team>
  KILN_HD void relocate(const Team& team, std::int64_t pool, std::uint64_t done, bool last,
                        HmcAdaptation& state) const {
    if (!statistics.retreat) return;
    double moved = 0;
    for (std::int64_t m = team.rank(); m < pools.members; m += team.size()) {
      const std::int64_t slot = pools.slot(pool, m);
      const bool stays = statistics.retreat[slot] < (last ? lost : outlier);
      if (stays && (!last || statistics.retreat[slot] > 0 || state.tells(statistics, slot))) {
        continue;
      }
      std::int64_t from = donor_for(m, pool, plan.groups, done, state);
      if (from < 0) from = donor_for(m, pool, 1, done, state);
      if (from < 0) continue;
      for (std::int64_t i = 0; i < moments.dimension; ++i) position(i, slot) = position(i, from);
      for (const View1<double>& of_state : {energy, base, term}) {
        if (of_state) of_state[slot] = of_state[from];
      }
      if (gradient_weight) gradient_weight[slot] = exact::not_a_number();
      moved += 1;
    }
    state.relocated += static_cast<std::uint32_t>(team.sum(moved));
  }

  /// Updates the number of halvings of each chain's step; a relocated chain has none.
  template <class Team>
  KILN_HD void retreat(const Team& team, std::int64_t pool, bool anew, bool may_begin) const {
    if (!statistics.retreat || !plan.adapts_step) return;
    for (std::int64_t m = team.rank(); m < pools.members; m += team.size()) {
      const std::int64_t slot = pools.slot(pool, m);
      std::int32_t& halvings = statistics.retreat[slot];
      const double acceptance = statistics.acceptance[slot];
      if (anew) {
        halvings = 0;
      } else if (acceptance < hopeless && (may_begin || halvings > 0)) {
        halvings += halvings < max_retreat ? 1 : 0;
      } else if (acceptance > comfortable) {
        halvings -= halvings > 0 ? 1 : 0;
      }
    }
  }

  // NaN becomes `low`.
  KILN_HD static double clipped(double x, double low, double high) {
    return x > high ? high : (x > low ? x : low);
  }

  KILN_HD void learn_step(HmcAdaptation& state, double acceptance) const {
    constexpr double octave = 0.6931471805599453, widest = 30;
    if (state.search != 0) {
      const bool high = acceptance > 0.8;
      if (state.search == 1) state.search = high ? 2 : 3;
      const bool crossed =
          high != (state.search == 2) || state.log_step <= -widest || state.log_step >= widest;
      if (!crossed) {
        state.log_step += high ? octave : -octave;
        return;
      }
      state.search = 0;
      state.updates = 0;
      state.error_mean = 0;
      state.log_step_mean = state.log_step;
      state.log_step_goal = state.log_step + 2.302585092994046;  // ten times as large
      return;
    }
    const double error = plan.target_acceptance - acceptance;
    if (plan.never_frozen) {
      state.log_step = clipped(state.log_step - 0.2 * error, -widest, widest);
      state.log_step_mean = state.log_step;
      return;
    }
    const double m = static_cast<double>(++state.updates);
    state.error_mean += (error - state.error_mean) / (m + 10);
    state.log_step =
        clipped(state.log_step_goal - exact::sqrt(m) / 0.05 * state.error_mean, -widest, widest);
    const double weight = exact::exp(-0.75 * exact::log(m));
    state.log_step_mean += weight * (state.log_step - state.log_step_mean);
  }

  /// The trajectory time of a chain, by the draw that jittered its step.
  KILN_HD double time_of(const HmcTuning& made_by, std::int64_t slot) const {
    double u = 0.5;
    if (draw_ids.key && made_by.jitter > 0) {
      DrawName scalars = draw_ids.at(slot, control->step + step_offset, RngDomain::momentum);
      scalars.block = static_cast<std::uint8_t>(TransitionDraw::scalar);
      u = open_unit(draw_word(scalars, 0));
    }
    return step_of(made_by, u, statistics, slot) * static_cast<double>(made_by.leapfrogs);
  }

  /// One step of Adam along the slope of the criterion, from transitions of that tuning.
  template <class Team>
  KILN_HD void learn_length(const Team& team, std::int64_t pool, const HmcTuning& made_by,
                            HmcAdaptation& state) const {
    const std::int64_t d = moments.dimension;
    const std::int64_t members =
        pools.members < max_length_members ? pools.members : max_length_members;
    double* mean_start = scratch.data + pool * scratch_size(d, moments.cross);
    double* mean_end = mean_start + d;
    for (std::int64_t i = 0; i < d; ++i) {
      double sums[4] = {0, 0, 0, 0};
      for (std::int64_t m = team.rank(); m < members; m += team.size()) {
        const std::int64_t slot = pools.slot(pool, m);
        if (retreat_of(slot) > 0) continue;
        const double weight = statistics.acceptance[slot];
        sums[0] += statistics.start(i, slot);
        if (weight > 0) sums[1] += weight * statistics.proposal(i, slot);
        sums[2] += weight;
        sums[3] += 1;
      }
      team.sum(sums);
      if (!(sums[2] > 0)) return;
      if (team.rank() == 0) {
        mean_start[i] = sums[0] / sums[3];
        mean_end[i] = sums[1] / sums[2];
      }
    }
    team.sync();
    double sums[2] = {0, 0};
    for (std::int64_t m = team.rank(); m < members; m += team.size()) {
      const std::int64_t slot = pools.slot(pool, m);
      const double weight = statistics.acceptance[slot];
      if (!(weight > 0) || retreat_of(slot) > 0) continue;
      double before = 0, after = 0, along = 0;
      for (std::int64_t i = 0; i < d; ++i) {
        const double s = metric.scale[pool * d + i];
        const double from = (statistics.start(i, slot) - mean_start[i]) / s;
        const double to = (statistics.proposal(i, slot) - mean_end[i]) / s;
        before += from * from;
        after += to * to;
        along += to * statistics.velocity(i, slot) / s;
      }
      sums[0] += weight * (after - before) * along * time_of(made_by, slot);
      sums[1] += weight;
    }
    team.sum(sums);
    const double slope = sums[0] / sums[1];
    if (slope - slope != 0) return;  // one overflow must not end the adaptation
    constexpr double memory = 0.95;
    state.slope_square = memory * state.slope_square + (1 - memory) * slope * slope;
    const double m = static_cast<double>(++state.length_updates);
    const double size = exact::sqrt(state.slope_square / (1 - exact::exp(m * exact::log(memory))));
    if (size > 0) state.log_length += plan.length_rate * slope / size;
    state.log_length = clipped(state.log_length, state.log_length_floor, 12.0);
    state.log_length_mean += 0.1 * (state.log_length - state.log_length_mean);
  }

  template <class Team>
  KILN_HD void pass_windows(const Team& team, std::int64_t pool, std::uint64_t done, double telling,
                            HmcAdaptation& state) const {
    if (state.collects != 0) state.observations += telling;
    if (state.window >= plan.windows.size || done < plan.windows[state.window]) return;
    constexpr double fewest = 10;  // with fewer a window stays open
    if (state.collects != 0 && state.observations < fewest) return;
    if (state.collects != 0) {
      relocate(team, pool, done, state.window + 1 == plan.windows.size, state);
      change_metric(team, pool, state);
    }
    ++state.window;
    state.collects = state.window < plan.windows.size ? 1 : 0;
    begin_window(team, pool, state.observations);
    state.observations = 0;
  }

  /// Estimates a new metric, in whose units both step and length are: restarts the search for the
  /// step and sets the length by the spread of the target, as is best for a normal distribution.
  template <class Team>
  KILN_HD void change_metric(const Team& team, std::int64_t pool, HmcAdaptation& state) const {
    double* memory = scratch.data + pool * scratch_size(moments.dimension, moments.cross);
    const double n = state.observations;
    const auto spread = [&] {
      return plan.adapts_length ? widest_variance(team, pool, moments, n, metric, memory) : 1.0;
    };
    const double before = spread();
    estimate_metric(team, pool, moments, n, plan.largest_change, metric, memory);
    const double growth = exact::sqrt(spread() / before);
    state.search = 1;
    state.length_updates = 0;
    state.slope_square = state.log_length_floor = 0;
    if (!(growth > 0)) return;
    const double shift = exact::log(growth < max_growth ? growth : max_growth);
    state.log_length = clipped(state.log_length + shift, state.log_length_floor, 12.0);
    state.log_length_mean = state.log_length;
  }

  /// Resets the moments. The centre becomes the mean of the last window, or the position of the
  /// first chain: sums of squares about it lose no digits.
  template <class Team>
  KILN_HD void begin_window(const Team& team, std::int64_t pool, double observations) const {
    const std::int64_t d = moments.dimension;
    const std::int64_t first = pools.slot(pool, 0);
    for (int which = 0; which < 2; ++which) {
      double *centre = moments.centre[which].data + pool * d,
             *sum = moments.sum[which].data + pool * d;
      double* square = moments.square[which].data + pool * moments.squares();
      for (std::int64_t i = team.rank(); i < d; i += team.size()) {
        const double here = which == 0 ? position(i, first) : gradient(i, first);
        if (observations > 0) {
          centre[i] += sum[i] / observations;
        } else {
          centre[i] = here - here == 0 ? here : 0;
        }
        sum[i] = 0;
      }
      for (std::int64_t e = team.rank(); e < moments.squares(); e += team.size()) square[e] = 0;
    }
    team.sync();
  }

  KILN_HD void say_next(const HmcAdaptation& state, bool frozen, std::uint64_t done,
                        HmcTuning& next) const {
    const bool searches = state.search != 0 && !frozen && plan.adapts_step;
    if (plan.adapts_step) {
      // The mean of a search belongs to the previous metric.
      const bool averaged = frozen && state.search == 0;
      next.step_size = exact::exp(averaged ? state.log_step_mean : state.log_step);
    }
    next.report_ends = plan.adapts_length && !searches && !frozen ? 1 : 0;
    next.max_depth = searches ? 1 : plan.max_depth;
    if (plan.fixed_leapfrogs > 0) {
      next.leapfrogs = searches ? 1 : plan.fixed_leapfrogs;
      return;
    }
    const double longest = exact::exp(frozen ? state.log_length_mean : state.log_length);
    const double wanted = longest * van_der_corput(done) / next.step_size;
    const double most = plan.max_leapfrogs;
    next.leapfrogs = searches ? 1 : static_cast<std::int32_t>(clipped(wanted, 0.0, most - 1) + 1);
  }

  /// The binary digits of n mirrored at the point, in (0, 1): the van der Corput sequence.
  KILN_HD static double van_der_corput(std::uint64_t n) {
    double value = 0, digit = 0.5;
    for (; n != 0; n >>= 1, digit /= 2) {
      if (n % 2 == 1) value += digit;
    }
    return value;
  }
};

}  // namespace kiln
