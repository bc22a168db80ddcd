// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kiln/statistics/chain_statistics.hpp"
#include "kiln/statistics/draw_conditions.hpp"

namespace kiln {

/// Whether there is a nested R-hat of these kept chains: they must fill a row of super-chains.
inline bool has_nested(std::int64_t super_chains, std::int64_t kept_chains) {
  return super_chains > 1 && kept_chains >= super_chains;
}

/// Whether `rhat` is nested R-hat.
inline bool uses_nested(std::int64_t super_chains, std::int64_t kept_chains,
                        std::int64_t all_chains) {
  return has_nested(super_chains, kept_chains) && all_chains >= chains_for_nested_r_hat;
}

/// Nested R-hat of the first kept chains, as many as give every super-chain the same number; NaN
/// where there are too few.
inline double nested_r_hat_of_kept(const ChainValues& kept, std::int64_t super_chains) {
  if (!has_nested(super_chains, kept.chains)) return std::numeric_limits<double>::quiet_NaN();
  const std::int64_t chains = kept.chains - kept.chains % super_chains;
  const auto size = static_cast<std::size_t>(chains * kept.draws);
  return nested_r_hat({kept.values.first(size), chains, kept.draws}, super_chains);
}

/// NaN only if both are.
inline double smaller_known(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return std::min(a, b);
}

}  // namespace kiln
