// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"

namespace kiln {

/// One coordinate of delay vectors.
struct EmbeddedAxis {
  std::int32_t series = 0;      ///< row of `series`
  std::int32_t lag = 0;         ///< rows into the past
  std::int32_t order = -1;      ///< row of `orders` in which the points stand; -1: that of `times`
  std::int32_t surrogate = -1;  ///< row of `surrogates`; -1: the series as it is
};

/// Takes coordinates of delay vectors out of series: the value of point i is
/// series[times[place] - lag], where `place` is i, put in order, then replaced by its surrogate.
///
/// Class E.
struct KILN_API DelayEmbedding {
  static constexpr const char* name = "delay_embedding";
  static constexpr const char* summary = "takes the coordinates of delay vectors out of series";

  View2<const double> series;            ///< [series][length]
  View1<const std::int32_t> times;       ///< [n], each >= every lag and < length
  View1<const EmbeddedAxis> embedding;   ///< [axes]
  View2<const std::int32_t> orders;      ///< [orders][n]
  View2<const std::int32_t> surrogates;  ///< [surrogates][n]
  View2<double> axes;                    ///< [axes][n], written

  KILN_HD std::int64_t size() const { return embedding.size * times.size; }
  KILN_HD void operator()(std::int64_t number) const {
    const std::int64_t axis = number / times.size, point = number % times.size;
    const EmbeddedAxis from = embedding[axis];
    std::int64_t place = from.order < 0 ? point : orders(from.order, point);
    if (from.surrogate >= 0) place = surrogates(from.surrogate, place);
    axes(axis, point) = series(from.series, times[place] - from.lag);
  }
  double bytes() const { return 20.0 * static_cast<double>(size()); }
};

}  // namespace kiln
