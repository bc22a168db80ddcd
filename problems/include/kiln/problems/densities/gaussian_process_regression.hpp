// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// The observations of a Gaussian process.
enum class ProcessKind : std::uint8_t {
  normal,   ///< y ~ N(f, sigma), sigma a *variance*. Coordinates: log rho, log alpha, log sigma
  poisson,  ///< counts ~ Poisson(e^f), f = L z. Coordinates: log rho, log alpha, z_1 .. z_N
};

/// A Gaussian process f with the covariance alpha^2 exp(-(x_i - x_j)^2 / (2 rho^2)) at some tens of
/// points.
///
/// rho ~ Gamma(25, 4), alpha ~ half-normal(2), sigma ~ half-normal(1), z ~ N(0, I). The normal kind
/// has f integrated out; the covariance of the other has 1e-10 on its diagonal, and L is its
/// Cholesky factor. base is the negative log prior with the Jacobians, term the negative log
/// likelihood; constants are dropped.
/// @par Source  Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.4; the
/// derivative of a Cholesky factor as in Murray, arXiv:1602.07527.
struct GaussianProcessRegression {
  static constexpr const char* name = "gaussian_process_regression";
  static constexpr int fixed_dimension = 0;

  ProcessKind kind = ProcessKind::normal;
  int points = 0;             ///< N
  const double* x = nullptr;  ///< [N]
  const double* y = nullptr;  ///< [N], values or counts

