// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// The mean of an observation as a function of z, the row's product with the weights.
enum class GlmLink : std::uint8_t {
  logistic,  ///< y in [0, 1] Bernoulli, P(y = 1) = 1 / (1 + e^-z)
  identity,  ///< y ~ N(z, noise), the standard deviation known
  log,       ///< y = 0, 1, 2, ... Poisson with mean e^z
};

/// The posterior of a generalised linear model: weights w_j ~ N(0, s_j), one row of X per
/// observation, z = X w.
///
/// base is the negative log prior, sum of w_j^2 / (2 s_j^2); term is the negative log likelihood, a
/// sum over rows of log(1 + e^z) - y z, (z - y)^2 / (2 noise^2), or e^z - y z. Constants are
/// dropped. This is the plain form, for any team; GlmTransition moves many chains through the same
/// density at once. kiln/objectives/generalized_linear.hpp makes one from data.
/// @par Source  McCullagh, Nelder, Generalized Linear Models (1989), chapter 2.
struct GeneralizedLinear {
  static constexpr const char* name = "generalized_linear";
  static constexpr int fixed_dimension = 0;
  static constexpr int tile = 256;  ///< rows whose residuals are stored at a time

  GlmLink link = GlmLink::logistic;
  int columns = 1;            ///< weights
  int width = 8;              ///< columns of x in memory, a multiple of 8; the rest is 0
  std::int64_t rows = 0;      ///< observations; rows of zeros pad them to a multiple of 8
  double precision = 1;       ///< 1 / noise^2, of GlmLink::identity
  const double* x = nullptr;  ///< [rows][width]
  const double* y = nullptr;  ///< [rows]
  const double* prior_precision = nullptr;  ///< [columns], 1 / s_j^2
  const float* x_single = nullptr;          ///< [rows][width], for GlmTransition on a GPU
  const float* y_single = nullptr;          ///< [rows], likewise

  KILN_HD int dimension() const { return columns; }
  KILN_HD int workspace() const { return tile; }

  /// The negative log likelihood of one observation.
  KILN_HD double energy_of(double z, double observed) const {
    switch (link) {
      case GlmLink::logistic:
        return math::softplus(z) - observed * z;
      case GlmLink::identity:
        return 0.5 * precision * math::square(z - observed);
      case GlmLink::log:
        return math::exp(z) - observed * z;
    }
    return 0;
  }
  /// Its derivative along z.
  KILN_HD double residual_of(double z, double observed) const {
    switch (link) {
      case GlmLink::logistic:
        return math::logistic(z) - observed;
      case GlmLink::identity:
        return precision * (z - observed);
      case GlmLink::log:
        return math::exp(z) - observed;
    }
    return 0;
  }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double sums[2] = {0, 0};
    for (int j = team.rank(); j < columns; j += team.size()) {
      const double pull = prior_precision[j] * at.x[j];
      sums[0] += 0.5 * pull * at.x[j];
      if constexpr (wants_gradient(want)) at.gradient[j] = at.weights.base * pull;
    }
    for (std::int64_t first = 0; first < rows; first += tile) {
      const int count = rows - first < tile ? static_cast<int>(rows - first) : tile;
      for (int k = team.rank(); k < count; k += team.size()) {
        const double* row = x + (first + k) * width;
        double z = 0;
        for (int j = 0; j < columns; ++j) z += row[j] * at.x[j];
        if constexpr (wants_energy(want)) sums[1] += energy_of(z, y[first + k]);
        if constexpr (wants_gradient(want)) {
          at.work[k] = at.weights.term * residual_of(z, y[first + k]);
        }
      }
      if constexpr (wants_gradient(want)) {
        team.sync();
        add_rows(team, first, count, at);
        team.sync();
      }
    }
    if constexpr (!wants_energy(want)) return {};
    team.sum(sums);
    return {sums[0], sums[1]};
  }

 private:
  /// gradient += X^T residuals of a tile.
  template <class Team>
  KILN_HD void add_rows(const Team& team, std::int64_t first, int count,
                        const DensityPoint& at) const {
    const double* rows_of_tile = x + first * width;
    if (team.size() == 1) {  // along the rows of X, as they lie in memory
      for (int k = 0; k < count; ++k) {
        const double* row = rows_of_tile + static_cast<std::int64_t>(k) * width;
        for (int j = 0; j < columns; ++j) at.gradient[j] += at.work[k] * row[j];
      }
      return;
    }
    for (int j = team.rank(); j < columns; j += team.size()) {
      double sum = 0;
      for (int k = 0; k < count; ++k) {
        sum += at.work[k] * rows_of_tile[static_cast<std::int64_t>(k) * width + j];
      }
      at.gradient[j] += sum;
    }
  }
};

}  // namespace kiln
