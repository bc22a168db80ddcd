// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/philox.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "sweep_decision.cuh"
#include "warp_fields.cuh"

// The decisions of a lane about its four sites of a stretch, by comparisons of integers.
namespace kiln::cuda {
namespace {

constexpr int never = -0x7FFFFFFF;  // no field is so small

/// What a lane knows of a quad besides its fields, in 16 bits of shared memory: four bits each.
struct QuadState {
  std::uint32_t bits = 0;     ///< 1: spin -1
  std::uint32_t entered = 0;  ///< bits at the beginning, as the batch has them
  std::uint32_t parity = 0;   ///< of local fields
  std::uint32_t sites = 0;    ///< 0 for fillers

  __device__ static QuadState of(std::uint32_t x) {
    return {x & 15u, (x >> 4) & 15u, (x >> 8) & 15u, (x >> 12) & 15u};
  }
  __device__ std::uint16_t packed() const {
    return static_cast<std::uint16_t>(bits | entered << 4 | parity << 8 | sites << 12);
  }
};

/// Largest energy changes that words accept at a temperature. A word r accepts a change d > 0 if
/// and only if (r + 1) / 2^32 <= exp(-beta d), so up to -log2((r + 1) / 2^32) / (beta log2(e)).
/// Single precision leaves a gap in which the definition decides.
///
/// Beside weights of 8 bits no change is 2^21 or more, beside those of 16 bits none is 2^25 or
/// more.
template <class Weight>
struct Inverse {
  float factor_up, factor_down, margin;

  __device__ explicit Inverse(float beta_log2e) {
    // The conversions, the logarithm (2^-22, absolute or relative) and the quotient are off by less
    // than a quarter of these margins.
    const float inverse = 1.0f / fmaxf(beta_log2e, 1e-30f);
    factor_up = inverse * (1.0f + 0x1p-19f), factor_down = inverse * (1.0f - 0x1p-19f);
    margin = inverse * 0x1p-19f;
  }
  // floor(x) for 0 <= x, of which all above the largest change are as good.
  __device__ static int floor_of(float x) {
    if constexpr (sizeof(Weight) > 1) return __float2int_rd(fminf(fmaxf(x, 0.0f), 0x1p30f));
    const float in_place = __fadd_rd(fminf(fmaxf(x, 0.0f), 0x1p21f), 0x1.8p23f);
    return __float_as_int(in_place) - __float_as_int(0x1.8p23f);
  }
  /// Surely accepted up to `low`, surely rejected above `high`.
  __device__ void changes(std::uint32_t word, int& low, int& high) const {
    float log2;
    const float share = __fmaf_rn(__uint2float_rn(word), 0x1p-32f, 0x1p-32f);
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(share));
    low = floor_of(__fmaf_rn(-log2, factor_down, -margin));
    high = floor_of(__fmaf_rn(-log2, factor_up, margin));
  }
};

/// The four sites of a lane in the stretch that is decided.
struct Attempts {
  int flip_bits[4];  // v ^ flip_bits is least where a flip lowers the energy most
  int rest[4];       // half the energy change is 2 (v ^ flip_bits) + rest
  int largest[4];    // that is accepted, or perhaps accepted
  std::uint32_t unsure = 0;
  Words4 words;

  template <class Weight>
  __device__ Attempts(const QuadState& quad, const Words4& drawn, const Inverse<Weight>& inverse)
      : words(drawn) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int odd = static_cast<int>(quad.parity >> i & 1u);
      const bool down = (quad.bits >> i & 1u) != 0;
      flip_bits[i] = down ? 0 : -1;
      rest[i] = down ? odd : 2 - odd;
      int low, high;
      inverse.changes(words.word[i], low, high);
      largest[i] = ((high >> 1) - rest[i]) >> 1;
      if (largest[i] != ((low >> 1) - rest[i]) >> 1) unsure |= 1u << i;
      if ((quad.sites >> i & 1u) == 0) largest[i] = never;
    }
  }
  /// Bits of the sites that accept, or perhaps accept.
  __device__ std::uint32_t candidates(const FourFields& fields) const {
    std::uint32_t some = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((fields.half[i] ^ flip_bits[i]) <= largest[i]) some |= 1u << i;
    }
    return some;
  }
  __device__ int half_change(const FourFields& fields, int site) const {
    int change = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i == site) change = 2 * (fields.half[i] ^ flip_bits[i]) + rest[i];
    }
    return change;
  }
};

__device__ inline bool decide_exactly(const MetropolisSweep& kernel, std::int64_t slot,
                                      int half_change, const Words4& words, int site) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i == site) word = words.word[i];
  }
  return half_change <= 0 ||
         accept_exactly<SweepRule::metropolis>(kernel, slot, 2.0 * half_change, word);
}

}  // namespace
}  // namespace kiln::cuda
