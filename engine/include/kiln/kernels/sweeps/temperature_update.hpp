// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_factors.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

enum class CoolingKind : std::uint8_t {
  linear,       ///< beta_0 + (beta_1 - beta_0) x
  geometric,    ///< beta_0 (beta_1 / beta_0)^x
  exponential,  ///< beta_0 factor^-t, at most beta_1: the temperature falls by a factor per sweep
  list,         ///< the given betas, each for an equal share of the anneal
  logarithmic,  ///< T = T_0 / (1 + rate ln(1 + t)): T_0 at t = 0, at least T_1
  adaptive,     ///< T <- T exp(gain (target - acceptance)): the acceptance rate follows a falling
                ///< target
  pid,          ///< the same target, followed by a proportional-integral-derivative controller
};

/// Whether a kind uses the acceptance rate.
KILN_HD inline bool is_feedback(CoolingKind kind) {
  return kind == CoolingKind::adaptive || kind == CoolingKind::pid;
}

/// The state of the kinds with feedback. The target falls from `target_begin` to `target_end` by
/// equal factors over the anneal; the rate is that of the last `window` sweeps, or of those so far.
struct Feedback {
  double target_begin = 0;
  double target_log_rate = 0;  ///< log(target_end / target_begin)
  double gain = 0;             ///< adaptive
  double kp = 0, ki = 0, kd = 0;
  double temperature = 0;  ///< now; 0: not begun
  double integral = 0;
  double error_before = 0;
  std::uint64_t accepted_before = 0;  ///< of the group, since the start of the run
  std::uint64_t in_window = 0;        ///< accepted in the window
  std::int64_t filled = 0;            ///< sweeps in the window
};

/// The cooling of one group. x = t / (anneal - 1) runs from 0 to 1 over the sweeps of an anneal,
/// the last `polish` sweeps of a round are at beta = infinity (greedy descent), then the next round
/// begins with `growth` times the sweeps. The first round heats to beta_begin, later ones to
/// beta_again.
struct Cooling {
  CoolingKind kind = CoolingKind::linear;
  double beta_begin = 0;
  double beta_end = 0;
  /// geometric: log(beta_1 / beta_0); exponential: log(factor) per sweep; logarithmic: the rate
  double log_rate = 0;
  double beta_again = -1;     ///< where rounds after the first begin; negative: as the first
  double log_rate_again = 0;  ///< their log_rate, for the length of the first round
  bool stretches = false;     ///< exponential: a longer round cools more slowly
  std::int64_t list_begin = 0, list_size = 0;  ///< list: the betas of this group; size 0: all
  std::int64_t length = 0;                     ///< sweeps of the current round, polish included
  std::int64_t polish = 0;
  std::int64_t growth = 1;  ///< 1: all rounds are alike
  /// Short rounds from beta_again that follow each long one from beta_begin; 0: all rounds are
  /// long, and those after the first begin at beta_again.
  std::int64_t reheats = 0;
  std::int64_t short_unit = 1;   ///< divides the lengths of short rounds
  std::int64_t long_length = 0;  ///< sweeps of the last long round, while a short one lasts
  std::int64_t position = 0;     ///< sweeps done in this round
  std::int64_t round = 0;
  Feedback feedback;

  /// Shorter ones leave replicas no time to fall back into order.
  static constexpr std::int64_t shortest = 64;
  KILN_HD bool is_long() const { return reheats == 0 || round % (reheats + 1) == 0; }
  /// Sweeps of a short round: together the short rounds of a long one take as long as it.
  KILN_HD std::int64_t short_length() const {
    const std::int64_t share = long_length / reheats;
    const std::int64_t wanted = share > shortest ? share : shortest;
    return (wanted + short_unit - 1) / short_unit * short_unit;
  }
};