  KILN_HD int dimension() const { return kind == ProcessKind::normal ? 3 : 2 + points; }
  KILN_HD int workspace() const { return points * (3 * points + 2); }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    const bool normal = kind == ProcessKind::normal;
    const double rho = math::exp(at.x[0]), alpha = math::exp(at.x[1]);
    const double noise = normal ? math::exp(at.x[2]) : 1e-10;
    Scratch m(at.work, points);
    factorize(team, rho, alpha, noise, m);
    invert(team, m);
    // Along log rho, log alpha and the third coordinate.
    double slopes[3] = {0, 0, 0};
    EnergyParts e = normal ? normal_data<want>(team, rho, noise, m, slopes)
                           : counts<want>(team, at, rho, m, slopes);
    e.base += 4 * rho - 25 * at.x[0] + alpha * alpha / 8 - at.x[1];
    if (normal) e.base += 0.5 * noise * noise - at.x[2];
    if constexpr (wants_gradient(want)) {
      if (team.rank() == 0) {
        at.gradient[0] = at.weights.base * (4 * rho - 25) + at.weights.term * slopes[0];
        at.gradient[1] = at.weights.base * (alpha * alpha / 4 - 1) + at.weights.term * slopes[1];
        if (normal) {
          at.gradient[2] = at.weights.base * (noise * noise - 1) + at.weights.term * slopes[2];
        }
      }
      team.sync();
    }
    return e;
  }

 private:
  /// Matrices [N][N], row after row, and vectors [N].
  struct Scratch {
    int n;
    double *covariance, *factor, *inverse, *a, *b;
    KILN_HD Scratch(double* work, int points)
        : n(points),
          covariance(work),
          factor(work + points * points),
          inverse(work + 2 * points * points),
          a(work + 3 * points * points),
          b(a + points) {}
    KILN_HD double& K(int i, int j) const { return covariance[i * n + j]; }
    KILN_HD double& L(int i, int j) const { return factor[i * n + j]; }
    KILN_HD double& M(int i, int j) const { return inverse[i * n + j]; }  // L^-1
  };

  // The covariance without noise, and the Cholesky factor of that with noise, column by column.
  template <class Team>
  KILN_HD void factorize(const Team& team, double rho, double alpha, double noise,
                         const Scratch& m) const {
    for (int j = 0; j < points; ++j) {
      double rest = alpha * alpha + noise;
      for (int k = 0; k < j; ++k) rest -= m.L(j, k) * m.L(j, k);
      const double diagonal = math::sqrt(rest);  // NaN where it is not positive definite
      for (int i = j + team.rank(); i < points; i += team.size()) {
        m.K(i, j) = alpha * alpha * math::exp(-0.5 * math::square((x[i] - x[j]) / rho));
        double sum = m.K(i, j);
        for (int k = 0; k < j; ++k) sum -= m.L(i, k) * m.L(j, k);
        m.L(i, j) = i == j ? diagonal : sum / diagonal;
      }
      team.sync();
    }
  }

  // One thread per column of the inverse.
  template <class Team>
  KILN_HD void invert(const Team& team, const Scratch& m) const {
    for (int c = team.rank(); c < points; c += team.size()) {
      for (int i = c; i < points; ++i) {
        double sum = i == c ? 1 : 0;
        for (int k = c; k < i; ++k) sum -= m.L(i, k) * m.M(k, c);
        m.M(i, c) = sum / m.L(i, i);
      }
    }
    team.sync();
  }

  // Adds the terms of the slope `pull` along K_ij = K_ji to those along log rho and log alpha.
  KILN_HD void add_slopes(int i, int j, double rho, double pull, const Scratch& m,
                          double (&slopes)[3]) const {
    slopes[0] += pull * m.K(i, j) * math::square((x[i] - x[j]) / rho);
    slopes[1] += pull * 2 * m.K(i, j);
  }

  template <Want want, class Team>
  KILN_HD EnergyParts normal_data(const Team& team, double rho, double noise, const Scratch& m,
                                  double (&slopes)[3]) const {
    double energy = 0;
    for (int i = team.rank(); i < points; i += team.size()) {
      double white = 0;  // (L^-1 y)_i
      for (int j = 0; j <= i; ++j) white += m.M(i, j) * y[j];
      m.a[i] = white;
      energy += 0.5 * white * white + math::log(m.L(i, i));
    }
    energy = team.sum(energy);
    if constexpr (wants_gradient(want)) {
      team.sync();
      for (int i = team.rank(); i < points; i += team.size()) {
        double sum = 0;  // (K^-1 y)_i
        for (int k = i; k < points; ++k) sum += m.M(k, i) * m.a[k];
        m.b[i] = sum;
      }
      team.sync();
      for (int p = team.rank(); p < points * points; p += team.size()) {
        const int i = p / points, j = p % points;
        if (j > i) continue;
        double pull = -m.b[i] * m.b[j];  // K^-1 - b b^T
        for (int k = i; k < points; ++k) pull += m.M(k, i) * m.M(k, j);
        add_slopes(i, j, rho, i == j ? 0.5 * pull : pull, m, slopes);
        if (i == j) slopes[2] += 0.5 * pull * noise;
      }
      team.sum(slopes);
    }
    return {0, energy};
  }

  template <Want want, class Team>
  KILN_HD EnergyParts counts(const Team& team, const DensityPoint& at, double rho, const Scratch& m,
                             double (&slopes)[3]) const {
    const double* z = at.x + 2;
    double sums[2] = {0, 0};  // prior, likelihood
    for (int i = team.rank(); i < points; i += team.size()) {
      double f = 0;
      for (int j = 0; j <= i; ++j) f += m.L(i, j) * z[j];
      const double mean = math::exp(f);
      m.a[i] = mean - y[i];
      sums[0] += 0.5 * z[i] * z[i];
      sums[1] += mean - y[i] * f;
    }
    team.sum(sums);
    if constexpr (wants_gradient(want)) {
      team.sync();
      for (int i = team.rank(); i < points; i += team.size()) {
        double pull = 0;  // along z_i: (L^T a)_i
        for (int k = i; k < points; ++k) pull += m.L(k, i) * m.a[k];
        m.b[i] = pull;
        at.gradient[2 + i] = at.weights.base * z[i] + at.weights.term * pull;
      }
      team.sync();
      // The slope along K is L^-T P L^-1, P the lower triangle of b z^T with half its diagonal.
      // Column c of P L^-1 overwrites that of L, which is no longer needed.
      for (int c = team.rank(); c < points; c += team.size()) {
        double before = 0;  // sum over j < i of z_j M_jc
        for (int i = 0; i < points; ++i) {
          const double here = i < c ? 0.0 : z[i] * m.M(i, c);
          m.L(i, c) = m.b[i] * (before + 0.5 * here);
          before += here;
        }
      }
      team.sync();
      for (int p = team.rank(); p < points * points; p += team.size()) {
        const int i = p / points, j = p % points;
        double pull = 0;
        for (int k = i; k < points; ++k) pull += m.M(k, i) * m.L(k, j);
        add_slopes(i > j ? i : j, i > j ? j : i, rho, pull, m, slopes);
      }
      team.sum(slopes);
    }
    return {sums[0], sums[1]};
  }
};

}  // namespace kiln
