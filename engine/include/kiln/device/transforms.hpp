// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// The map from unconstrained coordinates to constrained values.
enum class TransformKind : std::uint8_t {
  real,      ///< y = x
  positive,  ///< y = e^x
  interval,  ///< y = lower + (upper - lower) / (1 + e^-x)
  ordered,   ///< y_1 = x_1, y_k = y_(k-1) + e^(x_k): rising values
  simplex,   ///< positive values that sum to 1, by breaking a stick; one coordinate fewer
};

/// A smooth one-to-one map from R^free() to vectors of `size` constrained values, with the
/// logarithm of its Jacobian determinant and both their derivatives.
///
/// A density p(y) of constrained values is p(y(x)) |dy/dx| in the coordinates x. For a simplex, dy
/// are all values but the last; coordinates 0 give equal shares.
/// @par Source  Stan Reference Manual, chapter "Constraint transforms" (the choice of maps); the
/// formulas are elementary.
struct Transform {
  TransformKind kind = TransformKind::real;
  int size = 1;
  double lower = 0, upper = 1;  ///< of an interval

  KILN_HD int free() const { return kind == TransformKind::simplex ? size - 1 : size; }
  /// Whether each value depends on a single coordinate.
  KILN_HD bool by_element() const {
    return kind != TransformKind::ordered && kind != TransformKind::simplex;
  }

  /// Writes the values y [size] of the coordinates x [free()]; returns log |det dy/dx|.
  KILN_HD double constrain(const double* x, double* y) const {
    if (kind == TransformKind::ordered) return order(x, y);
    if (kind == TransformKind::simplex) return break_stick(x, y);
    double log_jacobian = 0;
    for (int i = 0; i < size; ++i) log_jacobian += constrain_element(x[i], y[i]);
    return log_jacobian;
  }

  /// Writes the coordinates x [free()] of values y [size] that satisfy the constraint.
  KILN_HD void unconstrain(const double* y, double* x) const {
    if (kind == TransformKind::simplex) return mend_stick(y, x);
    for (int i = 0; i < size; ++i) {
      switch (kind) {
        case TransformKind::positive:
          x[i] = math::log(y[i]);
          break;
        case TransformKind::interval:
          x[i] = math::log((y[i] - lower) / (upper - y[i]));
          break;
        case TransformKind::ordered:
          x[i] = i == 0 ? y[i] : math::log(y[i] - y[i - 1]);
          break;
        default:
          x[i] = y[i];
      }
    }
  }

  /// Carries a gradient back: gx = (dy/dx)^T gy + weight d(log |det dy/dx|)/dx, with y =
  /// constrain(x). `gx` [free()] and `gy` [size] do not overlap.
  KILN_HD void pull_back(const double* x, const double* y, const double* gy, double weight,
                         double* gx) const {
    if (kind == TransformKind::ordered) return pull_back_order(x, gy, weight, gx);
    if (kind == TransformKind::simplex) return pull_back_stick(x, y, gy, weight, gx);
    for (int i = 0; i < size; ++i) gx[i] = pull_back_element(x[i], y[i], gy[i], weight);
  }

  /// The same for one element of a map that works by_element().
  KILN_HD double constrain_element(double x, double& y) const {
    if (kind == TransformKind::positive) {
      y = math::exp(x);
      return x;
    }
    if (kind == TransformKind::interval) {
      y = lower + (upper - lower) * math::logistic(x);
      return math::log(upper - lower) - math::softplus(x) - math::softplus(-x);
    }
    y = x;
    return 0;
  }
  KILN_HD double pull_back_element(double x, double y, double gy, double weight) const {
    if (kind == TransformKind::positive) return y * gy + weight;
    if (kind == TransformKind::interval) {
      const double share = math::logistic(x), rest = math::logistic(-x);
      return (upper - lower) * share * rest * gy + weight * (rest - share);
    }
    return gy;
  }

 private:
  KILN_HD double order(const double* x, double* y) const {
    double log_jacobian = 0;
    y[0] = x[0];
    for (int k = 1; k < size; ++k) {
      y[k] = y[k - 1] + math::exp(x[k]);
      log_jacobian += x[k];
    }
    return log_jacobian;
  }
  KILN_HD void pull_back_order(const double* x, const double* gy, double weight, double* gx) const {
    double later = 0;  // x_k moves all values from k on
    for (int k = size - 1; k > 0; --k) {
      later += gy[k];
      gx[k] = math::exp(x[k]) * later + weight;
    }
    gx[0] = later + gy[0];
  }

  // The share of the remaining stick that piece k takes: equal shares for x = 0.
  KILN_HD double shifted(const double* x, int k) const {
    return x[k] - math::log(static_cast<double>(size - 1 - k));
  }
  KILN_HD double break_stick(const double* x, double* y) const {
    double log_jacobian = 0, left = 1, log_left = 0;
    for (int k = 0; k + 1 < size; ++k) {
      const double t = shifted(x, k);
      y[k] = left * math::logistic(t);
      left *= math::logistic(-t);
      log_jacobian += log_left - math::softplus(t) - math::softplus(-t);
      log_left -= math::softplus(t);
    }
    y[size - 1] = left;
    return log_jacobian;
  }
  KILN_HD void mend_stick(const double* y, double* x) const {
    double left = y[size - 1];
    for (int k = size - 2; k >= 0; --k) {
      x[k] = math::log(y[k] / left) + math::log(static_cast<double>(size - 1 - k));
      left += y[k];
    }
  }
  // The chain rule from the end of the stick; `later` is the remaining length times the derivative
  // by it, which stays finite if nothing remains.
  KILN_HD void pull_back_stick(const double* x, const double* y, const double* gy, double weight,
                               double* gx) const {
    double later = y[size - 1] * gy[size - 1];
    for (int k = size - 2; k >= 0; --k) {
      const double t = shifted(x, k);
      const double share = math::logistic(t), rest = math::logistic(-t);
      gx[k] = rest * y[k] * gy[k] - share * later + weight * (rest - share);
      later += y[k] * gy[k] + weight;
    }
  }
};

}  // namespace kiln
