// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/math.hpp"
#include "kiln/device/team.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The state of a minimisation; all zero before its first step.
struct LbfgsState {
  double value = 0;             ///< at the present point
  double step = 0;              ///< of the trial, in units of the direction
  std::int32_t begun = 0;       ///< whether there is a present point
  std::int32_t iterations = 0;  ///< points accepted
  std::int32_t shortened = 0;   ///< trials rejected since the last accepted one
  std::int32_t pairs = 0;       ///< pairs of the history ever made
  std::int32_t lost = 0;        ///< pairs before this one are discarded
  std::int32_t idle = 0;        ///< consecutive iterations of negligible gain
};

/// Makes one step of many independent L-BFGS minimisations in boxes, each with its curvature, step
/// length and end.
///
/// The caller evaluates all trials and their gradients, launches this, and evaluates the new
/// trials, until `running` is 0 everywhere. A trial that lowers the value enough (Armijo) becomes
/// the present point; otherwise, or if its value is not finite, the next trial is nearer.
/// Coordinates at a wall that the gradient presses against are fixed; trials are clipped to the
/// box. A pair of the history needs curvature above 1e-10 |s| |y|.
///
/// Class D. An item has the same bits alone and in any batch.
/// @par Source  Nocedal, Wright, Numerical Optimization (2006), algorithms 7.4 and 3.1; boxes by
/// projection: Bertsekas, SIAM J. Control Optim. 20 (1982) 221.
struct KILN_API LbfgsStep {
  static constexpr const char* name = "lbfgs_step";
  static constexpr const char* summary =
      "makes one step of each of many independent L-BFGS minimisations with bounds";
  static constexpr const char* accuracy = "D";
  static constexpr std::int64_t history = 8;

  std::int64_t items = 0;
  View2<double> point;                 ///< [items][n], the best points
  View2<double> gradient;              ///< [items][n], there
  View2<double> direction;             ///< [items][n], internal state of the kernel
  View2<double> pair;                  ///< [items][pair_size(n)], internal state of the kernel
  View2<double> trial;                 ///< [items][n], in and out
  View2<const double> trial_gradient;  ///< [items][n]
  View1<const double> trial_value;     ///< [items]
  View2<const double> lower, upper;    ///< [items][n], or one row for all
  View1<LbfgsState> state;             ///< [items]
  View1<std::int32_t> running;         ///< [items], 1 until a minimisation ends
  double sign = 1;                     ///< -1: maximises; values and gradients keep their sign
  double first_step = 0.5;             ///< the longest first step along an axis
  double value_tolerance = 1e-9;  ///< ends after two gains in a row below it, relative to 1 + |f|
  double gradient_tolerance = 1e-6;  ///< ends if no free partial derivative exceeds it
  std::int32_t max_iterations = 100;

