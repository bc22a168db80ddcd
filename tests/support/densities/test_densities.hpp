// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <limits>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

/// Densities for tests of integrators, by the contract of kiln/device/density.hpp; all term, in
/// Cartesian coordinates of a number of dimensions known at run time.
namespace kiln::test {

/// What they share: a term that Derived::part(x, n, i, slope) gives by coordinates.
template <class Derived>
struct SumDensity {
  static constexpr int fixed_dimension = 0;
  int n = 1;

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double value = 0;
    for (int i = team.rank(); i < n; i += team.size()) {
      double slope = 0;
      value += static_cast<const Derived&>(*this).part(at.x, i, slope);
      if constexpr (wants_gradient(want)) at.gradient[i] = at.weights.term * slope;
    }
    if constexpr (wants_gradient(want)) team.sync();
    return {0, team.sum(value)};
  }
};

/// U = sum omega^2 x^2 / 2.
struct Oscillators : SumDensity<Oscillators> {
  double omega = 1;
  KILN_HD double part(const double* x, int i, double& slope) const {
    slope = omega * omega * x[i];
    return 0.5 * slope * x[i];
  }
};

/// U = sum x^4 / 4 + x^2 / 2 + x_i x_{i+1} / 2: anharmonic and coupled.
struct Anharmonic : SumDensity<Anharmonic> {
  KILN_HD double part(const double* x, int i, double& slope) const {
    const double xi = x[i];
    slope = xi * xi * xi + xi;
    if (i > 0) slope += 0.5 * x[i - 1];
    if (i + 1 < n) slope += 0.5 * x[i + 1];
    return 0.25 * xi * xi * xi * xi + 0.5 * xi * xi + (i + 1 < n ? 0.5 * xi * x[i + 1] : 0.0);
  }
};

/// Logarithms of gamma variables: U = sum e^x - shape x, times `scale`.
struct LogGamma : SumDensity<LogGamma> {
  double shape = 1;
  double scale = 1;
  KILN_HD double part(const double* x, int i, double& slope) const {
    const double e = math::exp(x[i]);
    slope = scale * (e - shape);
    return scale * (e - shape * x[i]);
  }
};

/// Normal where x[0] > 0, not a number elsewhere.
struct HalfLine : SumDensity<HalfLine> {
  KILN_HD double part(const double* x, int i, double& slope) const {
    const double hole = x[0] > 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
    slope = hole * x[i];
    return 0.5 * hole * x[i] * x[i];
  }
};

/// U = x^T P x / 2 with a full matrix P.
struct CorrelatedNormal : SumDensity<CorrelatedNormal> {
  const double* precision = nullptr;  ///< [n][n]
  KILN_HD double part(const double* x, int i, double& slope) const {
    slope = 0;
    for (int j = 0; j < n; ++j) slope += precision[i * n + j] * x[j];
    return 0.5 * slope * x[i];
  }
};

/// A density with the classic mistake: its gradient has the wrong sign.
template <class Density>
struct WrongSign {
  static constexpr int fixed_dimension = Density::fixed_dimension;
  Density density;
  KILN_HD int dimension() const { return density.dimension(); }
  KILN_HD int workspace() const { return density.workspace(); }
  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    DensityPoint turned = at;
    turned.weights = {-at.weights.base, -at.weights.term};
    return density.template evaluate<want>(team, turned);
  }
};

/// Counts gradients, on the host.
template <class Density>
struct Counting {
  static constexpr int fixed_dimension = Density::fixed_dimension;
  Density density;
  std::atomic<int>* gradients = nullptr;
  int dimension() const { return density.dimension(); }
  int workspace() const { return density.workspace(); }
  template <Want want, class Team>
  EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    if (wants_gradient(want)) ++*gradients;
    return density.template evaluate<want>(team, at);
  }
};

}  // namespace kiln::test