/// The inverse temperature of sweep `t` of an anneal of `anneal` sweeps.
KILN_HD inline double cooling_beta(const Cooling& c, std::int64_t t, std::int64_t anneal,
                                   View1<const double> list) {
  if (t >= anneal) return exact::infinity();
  const double x =
      anneal > 1 ? exact::div(static_cast<double>(t), static_cast<double>(anneal - 1)) : 1.0;
  switch (c.kind) {
    case CoolingKind::linear:
      return exact::add(c.beta_begin, exact::mul(exact::sub(c.beta_end, c.beta_begin), x));
    case CoolingKind::geometric: {
      const double beta = exact::times_exp(c.beta_begin, exact::mul(c.log_rate, x));
      return beta < exact::infinity() ? beta : c.beta_end;  // rounding passes the largest double
    }
    case CoolingKind::exponential: {
      const double beta =
          exact::times_exp(c.beta_begin, -exact::mul(c.log_rate, static_cast<double>(t)));
      return beta < c.beta_end ? beta : c.beta_end;
    }
    case CoolingKind::list:
      return list[c.list_begin + t * (c.list_size > 0 ? c.list_size : list.size) / anneal];
    case CoolingKind::logarithmic: {
      const double slope = exact::mul(c.log_rate, exact::log(static_cast<double>(t + 1)));
      const double beta = exact::mul(c.beta_begin, exact::add(1.0, slope));
      return beta < c.beta_end ? beta : c.beta_end;
    }
    case CoolingKind::adaptive:
    case CoolingKind::pid:
      break;  // feedback_beta
  }
  return c.beta_end;
}

/// Makes one step of the kinds with feedback: the new temperature from the acceptance rate.
///
/// adaptive: T <- T exp(gain e), e = target - rate; symmetric in log T and positive for every gain.
/// pid: u = kp e + ki I + kd (e - e_before), T <- T (1 + u), the factor within 0.9 .. 1.1 and no
/// integration beyond; I within -10 .. 10. T stays between 1/beta_1 and 1/beta_0.
KILN_HD inline double feedback_beta(Cooling& c, std::int64_t t, std::int64_t anneal, double rate) {
  if (t >= anneal) return exact::infinity();
  Feedback& f = c.feedback;
  const double hottest = exact::div(1.0, c.beta_begin), coldest = exact::div(1.0, c.beta_end);
  if (t == 0 || f.temperature == 0.0) {
    f.temperature = hottest;
    f.integral = f.error_before = 0.0;
    return c.beta_begin;
  }
  const double x = exact::div(static_cast<double>(t), static_cast<double>(anneal));
  const double target = exact::mul(f.target_begin, exact::exp(exact::mul(f.target_log_rate, x)));
  const double error = exact::sub(target, rate);
  double factor = 1.0;
  if (c.kind == CoolingKind::adaptive) {
    factor = exact::exp(exact::mul(f.gain, error));
  } else {
    const double sum = exact::add(f.integral, error);
    const double integral = sum > 10.0 ? 10.0 : sum < -10.0 ? -10.0 : sum;
    const double change =
        exact::add(exact::add(exact::mul(f.kp, error), exact::mul(f.ki, integral)),
                   exact::mul(f.kd, exact::sub(error, f.error_before)));
    factor = exact::add(1.0, change);
    const bool clipped = factor > 1.1 || factor < 0.9;
    factor = factor > 1.1 ? 1.1 : factor < 0.9 ? 0.9 : factor;
    if (!clipped) f.integral = integral;
    f.error_before = error;
  }
  const double temperature = exact::mul(f.temperature, factor);
  if (temperature == temperature) {  // else gains beyond all bounds: it stays
    f.temperature = temperature > hottest ? hottest : temperature < coldest ? coldest : temperature;
  }
  return exact::div(1.0, f.temperature);
}

/// Advances the cooling of every group by one sweep and sets the temperature of that sweep.
///
/// Class E (exact arithmetic). restart[g] becomes 1 when the sweep was the last of a round, so that
/// the group can be given new states before the next one, and 0 otherwise. Of several sweeps in a
/// row the last counts: rounds that end earlier need one launch for each sweep.
/// @par Source  Kirkpatrick, Gelatt, Vecchi, Science 220 (1983) 671, for the geometric form in T.
struct KILN_API TemperatureUpdate {
  static constexpr const char* name = "temperature_update";
  static constexpr const char* summary =
      "advances the cooling of each group by the next sweeps, and sets the temperature of each";