  static constexpr std::int64_t pair_size(std::int64_t n) { return 2 * history * n + history; }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t item) const {
    if (running[item] == 0) return;
    LbfgsState s = state[item];
    const double f = sign * trial_value[item];
    const bool finite = f - f == 0;
    bool go_on;
    if (s.begun == 0) {
      go_on = finite && begin(team, item, s, f);
    } else if (const double slope = slope_to_trial(team, item);
               finite && f <= s.value + 1e-4 * slope) {
      go_on = accept(team, item, s, f);
    } else {
      go_on = shorten(s, f, slope, finite);
      if (!go_on && s.lost < s.pairs) {  // the curvature misleads: restart downhill
        s.lost = s.pairs;
        go_on = set_out(team, item, s);
      }
    }
    team.sync();
    propose(team, item, s, go_on);
    if (team.rank() == 0) {
      state[item] = s;
      running[item] = go_on ? 1 : 0;
    }
    team.sync();
  }

 private:
  KILN_HD double wall(const View2<const double>& walls, std::int64_t item, std::int64_t k) const {
    return walls(walls.rows == 1 ? 0 : item, k);
  }
  KILN_HD bool held(std::int64_t item, std::int64_t k) const {
    const double x = point(item, k), g = gradient(item, k);
    return (x <= wall(lower, item, k) && g > 0) || (x >= wall(upper, item, k) && g < 0);
  }
  KILN_HD double* s_of(std::int64_t item, std::int32_t at) const {
    return &pair(item, 0) + 2 * (at % history) * point.columns;
  }
  KILN_HD double* y_of(std::int64_t item, std::int32_t at) const {
    return s_of(item, at) + point.columns;
  }
  KILN_HD double& curvature_of(std::int64_t item, std::int32_t at) const {
    return pair(item, 2 * history * point.columns + at % history);
  }

  template <class Team>
  KILN_HD bool begin(const Team& team, std::int64_t item, LbfgsState& s, double f) const {
    take(team, item);
    s.begun = 1;
    s.value = f;
    return set_out(team, item, s);
  }

  /// The trial becomes the present point.
  template <class Team>
  KILN_HD void take(const Team& team, std::int64_t item) const {
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      point(item, k) = trial(item, k);
      gradient(item, k) = sign * trial_gradient(item, k);
    }
    team.sync();
  }

  template <class Team>
  KILN_HD bool accept(const Team& team, std::int64_t item, LbfgsState& s, double f) const {
    double sums[3] = {0, 0, 0};  // s.y, s.s, y.y
    double* const ds = s_of(item, s.pairs);
    double* const dy = y_of(item, s.pairs);
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      ds[k] = trial(item, k) - point(item, k);
      dy[k] = sign * trial_gradient(item, k) - gradient(item, k);
      sums[0] += ds[k] * dy[k], sums[1] += ds[k] * ds[k], sums[2] += dy[k] * dy[k];
    }
    team.sum(sums);
    if (sums[0] > 1e-10 * math::sqrt(sums[1] * sums[2])) {
      if (team.rank() == 0) curvature_of(item, s.pairs) = sums[0];
      ++s.pairs;
      if (s.pairs - s.lost > history) s.lost = s.pairs - static_cast<std::int32_t>(history);
    }
    const double gain = s.value - f;
    s.idle = gain <= value_tolerance * (1 + math::abs(f)) ? s.idle + 1 : 0;
    s.value = f;
    ++s.iterations;
    take(team, item);
    if (s.idle >= 2 || s.iterations >= max_iterations) return false;
    return set_out(team, item, s);
  }

  /// The predicted gain of the value along a straight line.
  template <class Team>
  KILN_HD double slope_to_trial(const Team& team, std::int64_t item) const {
    double sum = 0;
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      sum += gradient(item, k) * (trial(item, k) - point(item, k));
    }
    sum = team.sum(sum);
    return sum < 0 ? sum : 0.0;
  }

  /// Shortens a step that was too long: to the minimum of a parabola, or half of it.
  KILN_HD bool shorten(LbfgsState& s, double f, double slope, bool finite) const {
    double factor = 0.5;
    if (finite) {
      const double bend = f - s.value - slope;
      if (bend > 0) factor = -0.5 * slope / bend;
      factor = factor < 0.1 ? 0.1 : factor > 0.5 ? 0.5 : factor;
    }
    s.step *= factor;
    return ++s.shortened < 20;
  }

  /// Computes a new direction: the two-loop recursion of L-BFGS on the free coordinates, or
  /// steepest descent if curvature leads up. @return whether there is a descent direction.
  template <class Team>
  KILN_HD bool set_out(const Team& team, std::int64_t item, LbfgsState& s) const {
    for (;;) {
      if (!(point_downhill(team, item) > gradient_tolerance)) return false;
      const bool curved = s.pairs > s.lost;
      if (curved) apply_history(team, item, s);
      double slope = 0, longest = 0;
      for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
        if (held(item, k)) direction(item, k) = 0;
        slope += direction(item, k) * gradient(item, k);
        const double size = math::abs(direction(item, k));
        longest = size > longest ? size : longest;
      }
      slope = team.sum(slope);
      longest = -team.least(-longest);
      if (slope < 0) {
        s.shortened = 0;
        s.step = !curved && longest > first_step ? first_step / longest : 1.0;
        return true;
      }
      if (!curved) return false;
      s.lost = s.pairs;
    }
  }

  /// @return the largest free partial derivative.
  template <class Team>
  KILN_HD double point_downhill(const Team& team, std::int64_t item) const {
    double largest = 0;
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      const double g = held(item, k) ? 0.0 : gradient(item, k);
      direction(item, k) = -g;
      largest = math::abs(g) > largest ? math::abs(g) : largest;
    }
    return -team.least(-largest);
  }

  template <class Team>
  KILN_HD void apply_history(const Team& team, std::int64_t item, const LbfgsState& s) const {
    if (team.size() > 1 && point.columns <= team.size()) {
      apply_history_by_thread(team, item, s);
    } else {
      apply_history_in_memory(team, item, s);
    }
  }

  /// With one thread per coordinate: reads all values at once and keeps them in registers.
  template <class Team>
  KILN_HD void apply_history_by_thread(const Team& team, std::int64_t item,
                                       const LbfgsState& s) const {
    const bool mine = team.rank() < point.columns;
    const std::int32_t count = s.pairs - s.lost;
    double ds[history], dy[history], curvature[history], share[history], last = 0, of_last = 0;
    KILN_UNROLL
    for (std::int32_t h = 0; h < history; ++h) {
      const bool there = h < count;
      ds[h] = mine && there ? s_of(item, s.lost + h)[team.rank()] : 0.0;
      dy[h] = mine && there ? y_of(item, s.lost + h)[team.rank()] : 0.0;
      curvature[h] = there ? curvature_of(item, s.lost + h) : 1.0;
      share[h] = 0;
      if (there) last = dy[h], of_last = curvature[h];
    }
    double along = mine ? direction(item, team.rank()) : 0.0;
    KILN_UNROLL
    for (std::int32_t h = history - 1; h >= 0; --h) {
      if (h >= count) continue;
      share[h] = team.sum(ds[h] * along) / curvature[h];
      along -= share[h] * dy[h];
    }
    along *= of_last / team.sum(last * last);
    KILN_UNROLL
    for (std::int32_t h = 0; h < history; ++h) {
      if (h >= count) continue;
      along += (share[h] - team.sum(dy[h] * along) / curvature[h]) * ds[h];
    }
    if (mine) direction(item, team.rank()) = along;
    team.sync();
  }

  template <class Team>
  KILN_HD void apply_history_in_memory(const Team& team, std::int64_t item,
                                       const LbfgsState& s) const {
    double share[history];
    for (std::int32_t at = s.pairs - 1; at >= s.lost; --at) {
      const double* const ds = s_of(item, at);
      const double* const dy = y_of(item, at);
      double sum = 0;
      for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
        sum += ds[k] * direction(item, k);
      }
      const double a = team.sum(sum) / curvature_of(item, at);
      share[at % history] = a;
      for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
        direction(item, k) -= a * dy[k];
      }
      team.sync();
    }
    scale(team, item, s);
    for (std::int32_t at = s.lost; at < s.pairs; ++at) {
      const double* const ds = s_of(item, at);
      const double* const dy = y_of(item, at);
      double sum = 0;
      for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
        sum += dy[k] * direction(item, k);
      }
      const double b = team.sum(sum) / curvature_of(item, at);
      for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
        direction(item, k) += (share[at % history] - b) * ds[k];
      }
      team.sync();
    }
  }

  /// By s.y / y.y of the last pair.
  template <class Team>
  KILN_HD void scale(const Team& team, std::int64_t item, const LbfgsState& s) const {
    const double* const dy = y_of(item, s.pairs - 1);
    double sum = 0;
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) sum += dy[k] * dy[k];
    const double factor = curvature_of(item, s.pairs - 1) / team.sum(sum);
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      direction(item, k) *= factor;
    }
    team.sync();
  }

  /// Sets the next trial, or at the end the best point.
  template <class Team>
  KILN_HD void propose(const Team& team, std::int64_t item, const LbfgsState& s, bool go_on) const {
    if (s.begun == 0) return;
    for (std::int64_t k = team.rank(); k < point.columns; k += team.size()) {
      double x = point(item, k);
      if (go_on) {
        x += s.step * direction(item, k);
        const double low = wall(lower, item, k), high = wall(upper, item, k);
        x = x < low ? low : x > high ? high : x;
      }
      trial(item, k) = x;
    }
  }
};

}  // namespace kiln
