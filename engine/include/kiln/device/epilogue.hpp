// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// What happens to each element of a product before it is stored: times a factor of its column,
/// plus a term of its column, then clipped to [low, high]. NaN stays NaN. Rounded after each step,
/// in double. The default changes nothing.
struct Epilogue {
  View1<const double> scale;        ///< [columns]; empty: 1
  View1<const double> bias;         ///< [columns]; empty: 0
  double low = -exact::infinity();  ///< elements below become `low`
  double high = exact::infinity();  ///< elements above become `high`
  /// [rows][columns] of the product: where an element leaves [low, high], the one of `stopped`
  /// becomes 0, as the momentum at a perfectly inelastic wall. Empty: there is none.
  View2<double> stopped;

  KILN_HD bool changes() const {
    return scale || bias || low > -exact::infinity() || high < exact::infinity();
  }

  /// The element that is stored in place of `value`; writes that of `stopped`.
  KILN_HD double operator()(double value, std::int64_t row, std::int64_t column) const {
    if (scale) value = exact::mul(scale[column], value);
    if (bias) value = exact::add(value, bias[column]);
    if (value < low) return stop(low, row, column);
    if (value > high) return stop(high, row, column);
    return value;
  }

 private:
  KILN_HD double stop(double wall, std::int64_t row, std::int64_t column) const {
    if (stopped.data != nullptr) stopped(row, column) = 0;
    return wall;
  }
};

}  // namespace kiln
