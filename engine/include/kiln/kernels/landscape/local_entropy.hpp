// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/landscape/kernels.hpp"
#include "kiln/kernels/landscape/pixel_grid.hpp"

namespace kiln {

/// Computes the entropy of the values around each pixel, in nats: how rugged an image is there.
///
/// The values in a square window around the pixel make a histogram of 256 bins that divide the
/// range. With c_b values in bin b and n in all, the entropy is ln n - sum(c_b ln c_b) / n. At the
/// border the window shrinks. Pixels of NaN are in no window, and have no entropy (NaN).
///
/// c ln c is taken from a table of integers, multiples of 2^-48. Sums of them are exact in any
/// order, and the entropy of equal values is 0. Class E. The error is below 1e-13.
struct KILN_API LocalEntropy {
  static constexpr const char* name = "local_entropy";
  static constexpr const char* summary =
      "computes the entropy of the values in a window around each pixel";
  static constexpr std::int32_t bins = 256;
  static constexpr std::int32_t max_window = 31;
  static constexpr double unit = 0x1p-48;  ///< of the table, nats

  View2<const double> value;          ///< [images][pixels]
  PixelGrid grid;                     ///< of each image
  std::int32_t window = 9;            ///< pixels of a side, odd, 1 .. max_window
  double low = 0, high = 1;           ///< the range; values beyond it are in the outermost bins
  View1<const std::int64_t> c_log_c;  ///< table(window), [window * window + 1]
  View2<double> entropy;              ///< [images][pixels], overwritten

  /// c ln c for c = 0 .. window * window, in units.
  static std::vector<std::int64_t> table(std::int32_t window) {
    std::vector<std::int64_t> entries{0};
    for (std::int32_t c = 1; c <= window * window; ++c) {
      entries.push_back(static_cast<std::int64_t>(exact::mul(c, exact::log(c)) / unit));
    }
    return entries;
  }

  KILN_HD bool is_left_out(std::int64_t image, std::int32_t pixel) const {
    const double at = value(image, pixel);
    return at != at;
  }
  /// Bins per unit of the value.
  KILN_HD double density() const { return exact::div(bins, exact::sub(high, low)); }
  KILN_HD std::int32_t bin_of(std::int64_t image, std::int32_t pixel, double bins_per_unit) const {
    const double at = exact::mul(exact::sub(value(image, pixel), low), bins_per_unit);
    return at >= bins - 1 ? bins - 1 : at >= 1 ? static_cast<std::int32_t>(at) : 0;
  }
  /// The entropy of `count` > 0 values whose c ln c have the sum `sum`, in units.
  KILN_HD double entropy_of(std::int32_t count, std::int64_t sum) const {
    return exact::div(exact::mul(static_cast<double>(c_log_c[count] - sum), unit), count);
  }
};

}  // namespace kiln
