// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln::problems {

/// The integer that stands for a coefficient in units of 1 / scale.
inline double whole_of(double coefficient, double scale) { return std::round(coefficient * scale); }

/// Whether that integer gives the coefficient back, within `tolerance` parts of it: 1 for 0.1 at
/// the scale 10.
inline bool is_whole(double coefficient, double scale, double tolerance) {
  const double change = whole_of(coefficient, scale) / scale - coefficient;
  return std::abs(change) <= tolerance * std::abs(coefficient);
}

/// Decimal fractions that were computed, such as 3 * 0.1, are a few roundings away from the nearest
/// double: sums of coefficients round as much.
inline constexpr double decimal_tolerance = 0x1p-50;

/// What limits the scale of a model: (size * scale + count) * growth is at most 2^52.
struct ScaleLimit {
  double size = 0;         ///< of the energy: sum of |h| + |J|
  std::int64_t count = 0;  ///< of the coefficients: each is rounded, and so is the sum
  double growth = 1;       ///< stored units for one unit of a scaled coefficient
  bool allows(double scale) const {
    return (size * scale + static_cast<double>(count)) * growth <= 0x1p52;
  }
};

/// All numbers 2^i 5^j up to 2^52 with i up to 20 and j up to 15, in rising order: among them are
/// the denominators of all decimal fractions of up to 15 digits.
KILN_TEST_API const std::vector<double>& decimal_scales();

/// The least of decimal_scales() that makes all coefficients integers and that the limit allows; 0
/// if there is none.
/// @param all  `all(test)` tells whether test(coefficient) holds for all coefficients
/// @param tolerance  as of is_whole(): 0 or decimal_tolerance
template <class All>
double decimal_scale(const All& all, const ScaleLimit& limit, double tolerance) {
  std::vector<double> stubborn;  // coefficients that a smaller scale did not make integers
  for (const double scale : decimal_scales()) {
    if (!limit.allows(scale)) return 0;
    const auto fits = [&](double coefficient) { return is_whole(coefficient, scale, tolerance); };
    bool fit = true;
    for (const double coefficient : stubborn) fit = fit && fits(coefficient);
    if (!fit) continue;
    const bool all_fit = all([&](double coefficient) {
      if (fits(coefficient)) return true;
      stubborn.push_back(coefficient);
      return false;
    });
    if (all_fit) return scale;
  }
  return 0;
}

/// The largest power of two between 2^-1000 and 2^1000 that the limit allows.
KILN_TEST_API double fixed_point_scale(const ScaleLimit& limit);

/// The most by which fixed point may change a coefficient, in parts of it.
inline constexpr double fixed_point_tolerance = 1e-6;

/// Whether fixed point changes no coefficient by more than that, where the smallest coefficients of
/// a distribution are judged by others: two million normal numbers have some of a millionth, which
/// decide nothing. Sizes without a gap of a factor 1000 between them are one distribution, and all
/// of its changes are held against the size that one in a hundred of them is below.
KILN_TEST_API bool fits_distributions(std::vector<double> sizes, double scale);

/// The coefficient that rounding changes most, in parts of it.
struct Misfit {
  std::size_t index = 0;
  double coefficient = 0;
  double change = 0;
};

/// How coefficients become integers.
struct IntegerScale {
  double scale = 0;    ///< 0: fixed point would change a coefficient too much
  double shift = 0;    ///< sum of the changes of all coefficients
  Misfit misfit = {};  ///< of fixed point
  double least = 0;    ///< coefficients of this size fit
  double sum = 0;      ///< of the sizes of all coefficients
};

/// Chooses decimal fractions, decimal fractions up to rounding errors, or fixed point, in this
/// order. @param all  as of decimal_scale(); calls the test in the order of the coefficients
template <class All>
IntegerScale integer_scale_of(const All& all, const ScaleLimit& limit) {
  IntegerScale chosen;
  chosen.scale = decimal_scale(all, limit, 0);
  if (chosen.scale == 0) chosen.scale = decimal_scale(all, limit, decimal_tolerance);
  const bool is_decimal = chosen.scale != 0;
  if (!is_decimal) chosen.scale = fixed_point_scale(limit);
  std::size_t index = 0;
  all([&](double coefficient) {
    const double change =
        std::abs(whole_of(coefficient, chosen.scale) / chosen.scale - coefficient);
    const double part = coefficient == 0 ? 0 : change / std::abs(coefficient);
    if (part > chosen.misfit.change) chosen.misfit = {index, coefficient, part};
    chosen.shift += change;
    chosen.sum += std::abs(coefficient);
    ++index;
    return true;
  });
  chosen.least = 0.5 / chosen.scale / fixed_point_tolerance;
  if (is_decimal || chosen.misfit.change <= fixed_point_tolerance) return chosen;
  std::vector<double> sizes;
  all([&](double coefficient) {
    if (coefficient != 0) sizes.push_back(std::abs(coefficient));
    return true;
  });
  if (!fits_distributions(std::move(sizes), chosen.scale)) chosen.scale = 0;
  return chosen;
}

/// Why fixed point is not possible. @param name  of the coefficient of the misfit
KILN_TEST_API std::string why_no_integers(const IntegerScale& scale, const std::string& name);

/// The map offset + x / scale, correctly rounded for all integers x up to `size`; nothing if the
/// offset and the scale have no common denominator that is small enough.
KILN_TEST_API std::optional<Affine> exact_map(double offset, double scale, double size);

}  // namespace kiln::problems
