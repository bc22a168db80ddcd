// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// Densities with known exact moments, for tests of samplers.
enum class SamplingTargetKind : std::uint8_t {
  gaussian,    ///< independent normal coordinates with given precisions
  correlated,  ///< x_{i+1} | x_i ~ N(a x_i, 1 - a^2): unit variances, correlation a^|i-j|
  banana,      ///< x_1 ~ N(0, 10^2), x_2 ~ N(0.03 (x_1^2 - 100), 1); others, if any, N(0, 1)
  funnel,      ///< x_1 ~ N(0, 3^2), all others N(0, e^{x_1})
  two_modes,   ///< 0.8 N(0, I) + 0.2 N(8, I): with weight a at 0 and centre b of the other
};

/// A density with known moments on R^n. Its energy U, the negative log density without constants,
/// has two parts: base belongs to a wide normal reference N(m, s^2 I), term is U - base. So base +
/// lambda term leads from the reference at lambda = 0 to the target at 1.
/// @par Source  Neal, Annals of Statistics 31 (2003) 705, for the funnel; Haario, Saksman and
/// Tamminen, Comput. Statist. 14 (1999) 375, for the banana.
struct SamplingTarget {
  static constexpr const char* name = "sampling_target";
  static constexpr int fixed_dimension = 0;
  static constexpr bool works_by_coordinates = true;

  SamplingTargetKind kind = SamplingTargetKind::gaussian;
  int n = 1;
  double a = 0;
  double b = 0;
  const double* precision = nullptr;  ///< [n], of gaussian; others do not read it
  double reference_mean = 0;          ///< m
  double reference_sd = 1;            ///< s

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double sums[4] = {0, 0, 0, 0};
    for (int i = team.rank(); i < n; i += team.size()) {
      sums[0] += math::square((at.x[i] - reference_mean) / reference_sd);
      add_to(sums, at.x, i);
    }
    team.sum(sums);
    Shape shape;
    const double energy = finish(sums, at.x, shape);
    if constexpr (wants_gradient(want)) {
      const double width = 1 / (reference_sd * reference_sd);
      for (int i = team.rank(); i < n; i += team.size()) {
        const double wide = (at.x[i] - reference_mean) * width;
        const double slope = slope_along(at.x, i, shape);
        at.gradient[i] = at.weights.base * wide + at.weights.term * (slope - wide);
      }
      team.sync();
    }
    const double base = 0.5 * sums[0];
    return {base, energy - base};
  }

 private:
  // Sums over all coordinates that the gradient needs.
  struct Shape {
    double share = 0;    // of the mode that is not at 0
    double squares = 0;  // of the coordinates of a funnel behind the first
    double scale = 1;    // e^{-x_1} of a funnel
  };

  KILN_HD void add_to(double (&sums)[4], const double* x, int i) const {
    switch (kind) {
      case SamplingTargetKind::gaussian:
        sums[1] += 0.5 * precision[i] * x[i] * x[i];
        return;
      case SamplingTargetKind::correlated:
        sums[1] +=
            i == 0 ? 0.5 * x[0] * x[0] : 0.5 * math::square(x[i] - a * x[i - 1]) / (1 - a * a);
        return;
      case SamplingTargetKind::banana:
        if (i == 0) sums[1] += 0.005 * x[0] * x[0];
        if (i == 1) sums[1] += 0.5 * math::square(bent(x));
        if (i > 1) sums[1] += 0.5 * x[i] * x[i];
        return;
      case SamplingTargetKind::funnel:
        if (i > 0) sums[1] += x[i] * x[i];
        return;
      case SamplingTargetKind::two_modes:
        sums[1] += 0.5 * x[i] * x[i];
        sums[2] += 0.5 * math::square(x[i] - b);
        return;
    }
  }

  KILN_HD double finish(const double (&sums)[4], const double* x, Shape& shape) const {
    if (kind == SamplingTargetKind::funnel) {
      shape.squares = sums[1];
      shape.scale = math::exp(-x[0]);
      return x[0] * x[0] / 18 + 0.5 * (n - 1) * x[0] + 0.5 * shape.scale * sums[1];
    }
    if (kind == SamplingTargetKind::two_modes) {
      // -log(a e^-u + (1 - a) e^-v) = u - log a - log(1 + e^t)
      const double t = math::log((1 - a) / a) + sums[1] - sums[2];
      shape.share = math::logistic(t);
      return sums[1] - math::log(a) - math::softplus(t);
    }
    return sums[1];
  }

  KILN_HD double slope_along(const double* x, int i, const Shape& shape) const {
    switch (kind) {
      case SamplingTargetKind::gaussian:
        return precision[i] * x[i];
      case SamplingTargetKind::correlated: {
        const double narrow = 1 / (1 - a * a);
        double slope = i == 0 ? x[0] : narrow * (x[i] - a * x[i - 1]);
        if (i + 1 < n) slope -= narrow * a * (x[i + 1] - a * x[i]);
        return slope;
      }
      case SamplingTargetKind::banana:
        if (i == 0) return 0.01 * x[0] - (n > 1 ? 0.06 * x[0] * bent(x) : 0.0);
        return i == 1 ? bent(x) : x[i];
      case SamplingTargetKind::funnel:
        if (i > 0) return shape.scale * x[i];
        return x[0] / 9 + 0.5 * (n - 1) - 0.5 * shape.scale * shape.squares;
      case SamplingTargetKind::two_modes:
        return x[i] - shape.share * b;
    }
    return 0;
  }

  KILN_HD static double bent(const double* x) { return x[1] - 0.03 * (x[0] * x[0] - 100); }
};

}  // namespace kiln
