// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// The hierarchical normal model of coaching effects in eight schools.
///
/// Effects theta_j ~ N(mu, tau), data y_j ~ N(theta_j, sigma_j), mu ~ N(0, 5), tau ~
/// half-Cauchy(5). Coordinates: 0 .. 7 the effects, 8 mu, 9 log tau. Non-centred, the effects are
/// z_j = (theta_j - mu) / tau; centred, theta_j itself. base is the negative log prior with the
/// Jacobian of log tau, term the negative log likelihood; constants are dropped.
/// @par Source  Rubin, J. Educ. Stat. 6 (1981) 377; Gelman et al., Bayesian Data Analysis.
struct EightSchools {
  static constexpr const char* name = "eight_schools";
  static constexpr int fixed_dimension = 10;
  static constexpr int schools = 8;

  double y[schools] = {28, 8, -3, 7, -1, 1, 18, 12};
  double sigma[schools] = {15, 10, 16, 11, 9, 11, 10, 18};
  bool centered = false;

  KILN_HD int dimension() const { return fixed_dimension; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    const double mu = at.x[8], log_tau = at.x[9];
    const double tau = math::exp(log_tau);
    // Energy of the effects and of the data, and the gradient along mu and log tau.
    double sums[4] = {0, 0, 0, 0};
    KILN_UNROLL
    for (int j = team.rank(); j < schools; j += team.size()) {
      const double effect = at.x[j];
      const double z = centered ? (effect - mu) / tau : effect;
      const double theta = centered ? effect : mu + tau * effect;
      const double precision = 1.0 / (sigma[j] * sigma[j]);
      const double pull = (theta - y[j]) * precision;
      sums[0] += 0.5 * z * z;
      sums[1] += 0.5 * pull * (theta - y[j]);
      if constexpr (wants_gradient(want)) {
        const double prior = at.weights.base * z, likelihood = at.weights.term * pull;
        at.gradient[j] = centered ? prior / tau + likelihood : prior + likelihood * tau;
        sums[2] += centered ? -prior / tau : likelihood;
        sums[3] += centered ? at.weights.base * (1.0 - z * z) : likelihood * tau * effect;
      }
    }
    team.sum(sums);
    const double q = 0.2 * tau;  // tau / 5
    const double wide = 1.0 + q * q;
    if constexpr (wants_gradient(want)) {
      if (team.rank() == 0) {
        at.gradient[8] = sums[2] + at.weights.base * mu / 25.0;
        at.gradient[9] = sums[3] + at.weights.base * (1.0 - 2.0 / wide);
      }
      team.sync();
    }
    if constexpr (!wants_energy(want)) return {};
    const double scale_of_effects = centered ? schools * log_tau : 0.0;
    return {sums[0] + scale_of_effects + mu * mu / 50.0 + math::log(wide) - log_tau, sums[1]};
  }
};

}  // namespace kiln
