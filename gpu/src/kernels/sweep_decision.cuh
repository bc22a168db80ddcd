// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/metropolis_sweep.hpp"

namespace kiln::cuda {

// The rule itself in double, for the few attempts that single precision leaves open.
static __device__ __noinline__ bool accept_exactly(const MetropolisSweep& kernel, std::int64_t slot,
                                                   double delta, std::uint32_t word) {
  const double beta = exact::mul(kernel.beta[kernel.rung_of[slot]], kernel.inverse_scale);
  return exact::accept(beta, delta, word);
}

__device__ inline float exp2_approximate(float y) {
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(y));
  return p;
}

/// beta * log2(e) of a slot in single precision, finite also at beta = infinity.
__device__ inline float beta_log2e_of(const MetropolisSweep& kernel, std::int64_t slot) {
  const double beta = exact::mul(kernel.beta[kernel.rung_of[slot]], kernel.inverse_scale);
  return static_cast<float>(beta < 1e30 ? beta : 1e30) * 1.44269504f;
}

/// Metropolis decision. Single precision decides where it is sure: its errors (beta, dE, the
/// product and ex2.approx) stay below 2^-16, and 23 bits of the word are compared. Real dE can
/// leave the range in which that holds (beta is cut at 1e30): outside, the exact rule decides.
template <class Sum>
__device__ inline bool accept(const MetropolisSweep& kernel, std::int64_t slot, float beta_log2e,
                              Sum delta, std::uint32_t word) {
  if (delta <= Sum{0}) return true;
  const float d = static_cast<float>(delta);
  if constexpr (sizeof(Sum) == 8) {
    if (!(d >= 1e-28f && d <= 1e30f)) {
      return accept_exactly(kernel, slot, static_cast<double>(delta), word);
    }
  }
  const float p = exp2_approximate(-(beta_log2e * d));
  const float u = __uint_as_float((word >> 9) | 0x3F800000u) - 1.0f;
  if (u < p * (1.0f - 0x1p-14f) - 0x1p-22f) return true;
  if (u > p * (1.0f + 0x1p-14f) + 0x1p-22f) return false;
  return accept_exactly(kernel, slot, static_cast<double>(delta), word);
}

}  // namespace kiln::cuda
