// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vectors of 32-bit integers as wide as the registers of the translation unit that includes this.
// Everything is in an unnamed namespace, see SliceJob.
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kiln::cpu {
namespace {

constexpr int kLanes = 32;  // replicas of a word

#if defined(__AVX512F__)
constexpr int kIntLanes = 16;
#elif defined(__AVX2__)
constexpr int kIntLanes = 8;
#else
constexpr int kIntLanes = 4;
#endif

// The language extension of GCC and Clang.
typedef std::uint32_t Ints __attribute__((vector_size(4 * kIntLanes)));

inline __attribute__((always_inline)) Ints spread(std::uint32_t value) { return Ints{} + value; }
inline __attribute__((always_inline)) Ints load(const std::uint32_t* from) {
  return *reinterpret_cast<const Ints*>(from);
}
inline __attribute__((always_inline)) void store(std::uint32_t* to, Ints value) {
  *reinterpret_cast<Ints*>(to) = value;
}

inline __attribute__((always_inline)) Ints xor3(Ints a, Ints b, Ints c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Ints>(_mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a),
                                                          reinterpret_cast<__m512i>(b),
                                                          reinterpret_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}

// All ones in the lanes of which `word` has the bit, lane 0 being bit `first`.
inline __attribute__((always_inline)) Ints lane_masks(std::uint32_t word, int first) {
  Ints bit;
  for (int l = 0; l < kIntLanes; ++l) bit[l] = 1u << l;
  return reinterpret_cast<Ints>((spread(word >> first) & bit) == bit);
}

// The highest bits of the lanes.
inline __attribute__((always_inline)) std::uint32_t high_bits(Ints masks) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(masks));
#elif defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(masks)));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(masks)));
#else
  std::uint32_t bits = 0;
  for (int l = 0; l < kIntLanes; ++l) bits |= (masks[l] >> 31) << l;
  return bits;
#endif
}

// Both halves of the products of the lanes with a constant.
inline __attribute__((always_inline)) void multiply(Ints a, std::uint32_t factor, Ints& high,
                                                    Ints& low) {
#if defined(__AVX512F__)
  const auto x = reinterpret_cast<__m512i>(a);
  const __m512i f = _mm512_set1_epi32(static_cast<int>(factor));
  const __m512i even = _mm512_mul_epu32(x, f);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), f);
  high = reinterpret_cast<Ints>(_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB));
  low = reinterpret_cast<Ints>(_mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA));
#elif defined(__AVX2__)
  const auto x = reinterpret_cast<__m256i>(a);
  const __m256i f = _mm256_set1_epi32(static_cast<int>(factor));
  const __m256i even = _mm256_mul_epu32(x, f);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), f);
  high = reinterpret_cast<Ints>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
  low = reinterpret_cast<Ints>(_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
#elif defined(__SSE2__)
  const auto x = reinterpret_cast<__m128i>(a);
  const __m128i f = _mm_set1_epi32(static_cast<int>(factor));
  const __m128i even = _mm_mul_epu32(x, f);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), f);
  const __m128i even_lanes = _mm_set_epi32(0, -1, 0, -1);
  high = reinterpret_cast<Ints>(
      _mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(even_lanes, odd)));
  low = reinterpret_cast<Ints>(
      _mm_or_si128(_mm_and_si128(even_lanes, even), _mm_slli_epi64(odd, 32)));
#else
  for (int l = 0; l < kIntLanes; ++l) {
    const std::uint64_t product = static_cast<std::uint64_t>(factor) * a[l];
    high[l] = static_cast<std::uint32_t>(product >> 32);
    low[l] = static_cast<std::uint32_t>(product);
  }
#endif
}

}  // namespace
}  // namespace kiln::cpu
