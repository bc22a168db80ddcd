// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// Prey u and predators v with the dynamics u' = (t1 - t2 v) u, v' = (-t3 + t4 u) v, observed with
/// log-normal errors sigma_1, sigma_2 at time 0 and at later times.
///
/// t1, t3 ~ N(1, 0.5), t2, t4 ~ N(0.05, 0.05), all positive; u(0), v(0) ~ LogNormal(log 10, 1);
/// sigma ~ LogNormal(-1, 1). Coordinates: logarithms of t1 .. t4, u(0), v(0), sigma_1, sigma_2.
/// base is the negative log prior with the Jacobians, term the negative log likelihood; constants
/// are dropped.
///
/// The classical Runge-Kutta method integrates the logarithms of u and v and their sensitivities.
/// Its steps are the same each time, so gradients are those of the computed energy.
/// @par Source  Carpenter, Predator-Prey Population Dynamics, Stan case studies (2018).
struct LotkaVolterra {
  static constexpr const char* name = "lotka_volterra";
  static constexpr int fixed_dimension = 8;

  int times = 0;                  ///< T, observations after the first
  const double* time = nullptr;   ///< [T + 1], rising; u(0) and v(0) are at the first
  const double* log_y = nullptr;  ///< [T + 1][2], logarithms of the observations
  double longest_step = 1.0 / 16;

  KILN_HD int dimension() const { return fixed_dimension; }
  KILN_HD int workspace() const { return 0; }

  // Small and sequential: every thread computes all of it, one writes.
  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    constexpr bool sloped = wants_gradient(want);
    double rate[4], sigma[2], slope[fixed_dimension] = {};
    for (int i = 0; i < 4; ++i) rate[i] = math::exp(at.x[i]);
    for (int k = 0; k < 2; ++k) sigma[k] = math::exp(at.x[6 + k]);
    State s;
    s.value[0] = at.x[4];
    s.value[1] = at.x[5];
    s.along[4][0] = 1;
    s.along[5][1] = 1;
    double energy = 0;
    for (int t = 0; t <= times; ++t) {
      if (t > 0) integrate<sloped>(rate, time[t] - time[t - 1], s);
      for (int k = 0; k < 2; ++k) {
        const double off = (s.value[k] - log_y[2 * t + k]) / sigma[k];
        energy += 0.5 * off * off + at.x[6 + k];
        if constexpr (sloped) {
          for (int p = 0; p < 6; ++p) slope[p] += off / sigma[k] * s.along[p][k];
          slope[6 + k] += 1 - off * off;
        }
      }
    }
    double base = 0;
    for (int i = 0; i < fixed_dimension; ++i) {
      double pull = 0;
      base += prior(i, at.x[i], i < 4 ? rate[i] : 0.0, pull);
      if constexpr (sloped) {
        if (team.rank() == 0) at.gradient[i] = at.weights.base * pull + at.weights.term * slope[i];
      }
    }
    if constexpr (sloped) team.sync();
    return {base, energy};
  }

 private:
  /// log u and log v, and their derivatives along the first six coordinates.
  struct State {
    double value[2] = {0, 0};
    double along[6][2] = {};
  };

  KILN_HD static double prior(int i, double x, double rate, double& slope) {
    if (i >= 6) {
      slope = x + 1;
      return 0.5 * math::square(x + 1);
    }
    if (i >= 4) {
      const double off = x - 2.302585092994045684;  // log 10
      slope = off;
      return 0.5 * off * off;
    }
    const bool growth = i == 0 || i == 2;
    const double width = growth ? 0.5 : 0.05, off = (rate - (growth ? 1.0 : 0.05)) / width;
    slope = off / width * rate - 1;
    return 0.5 * off * off - x;
  }

  template <bool sloped>
  KILN_HD static void derivative(const double (&rate)[4], const State& s, State& d) {
    const double u = rate[3] * math::exp(s.value[0]), v = rate[1] * math::exp(s.value[1]);
    d.value[0] = rate[0] - v;
    d.value[1] = u - rate[2];
    if constexpr (sloped) {
      for (int p = 0; p < 6; ++p) {
        d.along[p][0] = -v * s.along[p][1];
        d.along[p][1] = u * s.along[p][0];
      }
      d.along[0][0] += rate[0];
      d.along[1][0] -= v;
      d.along[2][1] -= rate[2];
      d.along[3][1] += u;
    }
  }

  template <bool sloped>
  KILN_HD static State moved(const State& s, const State& d, double h) {
    State to;
    for (int k = 0; k < 2; ++k) {
      to.value[k] = s.value[k] + h * d.value[k];
      if constexpr (sloped) {
        for (int p = 0; p < 6; ++p) to.along[p][k] = s.along[p][k] + h * d.along[p][k];
      }
    }
    return to;
  }

  template <bool sloped>
  KILN_HD void integrate(const double (&rate)[4], double span, State& s) const {
    // Not ceil(): the number of steps must not depend on the last bit of a quotient.
    const int steps = static_cast<int>(span / longest_step + 0.999);
    const double h = span / steps;
    for (int i = 0; i < steps; ++i) {
      State k;
      derivative<sloped>(rate, s, k);
      State total = moved<sloped>(s, k, h / 6);
      for (int stage = 1; stage < 4; ++stage) {
        derivative<sloped>(rate, moved<sloped>(s, k, stage < 3 ? h / 2 : h), k);
        total = moved<sloped>(total, k, stage < 3 ? h / 3 : h / 6);
      }
      s = total;
    }
  }
};

}  // namespace kiln
