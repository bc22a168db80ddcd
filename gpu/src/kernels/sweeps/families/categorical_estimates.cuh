// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include "inverted_rule.cuh"

/// The decisions of a Potts sweep in single precision, and the definition for the few that it
/// cannot take.
namespace kiln::cuda {
namespace {

__device__ __noinline__ bool accepts_exactly(const CategoricalSweep& kernel, std::int64_t slot,
                                             double delta, std::uint32_t word) {
  return exact::accept(kernel.beta_of(slot), delta, word);
}

__device__ __noinline__ std::int32_t value_exactly(const CategoricalSweep& kernel,
                                                   std::int64_t slot, const double* local,
                                                   std::uint32_t word) {
  return draw_value(local, 32, kernel.model.values, kernel.beta_of(slot), word);
}

struct CategoricalEstimate {
  // Sizes that single precision holds. Infinite betas become `coldest`: with it the smallest size
  // gives the exponent 1e5.
  static constexpr double smallest = 1e-20, largest = 1e30, coldest = 1e25;

  float cold;  // beta log2 e

  __device__ explicit CategoricalEstimate(double beta)
      : cold(static_cast<float>((beta < coldest ? beta : coldest) * 1.4426950408889634)) {}

  // exact::accept() of a change of the energy.
  __device__ bool accepts(const CategoricalSweep& kernel, std::int64_t slot, double delta,
                          std::uint32_t word) const {
    if (delta <= 0.0) return true;
    Sure sure = Sure::unsure;
    if (delta >= smallest && delta <= largest) {
      const float z = cold * static_cast<float>(delta);
      sure = compare_exponent<SweepRule::metropolis>(
          z, fmaf(0x1p-20f, z, exponent_margin<SweepRule::metropolis>), word);
    }
    return sure == Sure::unsure ? accepts_exactly(kernel, slot, delta, word) : sure == Sure::yes;
  }

  // draw_value() of the local energies, value v at local[v * 32].
  //
  // An exponent has a relative error of 2^-22, so a weight, which is at most 1, has an absolute
  // error of 2^-23, and ex2.approx adds 2^-22 of it. Each sum is rounded by 2^-24 of the whole.
  __device__ std::int32_t value(const CategoricalSweep& kernel, std::int64_t slot,
                                const double* local, std::uint32_t word) const {
    const std::int32_t values = kernel.model.values;
    double least = local[0];
    for (std::int32_t v = 1; v < values; ++v) least = local[v * 32] < least ? local[v * 32] : least;
    bool valid = true;
    const auto weight = [&](std::int32_t v) {
      const double excess = exact::sub(local[v * 32], least);
      valid = valid && (excess == 0.0 || (excess >= smallest && excess <= largest));
      return exp2_approximate(-(cold * static_cast<float>(excess)));
    };
    float total = 0;
    for (std::int32_t v = 0; v < values; ++v) total += weight(v);
    const float drawn = __uint2float_rn(word) * 0x1p-32f * total;
    const float error = total * static_cast<float>(values + 4) * 0x1p-20f;
    float sum = 0;
    std::int32_t value = 0;
    for (; value < values - 1; ++value) {
      sum += weight(value);
      if (drawn < sum + error) break;
    }
    // Either nothing was in doubt, or `drawn` is too close to the sum that ended the search.
    const bool sure = valid && (value == values - 1 || drawn < sum - error);
    return sure ? value : value_exactly(kernel, slot, local, word);
  }
};

}  // namespace
}  // namespace kiln::cuda
