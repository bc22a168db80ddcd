// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// The shrinkage prior of the weights of a logistic regression.
enum class ShrinkageKind : std::uint8_t {
  /// w_j ~ N(0, sigma^2), sigma^2 ~ Exponential(rate). Coordinates: w_1 .. w_k, log sigma.
  hierarchical,
  /// w_j = u_j l_j g, u_j ~ N(0, 1), l_j and g ~ Gamma(1/2, 1/2). Coordinates: u_1 .. u_k,
  /// log l_1 .. log l_k, log g.
  sparse,
};

/// Logistic regression with a separate scale for each weight or a common one: y_i = 1 with
/// probability 1 / (1 + e^-z_i), z = X w.
///
/// base is the negative log prior with the Jacobians of the logarithms, term the negative log
/// likelihood; constants are dropped.
/// @par Source  Hoffman and Gelman, JMLR 15 (2014) 1593, section 4.1, for hierarchical; Sountsov,
/// Radul and contributors, Inference Gym, for sparse.
struct ShrinkageLogistic {
  static constexpr const char* name = "shrinkage_logistic";
  static constexpr int fixed_dimension = 0;

  ShrinkageKind kind = ShrinkageKind::sparse;
  int rows = 0;                         ///< n
  int terms = 0;                        ///< k
  const double* design = nullptr;       ///< X, [k][n]: column after column
  const std::int32_t* label = nullptr;  ///< y, [n], 0 or 1
  double rate = 0.01;                   ///< of the hierarchical kind

  KILN_HD int dimension() const {
    return kind == ShrinkageKind::sparse ? 2 * terms + 1 : terms + 1;
  }
  KILN_HD int workspace() const { return rows + terms; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double* residual = at.work;
    double* weight = at.work + rows;
    double sums[2] = {0, 0};  // prior, likelihood
    for (int j = team.rank(); j < terms; j += team.size()) sums[0] += prepare(at.x, j, weight[j]);
    team.sync();
    for (int i = team.rank(); i < rows; i += team.size()) {
      double z = 0;
      for (int j = 0; j < terms; ++j) z += element(i, j) * weight[j];
      const double small = math::exp(-math::abs(z)), y = label[i];
      sums[1] += math::log1p(small) + (z > 0 ? z : 0.0) - y * z;
      if constexpr (wants_gradient(want)) {
        residual[i] = (z > 0 ? 1.0 : small) / (1.0 + small) - y;
      }
    }
    team.sum(sums);
    const double common = at.x[dimension() - 1];
    if constexpr (wants_gradient(want)) {
      double along = 0;  // of the likelihood along the common scale
      for (int first = 0; first < terms; first += group) {
        double pull[group] = {};
        pull_weights(team, residual, first, pull);
        for (int g = 0; g < group && first + g < terms; ++g) {
          const int j = first + g;
          along += pull[g] * weight[j];
          if (j % team.size() == team.rank()) write_slopes(at, j, weight[j], pull[g]);
        }
      }
      if (team.rank() == 0) {
        double& slope = at.gradient[dimension() - 1];
        if (kind == ShrinkageKind::sparse) {
          slope = at.weights.base * 0.5 * (math::exp(common) - 1) + at.weights.term * along;
        } else {
          const double variance = math::exp(2 * common);
          slope = at.weights.base * (terms - 2 * sums[0] + 2 * rate * variance - 2);
        }
      }
      team.sync();
    }
    return {sums[0] + prior_of_common(common), sums[1]};
  }

 private:
  static constexpr int group = 4;  // sums over rows that a team adds up at once

  KILN_HD double element(int i, int j) const {
    return design[static_cast<std::int64_t>(j) * rows + i];
  }

  /// Computes the weight of column j; returns the energy of its prior.
  KILN_HD double prepare(const double* x, int j, double& weight) const {
    if (kind == ShrinkageKind::sparse) {
      const double local = x[terms + j];
      weight = x[j] * math::exp(local + x[2 * terms]);
      return 0.5 * x[j] * x[j] + 0.5 * (math::exp(local) - local);
    }
    weight = x[j];
    return 0.5 * math::square(weight * math::exp(-x[terms]));
  }

  KILN_HD double prior_of_common(double common) const {
    if (kind == ShrinkageKind::sparse) return 0.5 * (math::exp(common) - common);
    return rate * math::exp(2 * common) + (terms - 2) * common;
  }

  /// Gradients of the likelihood along the weights of columns first, first + 1, ...; each thread
  /// reads residuals of its rows only.
  template <class Team>
  KILN_HD void pull_weights(const Team& team, const double* residual, int first,
                            double (&pull)[group]) const {
    const int last = terms - 1;
    for (int i = team.rank(); i < rows; i += team.size()) {
      for (int g = 0; g < group; ++g) {
        const int j = first + g < last ? first + g : last;
        pull[g] += element(i, j) * residual[i];
      }
    }
    team.sum(pull);
  }

  KILN_HD void write_slopes(const DensityPoint& at, int j, double weight, double pull) const {
    const double base = at.weights.base, term = at.weights.term;
    if (kind == ShrinkageKind::sparse) {
      const double local = at.x[terms + j];
      at.gradient[j] = base * at.x[j] + term * pull * math::exp(local + at.x[2 * terms]);
      at.gradient[terms + j] = base * 0.5 * (math::exp(local) - 1) + term * pull * weight;
    } else {
      at.gradient[j] = base * weight * math::exp(-2 * at.x[terms]) + term * pull;
    }
  }
};

}  // namespace kiln
