// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

enum class CoolingKind : std::uint8_t {
  linear,       ///< beta_0 + (beta_1 - beta_0) x
  geometric,    ///< beta_0 (beta_1 / beta_0)^x
  exponential,  ///< beta_0 factor^-t, at most beta_1: the temperature falls by a factor per sweep
  list,         ///< the given betas, each for an equal share of the anneal
};

/// The cooling of one group. x = t / (anneal - 1) runs from 0 to 1 over the sweeps of an anneal,
/// the last `polish` sweeps of a round are at beta = infinity (greedy descent), then the next round
/// begins with new states and `growth` times the sweeps.
struct Cooling {
  CoolingKind kind = CoolingKind::linear;
  double beta_begin = 0;
  double beta_end = 0;
  double log_rate = 0;      ///< geometric: log(beta_1 / beta_0); exponential: log(factor) per sweep
  std::int64_t length = 0;  ///< sweeps of the current round, polish included
  std::int64_t polish = 0;
  std::int64_t growth = 1;    ///< 1: all rounds are alike
  std::int64_t position = 0;  ///< sweeps done in this round
  std::int64_t round = 0;
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
    case CoolingKind::geometric:
      return exact::mul(c.beta_begin, exact::exp(exact::mul(c.log_rate, x)));
    case CoolingKind::exponential: {
      const double beta =
          exact::mul(c.beta_begin, exact::exp(-exact::mul(c.log_rate, static_cast<double>(t))));
      return beta < c.beta_end ? beta : c.beta_end;
    }
    case CoolingKind::list:
      return list[t * list.size / anneal];
  }
  return c.beta_end;
}

/// Advances the cooling of every group by one sweep and gives the temperature of that sweep.
///
/// Class E (exact arithmetic). restart[g] becomes 1 when the sweep was the last of a round, so that
/// the next tick redraws the states of the group, and 0 otherwise.
/// @par Source  Kirkpatrick, Gelatt, Vecchi, Science 220 (1983) 671, for the geometric form in T.
struct TemperatureUpdate {
  static constexpr const char* name = "temperature_update";

  View1<Cooling> cooling;        ///< [groups], position and round advance
  View1<double> beta;            ///< [groups], 1/energy in the user's units, overwritten
  View1<std::uint32_t> restart;  ///< [groups], overwritten
  View1<const double> list;      ///< betas of CoolingKind::list, shared by all groups
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t group) const {
    if (!control->active(step_offset)) return;
    Cooling c = cooling[group];
    beta[group] = cooling_beta(c, c.position, c.length - c.polish, list);
    ++c.position;
    const bool done = c.position >= c.length;
    if (done) {
      c.position = 0;
      ++c.round;
      if (c.length < (INT64_MAX >> 8)) c.length *= c.growth;
    }
    restart[group] = done ? 1u : 0u;
    cooling[group] = c;
  }
};

}  // namespace kiln
