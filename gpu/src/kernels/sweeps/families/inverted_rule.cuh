// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/sweep_rule.hpp"

#include "kernels/sweeps/sweep_decision.cuh"

/// The rules of a sweep, solved for the energy change: a word r accepts the changes d with
/// beta log2(e) d <= t(r). The definition r < floor(2^32 p) says r + 1 <= 2^32 p, with p = exp(-x)
/// or 1 / (1 + exp(x)), so t(r) is 32 - log2(r + 1), or log2(2^32 - 1 - r) - log2(r + 1).
namespace kiln::cuda {

__device__ inline float log2_approximate(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Errors of t(r): lg2.approx has a relative error of 2^-22, its results are at most 32, and r + 1,
/// the result and the difference are rounded. Two logarithms have twice the error.
template <SweepRule kRule>
inline constexpr float exponent_margin = kRule == SweepRule::heat_bath ? 0x1p-15f : 0x1p-16f;

/// Whether the word accepts the exponent z = beta log2(e) d, of which `error` is a bound of the
/// error, exponent_margin contained. A NaN is unsure.
template <SweepRule kRule>
__device__ inline Sure compare_exponent(float z, float error, std::uint32_t word) {
  const float low = log2_approximate(__uint2float_rn(word) + 1.0f);
  float t = 32.0f - low;
  if constexpr (kRule == SweepRule::heat_bath) {
    // The word 2^32 - 1 accepts where exp(x) is lost beside 1: its logarithm is left to the rule.
    const float high = word == 0xFFFFFFFFu ? __uint_as_float(0x7FFFFFFFu) : __uint2float_rn(~word);
    t = log2_approximate(high) - low;
  }
  const float room = t - z;
  if (room > error) return Sure::yes;
  if (room < -error) return Sure::no;
  return Sure::unsure;
}

}  // namespace kiln::cuda
