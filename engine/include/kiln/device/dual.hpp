// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "kiln/device/hd.hpp"
#include "kiln/device/math.hpp"
#include "kiln/device/team.hpp"

namespace kiln {

/// A value with its derivatives along n directions: forward-mode differentiation of a function that
/// is written for any number type.
///
///     template <class T> T rosenbrock(const T* x) { ... }      // T: double or Dual<n>
///     Dual<2> x[2] = {Dual<2>::variable(1.5, 0), Dual<2>::variable(2, 1)};
///     rosenbrock(x).slope[1];                                  // d/dx_1
///
/// Comparisons use the value alone, so that `x < 0 ? a : b` takes the branch of the value. All
/// functions in kiln/device/math.hpp take duals; unqualified calls such as exp(x) find them too.
/// Where a function has no derivative (abs at 0, sqrt at 0) the result is that of the formula: 0
/// for abs, infinite for sqrt.
/// @par Source  Griewank, Walther, Evaluating Derivatives (2008), chapter 3.
template <int n>
struct Dual {
  static_assert(n > 0);

  double value = 0;
  double slope[n] = {};

  Dual() = default;
  KILN_HD Dual(double constant) : value(constant) {}  // NOLINT: numbers are duals
  /// The variable along a direction.
  KILN_HD static Dual variable(double at, int direction) {
    Dual x(at);
    KILN_UNROLL
    for (int k = 0; k < n; ++k) x.slope[k] = k == direction ? 1.0 : 0.0;
    return x;
  }
  /// f(a) with its derivative df at a: the chain rule.
  KILN_HD static Dual chain(const Dual& a, double f, double df) {
    Dual r(f);
    KILN_UNROLL
    for (int k = 0; k < n; ++k) r.slope[k] = df * a.slope[k];
    return r;
  }
  /// f(a, b) with both partial derivatives.
  KILN_HD static Dual chain(const Dual& a, const Dual& b, double f, double da, double db) {
    Dual r(f);
    KILN_UNROLL
    for (int k = 0; k < n; ++k) r.slope[k] = da * a.slope[k] + db * b.slope[k];
    return r;
  }

  KILN_HD Dual operator-() const { return chain(*this, -value, -1.0); }
  KILN_HD Dual operator+() const { return *this; }
  friend KILN_HD Dual operator+(const Dual& a, const Dual& b) {
    return chain(a, b, a.value + b.value, 1.0, 1.0);
  }
  friend KILN_HD Dual operator-(const Dual& a, const Dual& b) {
    return chain(a, b, a.value - b.value, 1.0, -1.0);
  }
  friend KILN_HD Dual operator*(const Dual& a, const Dual& b) {
    return chain(a, b, a.value * b.value, b.value, a.value);
  }
  friend KILN_HD Dual operator/(const Dual& a, const Dual& b) {
    const double q = a.value / b.value, inverse = 1.0 / b.value;
    return chain(a, b, q, inverse, -q * inverse);
  }
  KILN_HD Dual& operator+=(const Dual& b) { return *this = *this + b; }
  KILN_HD Dual& operator-=(const Dual& b) { return *this = *this - b; }
  KILN_HD Dual& operator*=(const Dual& b) { return *this = *this * b; }
  KILN_HD Dual& operator/=(const Dual& b) { return *this = *this / b; }

  friend KILN_HD bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend KILN_HD bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend KILN_HD bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend KILN_HD bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend KILN_HD bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }

  // Found by unqualified calls; a namespace-scope `exp` would hide the one for doubles.
  friend KILN_HD Dual exp(const Dual& a) {
    const double e = ::exp(a.value);
    return chain(a, e, e);
  }
  friend KILN_HD Dual log(const Dual& a) { return chain(a, ::log(a.value), 1.0 / a.value); }
  friend KILN_HD Dual log1p(const Dual& a) {
    return chain(a, ::log1p(a.value), 1.0 / (1.0 + a.value));
  }
  friend KILN_HD Dual expm1(const Dual& a) { return chain(a, ::expm1(a.value), ::exp(a.value)); }
  friend KILN_HD Dual sqrt(const Dual& a) {
    const double root = ::sqrt(a.value);
    return chain(a, root, 0.5 / root);
  }
  friend KILN_HD Dual sin(const Dual& a) { return chain(a, ::sin(a.value), ::cos(a.value)); }
  friend KILN_HD Dual cos(const Dual& a) { return chain(a, ::cos(a.value), -::sin(a.value)); }
  friend KILN_HD Dual tan(const Dual& a) {
    const double t = ::tan(a.value);
    return chain(a, t, 1.0 + t * t);
  }
  friend KILN_HD Dual atan(const Dual& a) {
    return chain(a, ::atan(a.value), 1.0 / (1.0 + a.value * a.value));
  }
  friend KILN_HD Dual tanh(const Dual& a) {
    const double t = ::tanh(a.value);
    return chain(a, t, 1.0 - t * t);
  }
  friend KILN_HD Dual abs(const Dual& a) {
    return chain(a, ::fabs(a.value), a.value > 0 ? 1.0 : (a.value < 0 ? -1.0 : 0.0));
  }
  friend KILN_HD Dual fabs(const Dual& a) { return abs(a); }
  /// For a constant exponent; 0^p has the slope 0 for p > 1.
  friend KILN_HD Dual pow(const Dual& a, double p) {
    return chain(a, ::pow(a.value, p), p == 0.0 ? 0.0 : p * ::pow(a.value, p - 1.0));
  }
  /// For a > 0.
  friend KILN_HD Dual pow(const Dual& a, const Dual& b) {
    const double f = ::pow(a.value, b.value);
    return chain(a, b, f, b.value * ::pow(a.value, b.value - 1.0), f * ::log(a.value));
  }
  friend KILN_HD Dual lgamma(const Dual& a) {
    return chain(a, ::lgamma(a.value), math::digamma(a.value));
  }
  friend KILN_HD Dual square(const Dual& a) { return chain(a, a.value * a.value, 2.0 * a.value); }
  friend KILN_HD Dual softplus(const Dual& a) {
    return chain(a, math::softplus(a.value), math::logistic(a.value));
  }
  friend KILN_HD Dual logistic(const Dual& a) {
    const double s = math::logistic(a.value);
    return chain(a, s, s * math::logistic(-a.value));
  }
};

/// The value of a plain number or a dual.
KILN_HD inline double value_of(double x) { return x; }
template <int n>
KILN_HD double value_of(const Dual<n>& x) {
  return x.value;
}

// The same names in kiln::math, so that math::exp(x) works for doubles and duals alike.
namespace math {
#define KILN_DUAL_FUNCTION(name)                                      \
  template <int n>                                                    \
  KILN_HD Dual<n> name(const Dual<n>& x) {                            \
    return name(x); /* the friend: no template, so it is preferred */ \
  }
KILN_DUAL_FUNCTION(exp)
KILN_DUAL_FUNCTION(log)
KILN_DUAL_FUNCTION(log1p)
KILN_DUAL_FUNCTION(expm1)
KILN_DUAL_FUNCTION(sqrt)
KILN_DUAL_FUNCTION(sin)
KILN_DUAL_FUNCTION(cos)
KILN_DUAL_FUNCTION(abs)
KILN_DUAL_FUNCTION(lgamma)
KILN_DUAL_FUNCTION(square)
KILN_DUAL_FUNCTION(softplus)
KILN_DUAL_FUNCTION(logistic)
#undef KILN_DUAL_FUNCTION
}  // namespace math

}  // namespace kiln
