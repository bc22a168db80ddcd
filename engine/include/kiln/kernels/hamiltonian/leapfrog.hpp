// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"

namespace kiln {

/// Kick and drift between two gradients of every chain: see batched_trajectory.hpp.
///
/// For a chain of n leapfrogs, launch `index` does  z -= e s g  with e half a step at index 0 and n
/// and a whole one between, then, unless index = n,  x += eps s z  with reflecting walls. Beyond n
/// it does nothing, so that all chains go through the same launches. At index 0 the gradient is
/// that at the position.
struct KILN_API Leapfrog : BatchedArguments {
  static constexpr const char* name = "leapfrog";
  static constexpr const char* summary =
      "updates momentum and position of every chain between two gradients of a batched transition";

  std::int32_t index = 0;

  /// Of chains that all make this step: a kick, and but for the last one a drift.
  double bytes() const {
    const double values = static_cast<double>(slots()) * static_cast<double>(dimension());
    return values * sizeof(double) * (index < limit ? 5 : 3);
  }
  KILN_HD void at(std::int64_t slot, std::int64_t i) const {
    const std::int32_t last = leapfrogs_of(slot);
    if (last <= 0 || index > last) return;
    const double eps = trajectory.step[slot], s = scale_of(slot, i);
    const double g = index == 0 ? chains.gradient(i, slot) : trajectory.gradient(i, slot);
    const double kick = index == 0 || index == last ? exact::mul(0.5, eps) : eps;
    double z = exact::sub(trajectory.momentum(i, slot), exact::mul(kick, exact::mul(s, g)));
    if (index < last) {
      double x = exact::add(trajectory.proposal(i, slot), exact::mul(eps, exact::mul(s, z)));
      if (chains.bounded) x = reflect_at_walls(x, chains.lower_of(i), chains.upper_of(i), z);
      trajectory.proposal(i, slot) = x;
    }
    trajectory.momentum(i, slot) = z;
  }
};

}  // namespace kiln