  View1<Cooling> cooling;  ///< [groups], position and round advance
  /// [sweeps][groups], 1/energy in the user's units, overwritten; sweeps that the limit of the run
  /// cuts off repeat the last one.
  View1<double> beta;
  View1<std::uint32_t> restart;  ///< [groups], overwritten
  View1<const double> list;      ///< betas of CoolingKind::list, of all groups
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  // For the kinds with feedback only.
  View1<const std::uint64_t> accepted =
      {};                            ///< [slots], since the start of the run; equal groups in order
  View2<std::uint64_t> window = {};  ///< [groups][sweeps], accepted per sweep, a ring
  std::int64_t group_size = 0;       ///< replicas
  double attempts_per_sweep = 0;     ///< of a group
  std::uint32_t sweeps = 1;          ///< in a row; 1 for the kinds with feedback
  /// [groups], overwritten: `restart`, but only where a long round follows; empty: not wanted.
  View1<std::uint32_t> restart_long = {};

  KILN_HD bool looks_at_counts(std::int64_t group) const {
    return is_feedback(cooling[group].kind) && group_size > 0;
  }

  /// `total`: accepted by the group since the start, if looks_at_counts().
  KILN_HD void operator()(std::int64_t group, std::uint64_t total) const {
    const RunControl now = *control;  // at once: reads do not pass the writes of betas
    if (!now.active(step_offset)) return;
    Cooling c = cooling[group];
    bool done = false;
    double last = 0;
    for (std::uint32_t s = 0; s < sweeps; ++s) {
      if (now.active(step_offset + s)) done = advance(c, group, total, last);
      beta[s * cooling.size + group] = last;
    }
    restart[group] = done ? 1u : 0u;
    if (restart_long) restart_long[group] = done && c.is_long() ? 1u : 0u;
    cooling[group] = c;
  }

 private:
  static constexpr std::int64_t too_long = INT64_MAX >> 8;  // to grow
  // Gives the temperature of the next sweep; returns whether it is the last of its round.
  KILN_HD bool advance(Cooling& c, std::int64_t group, std::uint64_t total,
                       double& of_sweep) const {
    const std::int64_t anneal = c.length - c.polish;
    if (is_feedback(c.kind)) {
      const double rate = window_rate(c.feedback, group, c.position, total);
      of_sweep = feedback_beta(c, c.position, anneal, rate);
    } else {
      of_sweep = cooling_beta(c, c.position, anneal, list);
    }
    ++c.position;
    const bool done = c.position >= c.length;
    if (done) begin_round(c);
    return done;
  }
  KILN_HD static void begin_round(Cooling& c) {
    c.position = 0;
    ++c.round;
    if (c.reheats > 0) return begin_in_cycle(c);
    if (c.round == 1 && c.beta_again >= 0) {
      c.beta_begin = c.beta_again;
      c.log_rate = c.log_rate_again;
    }
    if (c.length >= too_long) return;
    c.length *= c.growth;
    if (c.stretches) c.log_rate = exact::div(c.log_rate, static_cast<double>(c.growth));
  }
  KILN_HD static void begin_in_cycle(Cooling& c) {
    const std::int64_t place = c.round % (c.reheats + 1);
    if (place > 1) return;
    exchange(c.beta_begin, c.beta_again);
    exchange(c.log_rate, c.log_rate_again);
    if (place == 0) {
      c.length = c.long_length < too_long ? c.long_length * c.growth : c.long_length;
      return;
    }
    c.long_length = c.length;
    c.length = c.short_length();
  }
  KILN_HD static void exchange(double& a, double& b) {
    const double before = a;
    a = b;
    b = before;
  }

  // Adds the last sweep to the window and returns the rate over it. A round begins with an empty
  // window.
  KILN_HD double window_rate(Feedback& f, std::int64_t group, std::int64_t position,
                             std::uint64_t total) const {
    const std::uint64_t of_sweep = total - f.accepted_before;
    f.accepted_before = total;
    if (position == 0 || window.columns == 0) {
      f.in_window = 0;
      f.filled = 0;
      return 0.0;
    }
    std::uint64_t& place = window(group, (position - 1) % window.columns);
    if (f.filled == window.columns) {
      f.in_window -= place;
    } else {
      ++f.filled;
    }
    place = of_sweep;
    f.in_window += of_sweep;
    return exact::div(static_cast<double>(f.in_window),
                      exact::mul(attempts_per_sweep, static_cast<double>(f.filled)));
  }
};

}  // namespace kiln
