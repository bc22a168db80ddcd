// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "kiln/device/hd.hpp"

/// Elementary functions for densities: the device's functions, fast and accurate to a few units in
/// the last place, with bits that differ between devices. Decisions use kiln::exact instead.
namespace kiln::math {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double log_two_pi = 1.83787706640934548356;

KILN_HD inline double exp(double x) { return ::exp(x); }
KILN_HD inline double log(double x) { return ::log(x); }
KILN_HD inline double log1p(double x) { return ::log1p(x); }
KILN_HD inline double expm1(double x) { return ::expm1(x); }
KILN_HD inline double sqrt(double x) { return ::sqrt(x); }
KILN_HD inline double sin(double x) { return ::sin(x); }
KILN_HD inline double cos(double x) { return ::cos(x); }
KILN_HD inline double atan(double x) { return ::atan(x); }
KILN_HD inline double pow(double x, double y) { return ::pow(x, y); }
KILN_HD inline double abs(double x) { return ::fabs(x); }
KILN_HD inline double lgamma(double x) { return ::lgamma(x); }
KILN_HD inline double square(double x) { return x * x; }

/// cos(2 pi t), absolute error below 1e-15, without branches or tables; NaN from |t| = 2^51 on,
/// where doubles have no halves.
KILN_HD inline double cos_turns(double t) {
  constexpr double shift = 0x1.8p52;  // adding and subtracting it rounds to the nearest integer
  const double turn = ::fabs(t - ((t + shift) - shift));
  const double x = 2.0 * pi * (0.25 - turn);  // in [-pi/2, pi/2], and cos(2 pi t) = sin(x)
  const double y = x * x;
  // Taylor polynomial of degree 21; the first term left out is below 2e-18.
  double p = 1.0 / 51090942171709440000.0;
  p = p * y - 1.0 / 121645100408832000.0;
  p = p * y + 1.0 / 355687428096000.0;
  p = p * y - 1.0 / 1307674368000.0;
  p = p * y + 1.0 / 6227020800.0;
  p = p * y - 1.0 / 39916800.0;
  p = p * y + 1.0 / 362880.0;
  p = p * y - 1.0 / 5040.0;
  p = p * y + 1.0 / 120.0;
  p = p * y - 1.0 / 6.0;
  const double value = x + x * (y * p);
  return ::fabs(t) < 0x1p51 ? value : ::nan("");
}

/// log(1 + e^x) without overflow.
KILN_HD inline double softplus(double x) {
  return x > 0 ? x + ::log1p(::exp(-x)) : ::log1p(::exp(x));
}
/// 1 / (1 + e^-x) without overflow.
KILN_HD inline double logistic(double x) {
  const double e = ::exp(x > 0 ? -x : x);
  return x > 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

/// The derivative of lgamma, relative error about 1e-14 away from its zeros; NaN at its poles.
/// @par Source  Abramowitz, Stegun, Handbook of Mathematical Functions, 6.3.5, 6.3.7 and 6.3.18.
KILN_HD inline double digamma(double x) {
  double sum = 0;
  if (x <= 0) {
    if (x == ::floor(x)) return ::nan("");
    sum = -pi / ::tan(pi * x);
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
  const double y = 1.0 / (x * x);
  // Bernoulli numbers B_2k / 2k; the first term left out is below 1e-15.
  const double series =
      y *
      (1.0 / 12 -
       y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760))))));
  return sum + ::log(x) - 0.5 / x - series;
}

}  // namespace kiln::math
