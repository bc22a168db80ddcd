// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"
#include "kiln/problems/densities/scale_prior.hpp"

namespace kiln {

/// Linear regression with normal errors: y ~ N(X beta, sigma^2), beta_j ~ N(m_j, s_j^2) or flat,
/// and a prior of sigma.
///
/// Coordinates: beta_1 .. beta_k, log sigma - log_scale: sigma has the unit of the residuals, and
/// so of R. The data enter only as the triangular factor R of the matrix [X y] = Q R, because |y -
/// X beta|^2 = |R (beta, -1)|^2: an evaluation costs k^2 operations for any number of rows, and
/// nothing cancels. base is the negative log prior with the Jacobian of log sigma, term the
/// negative log likelihood; constants are dropped.
struct LinearRegression {
  static constexpr const char* name = "linear_regression";
  static constexpr int fixed_dimension = 0;

  int terms = 0;                            ///< k
  double rows = 0;                          ///< of the data
  double log_scale = 0;                     ///< logarithm of the unit of residuals
  const double* factor = nullptr;           ///< R, [k + 1][k + 1], upper triangular
  const double* prior_mean = nullptr;       ///< [k]
  const double* prior_precision = nullptr;  ///< [k], 1 / s_j^2; 0: flat
  ScalePrior sigma_prior;

  KILN_HD int dimension() const { return terms + 1; }
  KILN_HD int workspace() const { return terms + 1; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    const int k = terms;
    const double* beta = at.x;
    const double log_sigma = at.x[k] + log_scale;
    double sums[2] = {0, 0};  // squares of residuals, prior of beta
    for (int i = team.rank(); i <= k; i += team.size()) {
      const double* row = factor + i * (k + 1);
      double residual = -row[k];
      for (int j = i; j < k; ++j) residual += row[j] * beta[j];
      sums[0] += residual * residual;
      if (i < k) sums[1] += 0.5 * prior_precision[i] * math::square(beta[i] - prior_mean[i]);
      if constexpr (wants_gradient(want)) at.work[i] = residual;
    }
    team.sum(sums);
    const double precision = math::exp(-2 * at.x[k]);
    double slope = 0;
    const double scale_energy = sigma_prior.energy(log_sigma, math::exp(log_sigma), slope);
    if constexpr (wants_gradient(want)) {
      team.sync();  // residuals of all threads
      for (int j = team.rank(); j < k; j += team.size()) {
        double pull = 0;
        for (int i = 0; i <= j; ++i) pull += factor[i * (k + 1) + j] * at.work[i];
        at.gradient[j] = at.weights.base * prior_precision[j] * (beta[j] - prior_mean[j]) +
                         at.weights.term * precision * pull;
      }
      if (team.rank() == 0) {
        at.gradient[k] = at.weights.base * slope + at.weights.term * (rows - precision * sums[0]);
      }
      team.sync();
    }
    return {sums[1] + scale_energy, rows * log_sigma + 0.5 * precision * sums[0]};
  }
};

}  // namespace kiln
