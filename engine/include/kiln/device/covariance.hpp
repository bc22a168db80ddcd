// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"

namespace kiln {

/// The correlation of two values of a Gaussian process as a function of the distance of their
/// points.
enum class CovarianceKind : std::uint8_t {
  squared_exponential,  ///< exp(-r^2 / 2), also called RBF
  matern12,             ///< exp(-r)
  matern32,             ///< (1 + a) exp(-a), a = sqrt(3) r
  matern52,             ///< (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r
  rational_quadratic,   ///< (1 + r^2 / (2 alpha))^-alpha
};

namespace detail {

/// e^-x for x >= 0: 0 rather than a subnormal number, and 0 at infinity. NaN stays NaN.
KILN_HD inline double decay(double x) { return x > 708.0 ? 0.0 : math::exp(-x); }

/// polynomial * e^-a, without infinity * 0 if points are infinitely far apart.
KILN_HD inline double damped(double polynomial, double a) {
  return a > 708.0 ? 0.0 : polynomial * math::exp(-a);
}

}  // namespace detail

/// The correlation at a squared distance in units of length scales: exactly 1 at 0, 0 at infinity,
/// NaN at NaN. Only the rational quadratic reads `alpha`.
template <CovarianceKind kind>
KILN_HD inline double correlation(double square, [[maybe_unused]] double alpha) {
  if constexpr (kind == CovarianceKind::squared_exponential) {
    return detail::decay(0.5 * square);
  } else if constexpr (kind == CovarianceKind::matern12) {
    return detail::decay(math::sqrt(square));
  } else if constexpr (kind == CovarianceKind::matern32) {
    const double a = math::sqrt(3.0 * square);
    return detail::damped(1.0 + a, a);
  } else if constexpr (kind == CovarianceKind::matern52) {
    const double a = math::sqrt(5.0 * square);
    return detail::damped(1.0 + a + a * a / 3.0, a);
  } else {
    // By log1p, so that a large alpha, whose limit is the squared exponential, keeps its digits.
    return detail::decay(alpha * math::log1p(square / (2.0 * alpha)));
  }
}

/// A correlation and its derivatives in compact form.
struct CorrelationSlope {
  double value = 0;
  double slope = 0;     ///< s: dc/d(log l_k) = s (d_k / l_k)^2 and dc/dx_k = -s d_k / l_k^2
  double by_alpha = 0;  ///< dc/d(log alpha), of the rational quadratic
};

/// The correlation at a squared distance in units of length scales, with its slope. The correlation
/// of matern12 has no derivative at 0; the slope there is 0.
/// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 5.4.1.
KILN_HD inline CorrelationSlope correlation_slope(CovarianceKind kind, double square,
                                                  double alpha) {
  switch (kind) {
    case CovarianceKind::squared_exponential: {
      const double c = detail::decay(0.5 * square);
      return {c, c, 0};
    }
    case CovarianceKind::matern12: {
      const double r = math::sqrt(square), c = detail::decay(r);
      return {c, r > 0 ? c / r : 0.0, 0};
    }
    case CovarianceKind::matern32: {
      const double a = math::sqrt(3.0 * square), e = detail::decay(a);
      return {a > 708.0 ? 0.0 : (1.0 + a) * e, 3.0 * e, 0};
    }
    case CovarianceKind::matern52: {
      const double a = math::sqrt(5.0 * square), e = detail::decay(a);
      if (a > 708.0) return {};
      return {(1.0 + a + a * a / 3.0) * e, (5.0 / 3.0) * (1.0 + a) * e, 0};
    }
    case CovarianceKind::rational_quadratic: {
      const double u = square / (2.0 * alpha), logarithm = math::log1p(u);
      const double c = detail::decay(alpha * logarithm);
      return {c, c / (1.0 + u), alpha * c * (u / (1.0 + u) - logarithm)};
    }
  }
  return {};
}

/// Calls action(CovarianceTag<kind>{}) for a kind known at run time, so that its loops are compiled
/// for each kind.
template <CovarianceKind kind>
struct CovarianceTag {
  static constexpr CovarianceKind value = kind;
};
template <class Action>
void with_covariance(CovarianceKind kind, Action&& action) {
  switch (kind) {
    case CovarianceKind::squared_exponential:
      return action(CovarianceTag<CovarianceKind::squared_exponential>{});
    case CovarianceKind::matern12:
      return action(CovarianceTag<CovarianceKind::matern12>{});
    case CovarianceKind::matern32:
      return action(CovarianceTag<CovarianceKind::matern32>{});
    case CovarianceKind::matern52:
      return action(CovarianceTag<CovarianceKind::matern52>{});
    case CovarianceKind::rational_quadratic:
      return action(CovarianceTag<CovarianceKind::rational_quadratic>{});
  }
}

}  // namespace kiln
