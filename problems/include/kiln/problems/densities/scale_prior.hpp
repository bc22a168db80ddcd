// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"

namespace kiln {

/// Priors of a positive parameter that a density keeps as its logarithm.
enum class ScalePriorKind : std::uint8_t {
  flat,         ///< constant on (0, infinity)
  half_cauchy,  ///< of a given scale
  half_normal,  ///< of a given scale
};

/// One of them. Energies have the Jacobian of the logarithm; constants are dropped.
struct ScalePrior {
  ScalePriorKind kind = ScalePriorKind::flat;
  double scale = 1;

  /// Minus the log density at log sigma, with sigma = e^(log sigma) given, and its slope there.
  KILN_HD double energy(double log_sigma, double sigma, double& slope) const {
    const double square = math::square(sigma / scale);
    switch (kind) {
      case ScalePriorKind::half_cauchy:
        // At a square that overflows the energy is infinite all the same.
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
