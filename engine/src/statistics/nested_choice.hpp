// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kiln/statistics/draw_conditions.hpp"

namespace kiln {

/// Whether `rhat` is nested R-hat.
inline bool uses_nested(std::int64_t super_chains, std::int64_t all_chains) {
  return super_chains > 1 && all_chains >= chains_for_nested_r_hat;
}

/// NaN only if both are.
inline double smaller_known(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return std::min(a, b);
}

}  // namespace kiln
