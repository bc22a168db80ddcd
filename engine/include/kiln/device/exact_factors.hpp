// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/exact_math.hpp"

/// Ratios and powers of temperatures, whose range is that of double: neither a quotient nor a power
/// of e leaves that range on the way to a result within it.
namespace kiln::exact {

inline constexpr double smallest_normal = 0x1p-1022;

/// log(to / from) of positive numbers, also where the quotient overflows or loses bits.
KILN_HD inline double log_ratio(double to, double from) {
  const double quotient = div(to, from);
  if (quotient >= smallest_normal && quotient < infinity()) return log(quotient);
  return sub(log(to), log(from));
}

/// value * e^x, also where e^x alone overflows or loses bits.
KILN_HD inline double times_exp(double value, double x) {
  const double power = exp(x);
  if (power >= smallest_normal && power < infinity()) return mul(value, power);
  const double root = exp(mul(x, 0.5));
  return mul(mul(value, root), root);
}

}  // namespace kiln::exact
