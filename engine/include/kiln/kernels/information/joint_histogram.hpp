// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"

namespace kiln {

/// Counts how often each pair of codes comes together, in many pairs of columns.
///
/// Class E.
struct KILN_API JointHistogram {
  static constexpr const char* name = "joint_histogram";
  static constexpr const char* summary = "counts pairs of codes in many pairs of columns";
  static constexpr std::int32_t max_codes = 256;

  struct Pair {
    std::int32_t y = 0, x = 0;    ///< rows of `codes`
    std::int32_t surrogate = -1;  ///< row of `surrogates`, of x; -1: as it is
  };

  View2<const std::uint8_t> codes;        ///< [columns][n]
  View1<const Pair> pairs;                ///< [pairs]
  View2<const std::int32_t> surrogates;   ///< [surrogates][n]
  std::int32_t y_codes = 1, x_codes = 1;  ///< each code is below; 1 .. max_codes
  View2<std::int32_t> counts;             ///< [pairs][y_codes * x_codes], cell (y, x), written

  KILN_HD std::int32_t cell(const Pair& pair, std::int64_t i) const {
    const std::int64_t from = pair.surrogate < 0 ? i : surrogates(pair.surrogate, i);
    return codes(pair.y, i) * x_codes + codes(pair.x, from);
  }
};

}  // namespace kiln
