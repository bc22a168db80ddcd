// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"

namespace kiln {

/// Forecasts autoregressive series x[t] = c + a_1 x[t - 1] + ... + a_p x[t - p] + e[t] over a
/// horizon, with the variance of the error of each forecast.
///
/// The forecast of step h replaces future values by their forecasts. Its error has the variance
/// s^2 (psi_0^2 + ... + psi_{h - 1}^2), where psi_0 = 1 and psi_j = a_1 psi_{j - 1} + ... + a_p
/// psi_{j - p}, and s^2 is the variance of e. The coefficients count as known.
///
/// Series stand side by side in each array, so that neighbouring threads read neighbouring values.
/// One thread takes one series, and sums go from lag 1 to lag p. Class E.
/// @par Source  Brockwell, Davis, Time Series: Theory and Methods (1991), sections 3.2 and 5.5.
struct KILN_API ArForecast {
  static constexpr const char* name = "ar_forecast";
  static constexpr const char* summary =
      "forecasts autoregressive series, with the variances of the forecast errors";

  View2<const double> last;            ///< [order][series], the last values; row 0 has the newest
  View2<const double> coefficients;    ///< [order + 1][series], rows c, a_1, ..., a_p
  View1<const double> noise_variance;  ///< [series], s^2
  View2<double> mean;                  ///< [horizon][series], the forecasts, written
  View2<double> variance;              ///< [horizon][series], of their errors, written
  View2<double> psi;                   ///< [horizon][series], psi_0, psi_1, ..., written

  KILN_HD std::int64_t series() const { return noise_variance.size; }
  KILN_HD std::int64_t order() const { return last.rows; }
  /// What a launch reads and writes at least.
  double bytes() const {
    const auto rows = static_cast<double>(2 * last.rows + 2 + 3 * mean.rows);
    return 8 * rows * static_cast<double>(series());
  }

  /// Forecasts one series.
  KILN_HD void operator()(std::int64_t s) const {
    double squares = 0;
    for (std::int64_t h = 0; h < mean.rows; ++h) {
      double forecast = coefficients(0, s), weight = h == 0 ? 1.0 : 0.0;
      for (std::int64_t i = 1; i <= order(); ++i) {
        const double a = coefficients(i, s);
        const double earlier = i <= h ? mean(h - i, s) : last(i - h - 1, s);
        forecast = exact::add(forecast, exact::mul(a, earlier));
        if (i <= h) weight = exact::add(weight, exact::mul(a, psi(h - i, s)));
      }
      mean(h, s) = forecast;
      psi(h, s) = weight;
      squares = exact::add(squares, exact::mul(weight, weight));
      variance(h, s) = exact::mul(noise_variance[s], squares);
    }
  }
};

}  // namespace kiln
