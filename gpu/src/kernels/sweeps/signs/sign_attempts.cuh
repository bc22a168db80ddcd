// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/philox.hpp"

#include "sign_fields.cuh"

// The decisions of a lane about its four sites of a stretch, beside couplings of 1 and -1.
//
// With F = f + s half the energy change of a flip is c = 1 + F for a spin -1 and 1 - F for a
// spin 1. A word r accepts it if c <= 0 or (r + 1) / 2^32 <= exp(-2 beta c). So each word has a
// largest c. Its computation avoids the integer units, which bound the kernel.
namespace kiln::cuda {
namespace {

/// Largest halves of energy changes that words accept at a temperature. Single precision leaves a
/// gap in which the definition decides. No half is 2^20 or more.
struct LargestHalves {
  static constexpr float in_place = 0x1.8p23f;  // its last bit is worth 1

  float factor_up, factor_down, margin;

  __device__ explicit LargestHalves(float beta_log2e) {
    // The conversions, the logarithm (2^-22, absolute or relative) and the quotient are off by less
    // than half of these margins.
    const float inverse = 0x1p-21f / fmaxf(beta_log2e, 1e-30f);
    factor_up = inverse * (1.0f + 0x1p-19f), factor_down = inverse * (1.0f - 0x1p-19f);
    margin = inverse * 0x1p-19f;
  }
  __device__ static float minus_log2(std::uint32_t word) {
    float log2;
    const float share = __fmaf_rn(__uint2float_rn(word), 0x1p-32f, 0x1p-32f);
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(share));
    return -log2;
  }
  /// Surely rejected above this, perhaps accepted up to this; as a float `in_place`.
  __device__ int most(float minus_log2) const {
    return floor_of(__saturatef(__fmaf_rn(minus_log2, factor_up, margin)));
  }
  /// Surely accepted up to this.
  __device__ int surely(float minus_log2) const {
    return floor_of(__saturatef(__fmaf_rn(minus_log2, factor_down, -margin)));
  }
  static constexpr int zero = 0x4B400000;  // what floor_of(0) returns

 private:
  __device__ static int floor_of(float share) {
    return __float_as_int(__fmaf_rd(share, 0x1p20f, in_place));
  }
};

/// What a lane needs to know of a quad besides its fields and spins.
struct QuadDrawn {
  Words4 words{};
  int most[4];
  std::uint32_t unsure = 0;  // a bit 0 of each byte

  __device__ QuadDrawn(const Words4& drawn, const LargestHalves& largest) : words(drawn) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float minus_log2 = LargestHalves::minus_log2(drawn.word[i]);
      most[i] = largest.most(minus_log2);
      if (most[i] != largest.surely(minus_log2)) unsure |= 1u << (8 * i);
    }
  }
};

/// A quad while it is decided.
struct QuadAttempts {
  int gap[4];              // below 0: the site accepts, or perhaps accepts
  std::uint32_t key[4];    // site in the stretch, spin 1, perhaps only
  std::uint32_t ups;       // bit 0 of byte i: spin 1 at site i
  std::uint32_t last = 0;  // keys below have had their turn

  /// @param field  F of each site
  __device__ QuadAttempts(const QuadDrawn& drawn, const int (&field)[4], std::uint32_t up_bytes,
                          int lane)
      : ups(up_bytes) {
    const std::uint32_t flags = 2 * ups + drawn.unsure;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int sign = 1 - 2 * static_cast<int>(byte_of(ups, i));
      gap[i] = field[i] * sign + (LargestHalves::zero - drawn.most[i]);
      key[i] = static_cast<std::uint32_t>(4 * lane + i) * 4 + byte_of(flags, i);
    }
  }
  /// Sites from `here` on have no variable.
  __device__ void end_at(int here) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= here) gap[i] = 0x40000000;
    }
  }
  /// The key of the first or the next site that accepts or perhaps accepts, in all lanes; none: ~0.
  __device__ std::uint32_t first() {
    return least([](std::uint32_t) { return true; });
  }
  __device__ std::uint32_t next() {
    return least([this](std::uint32_t own) { return own >= last; });
  }
  /// Adds what a flip of a spin adds, 2 or -2: bit 0 of byte i of `negative` belongs to site i and
  /// is 1 for a coupling of -1. Other bits do not count.
  __device__ void add(std::uint32_t negative, bool was_up) {
    const std::uint32_t own = was_up ? ~ups : ups;
    const std::uint32_t falls = (negative ^ own) & first_of_bytes;
    const auto signs = static_cast<int>(falls * 0xFEu + first_of_bytes);  // bytes of 1 and -1
#pragma unroll
    for (int i = 0; i < 4; ++i) gap[i] = __dp4a(signs, 2 << (8 * i), gap[i]);
  }
  /// Half the energy change of a site of this lane.
  __device__ int half_change(const LargestHalves& largest, std::uint32_t word, int site) const {
    const int even = (site & 2) != 0 ? gap[2] : gap[0], odd = (site & 2) != 0 ? gap[3] : gap[1];
    const int change = (site & 1) != 0 ? odd : even;
    return change + largest.most(LargestHalves::minus_log2(word)) - LargestHalves::zero + 1;
  }

 private:
  template <class Open>
  __device__ std::uint32_t least(const Open& is_open) {
    std::uint32_t mine = ~0u;
#pragma unroll
    for (int i = 3; i >= 0; --i) {
      if (gap[i] < 0 && is_open(key[i])) mine = key[i];
    }
    const std::uint32_t found = __reduce_min_sync(whole_warp, mine);
    last = found + 1;
    return found;
  }
  __device__ static std::uint32_t byte_of(std::uint32_t bytes, int i) {
    return __byte_perm(bytes, 0u, 0x4440u + static_cast<unsigned>(i));
  }
};

}  // namespace
}  // namespace kiln::cuda
