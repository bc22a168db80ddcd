// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// Functions on R^d that optimisers are tried on; all term, no base.
enum class TestFunctionKind : std::uint8_t { sphere, rosenbrock, rastrigin };

/// One of them, with any number of dimensions.
struct TestFunction {
  static constexpr int fixed_dimension = 0;

  TestFunctionKind kind = TestFunctionKind::sphere;
  int n = 1;

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double value = 0;
    for (int i = team.rank(); i < n; i += team.size()) {
      double slope = 0;
      value += part(at.x, i, slope);
      if constexpr (wants_gradient(want)) at.gradient[i] = at.weights.term * slope;
    }
    if constexpr (wants_gradient(want)) team.sync();
    if constexpr (!wants_energy(want)) return {};
    return {0, team.sum(value)};
  }

 private:
  /// The share of coordinate i in the value, and the partial derivative of the whole.
  KILN_HD double part(const double* x, int i, double& slope) const {
    const double xi = x[i];
    switch (kind) {
      case TestFunctionKind::sphere:
        slope = 2 * xi;
        return xi * xi;
      case TestFunctionKind::rosenbrock: {
        double value = 0;
        slope = 0;
        if (i + 1 < n) {
          const double up = x[i + 1] - xi * xi;
          value = 100 * up * up + (1 - xi) * (1 - xi);
          slope += -400 * xi * up - 2 * (1 - xi);
        }
        if (i > 0) slope += 200 * (xi - x[i - 1] * x[i - 1]);
        return value;
      }
      case TestFunctionKind::rastrigin:
        slope = 2 * xi + 20 * math::pi * math::sin(2 * math::pi * xi);
        return 10 + xi * xi - 10 * math::cos(2 * math::pi * xi);
    }
    return 0;
  }
};

}  // namespace kiln
