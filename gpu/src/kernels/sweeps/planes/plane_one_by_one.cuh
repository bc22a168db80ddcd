// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/shared_draws.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/slice_places.cuh"
#include "plane_count.cuh"
#include "plane_sums.cuh"

/// Words of 32 slots that no plane serves.
namespace kiln::cuda {
namespace {

/// Decides the replicas of a word one by one by the definition: where their keys, temperatures or
/// order are no plane's, or tables do not fit.
template <int P>
__device__ __noinline__ std::uint32_t decide_one_by_one(const MetropolisSweep& kernel,
                                                        std::uint32_t sweep, std::int64_t word,
                                                        std::uint32_t site, const Words<P>& number,
                                                        std::uint32_t even) {
  const std::uint64_t step = kernel.control->step + kernel.number_of(sweep);
  std::uint32_t accepted = 0;
  for (int r = 0; r < 32; ++r) {
    const std::int64_t slot = word * 32 + r;
    const auto index = static_cast<int>(2 * number_of(number.of, r) + (even & 1u));
    const double delta = 2.0 * (index - (1 << P) + 1);
    const DrawName name{kernel.draw_ids.key[slot], step, kernel.draw_ids.replica[slot],
                        RngDomain::metropolis, 0};
    const double beta = kernel.beta_of(sweep)[kernel.rung_of[slot]];
    if (draw_named(kernel.naming, name, site) < threshold_of(kernel, beta, delta))
      accepted |= 1u << r;
  }
  return accepted;
}

}  // namespace
}  // namespace kiln::cuda
