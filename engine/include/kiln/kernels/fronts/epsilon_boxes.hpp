// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Computes the grid box of each point: floor(f / epsilon) in every objective, as a number.
///
/// Ranked by their boxes and without duplicate boxes, a set keeps one point of each nondominated
/// box: a member matches every omitted point to within epsilon. Values that are not finite are
/// unchanged. Class E.
/// @par Source  Laumanns, Thiele, Deb, Zitzler, Evol. Comput. 10 (2002) 263.
struct KILN_API EpsilonBoxes {
  static constexpr const char* name = "epsilon_boxes";
  static constexpr const char* summary =
      "computes the grid box of each point for an epsilon archive";

  View2<const double> value;            ///< [objectives][points]
  View1<const double> epsilon;          ///< [objectives], > 0
  View2<double> box;                    ///< [objectives][points]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t point) const {
    if (control != nullptr && !control->active(step_offset)) return;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      box(k, point) = floored(exact::div(value(k, point), epsilon[k]));
    }
  }

 private:
  /// Beyond 2^52 all doubles are whole.
  KILN_HD static double floored(double x) {
    if (!(x > -0x1p52) || !(x < 0x1p52)) return x;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
    return whole > x ? exact::sub(whole, 1.0) : whole;
  }
};

}  // namespace kiln
