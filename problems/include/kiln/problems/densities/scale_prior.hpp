// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"

namespace kiln {

/// Priors of a positive parameter that a density stores as its logarithm.
enum class ScalePriorKind : std::uint8_t {
  flat,         ///< constant on (0, infinity)
  half_cauchy,  ///< of a given scale
  half_normal,  ///< of a given scale
};

/// A prior of a scale. Energies include the Jacobian of the logarithm; constants are dropped.
struct ScalePrior {
  ScalePriorKind kind = ScalePriorKind::flat;
  double scale = 1;

  /// The negative log density at log sigma, with sigma = e^(log sigma) given, and its slope.
  KILN_HD double energy(double log_sigma, double sigma, double& slope) const {
    const double square = math::square(sigma / scale);
    switch (kind) {
      case ScalePriorKind::half_cauchy:
        // If the square overflows the energy is infinite in any case.
        slope = 2 * square / (1 + square) - 1;
        return math::log1p(square) - log_sigma;
      case ScalePriorKind::half_normal:
        slope = square - 1;
        return 0.5 * square - log_sigma;
      default:
        slope = -1;
        return -log_sigma;
    }
  }
};

}  // namespace kiln
