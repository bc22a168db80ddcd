// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/team.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/hmc_adaptation.hpp"

namespace kiln {

/// Adds positions and gradients of all chains to the moments of their pools, while a window is
/// open.
///
/// One sum per coordinate and, with cross, one per pair of coordinates, over the members of the
/// pool in a backend-specific order (class D). Values that are not finite count as the centre.
/// Chains that are not informative (HmcAdaptation::tells) are left out: far from the bulk they
/// would dominate the moments.
struct KILN_API AddPoolMoments {
  static constexpr const char* name = "add_pool_moments";
  static constexpr const char* summary =
      "adds the positions and gradients of all chains except outliers to the moments that "
      "determine the metric";
  static constexpr const char* accuracy = "D";

  ChainPools pools;
  View2<const double> position;           ///< [dimension][slots]
  View2<const double> gradient;           ///< [dimension][slots]
  View1<const HmcAdaptation> adaptation;  ///< [pools]
  TransitionStatistics statistics;        ///< of the transition
  PoolMoments moments;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  /// Number of sums: a coordinate or a pair i >= j, of positions or gradients, in each pool.
  KILN_HD std::int64_t items() const {
    const std::int64_t d = moments.dimension;
    return 2 * pools.pools * (moments.cross ? d * (d + 1) / 2 : d);
  }

  /// Computes one sum, by a team that shares the members of the pool.
  template <class Team>
  KILN_HD void run(const Team& team, std::int64_t item) const {
    const std::int64_t d = moments.dimension;
    const int which = static_cast<int>(item % 2);
    const std::int64_t per_pool = moments.cross ? d * (d + 1) / 2 : d;
    const std::int64_t pool = item / 2 / per_pool;
    const HmcAdaptation state = adaptation[pool];
    if (state.collects == 0) return;
    std::int64_t i = item / 2 % per_pool, j = i;
    if (moments.cross) {
      const std::int64_t pair = i;
      i = static_cast<std::int64_t>((exact::sqrt(8.0 * static_cast<double>(pair) + 1) - 1) / 2);
      while (i * (i + 1) / 2 > pair) --i;
      while ((i + 1) * (i + 2) / 2 <= pair) ++i;
      j = pair - i * (i + 1) / 2;
    }
    const View2<const double>& values = which == 0 ? position : gradient;
    const double centre_i = moments.centre[which][pool * d + i];
    const double centre_j = moments.centre[which][pool * d + j];
    double sums[2] = {0, 0};
    for (std::int64_t m = team.rank(); m < pools.members; m += team.size()) {
      const std::int64_t slot = pools.slot(pool, m);
      if (!state.tells(statistics, slot)) continue;
      double a = values(i, slot) - centre_i, b = values(j, slot) - centre_j;
      if (a - a != 0) a = 0;
      if (b - b != 0) b = 0;
      sums[0] += a;
      sums[1] += a * b;
    }
    team.sum(sums);
    if (team.rank() != 0) return;
    if (i == j) moments.sum[which][pool * d + i] += sums[0];
    const std::int64_t place = moments.cross ? i * d + j : i;
    moments.square[which][pool * moments.squares() + place] += sums[1];
  }
};

}  // namespace kiln
