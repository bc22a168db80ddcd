// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

namespace kiln::cuda {

/// The inverse temperature of a slot in a sweep of the row, per stored unit of energy.
__device__ inline double beta_of_slot(const MetropolisSweep& kernel, std::int64_t slot,
                                      std::uint32_t sweep = 0) {
  return exact::mul(kernel.beta_of(sweep)[kernel.rung_of[slot]], kernel.inverse_scale);
}

// The exact rule in double, for the few attempts that single precision cannot decide.
template <SweepRule kRule>
static __device__ __noinline__ bool accept_exactly(const MetropolisSweep& kernel, std::int64_t slot,
                                                   double delta, std::uint32_t word,
                                                   std::uint32_t sweep = 0) {
  const double beta = beta_of_slot(kernel, slot, sweep);
  if (kRule == SweepRule::metropolis) return exact::accept(beta, delta, word);
  // A beta that is no number counts as infinity.
  return exact::accept_heat_bath(beta == beta ? beta : exact::infinity(), delta, word);
}

__device__ inline float exp2_approximate(float y) {
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(y));
  return p;
}

/// beta * log2(e) in single precision, finite also where beta is infinite or no number.
__device__ inline float beta_log2e_of(const MetropolisSweep& kernel, std::int64_t slot,
                                      std::uint32_t sweep = 0) {
  const double beta = beta_of_slot(kernel, slot, sweep);
  return static_cast<float>(beta < 1e30 ? beta : 1e30) * 1.44269504f;
}

// Whether the word, of which 23 bits are compared, is certainly below or certainly not below 2^32
// p.
enum class Sure { yes, no, unsure };
__device__ inline Sure compare_with(float p, std::uint32_t word) {
  const float u = __uint_as_float((word >> 9) | 0x3F800000u) - 1.0f;
  if (u < p * (1.0f - 0x1p-14f) - 0x1p-22f) return Sure::yes;
  if (u > p * (1.0f + 0x1p-14f) + 0x1p-22f) return Sure::no;
  return Sure::unsure;
}

/// The decision of a rule, which is a parameter of the launch. Single precision decides clear
/// cases: its errors (beta, dE, the product and ex2.approx) stay below 2^-16, and 23 bits of the
/// word are compared. Real dE can leave the range of validity (beta is clipped at 1e30): outside,
/// the exact rule decides.
template <SweepRule kRule, class Sum>
__device__ inline bool accept(const MetropolisSweep& kernel, std::int64_t slot, float beta_log2e,
                              Sum delta, std::uint32_t word) {
  constexpr bool heat_bath = kRule == SweepRule::heat_bath;
  if constexpr (!heat_bath) {
    if (delta <= Sum{0}) return true;
  }
  const float d = static_cast<float>(delta);
  if constexpr (sizeof(Sum) == 8) {
    const float size = heat_bath ? fabsf(d) : d;
    if (!(size >= 1e-28f && size <= 1e30f)) {
      return accept_exactly<kRule>(kernel, slot, static_cast<double>(delta), word);
    }
  }
  // An infinite power is as good as a large one: 1 / (1 + infinity) is 0.
  const float p = heat_bath ? __fdividef(1.0f, 1.0f + exp2_approximate(beta_log2e * d))
                            : exp2_approximate(-(beta_log2e * d));
  const Sure sure = compare_with(p, word);
  if (sure == Sure::unsure) {
    return accept_exactly<kRule>(kernel, slot, static_cast<double>(delta), word);
  }
  return sure == Sure::yes;
}

}  // namespace kiln::cuda
