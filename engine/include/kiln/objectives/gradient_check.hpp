// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kiln/export.hpp"

namespace kiln {

class DensitySource;
class Objective;

/// Compares a gradient with difference quotients of its energy at one point.
struct KILN_API GradientCheck {
  double energy = 0;                ///< at the point, computed alone
  double energy_with_gradient = 0;  ///< at the same point, computed with the gradient

  int coordinate = 0;      ///< the coordinate with the largest error, counted from 0
  double given = 0;        ///< its partial derivative from the density
  double measured = 0;     ///< its partial derivative by central differences of the energy
  double uncertainty = 0;  ///< of `measured`: rounding, and the last change of its extrapolation

  /// Largest |given - measured| less twice the uncertainty, at least 0, relative to the size of the
  /// coordinate: the largest of |given|, |measured| and a thousandth of the largest |measured|.
  double error = 0;
  /// |given - measured| of that coordinate relative to its size; `error` is its certain part.
  double difference = 0;
  /// Largest uncertainty, relative to the size: smaller errors are undetectable at this point.
  double resolution = 0;

  /// Whether energies are equal (1e-12) and no error is above the tolerance.
  bool agrees(double tolerance = 1e-6) const;
  /// A sentence on the result: agreement, or the coordinate that differs and by how much.
  std::string text(double tolerance = 1e-6) const;
};

/// An energy at x [dimension], and if `gradient` is not empty its gradient there [dimension].
using EnergyAndGradient =
    std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Compares the gradient with central differences, coordinate by coordinate: steps from a tenth of
/// max(1, |x_i|) down, halved while energies are not finite, then extrapolated to zero. About 20
/// energies per coordinate.
/// @throws InvalidArgument if the energy or the gradient is not finite at the point.
/// @par Source  Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Softw. 4
/// (1982) 75.
KILN_API GradientCheck check_gradient(const EnergyAndGradient& function, std::span<const double> x);

/// The same for a density, with both parts of weight 1.
/// @throws InvalidArgument also if x has not `density.dimension()` numbers.
KILN_API GradientCheck check_gradient(const DensitySource& density, std::span<const double> x);

/// check_gradient() at several points; it reports the worst.
struct KILN_API GradientCheckAtStarts {
  GradientCheck worst;
  int starts = 0;            ///< number of checked points
  std::int64_t replica = 0;  ///< replica with the worst start
};

/// Checks the gradient of an objective at the initial points of a run with this seed: the first
/// `starts` replicas whose energy is finite and smooth enough for differences with an uncertainty
/// of 1e-4. About 20 `starts` energies per coordinate.
/// @throws InvalidArgument `gradient.missing` if the objective has no gradient that the host can
/// compute, `gradient.starts` if `starts` is below 1; ObjectiveError `objective.start` if too few
/// of the first 100 `starts` replicas qualify.
KILN_API GradientCheckAtStarts check_gradient(const Objective& objective, int starts,
                                              std::uint64_t seed);

}  // namespace kiln
