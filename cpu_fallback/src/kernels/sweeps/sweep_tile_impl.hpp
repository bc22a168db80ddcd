// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep for 32 replicas at a time. Included by one translation unit per instruction
// set; everything is in an unnamed namespace, see TileJob. Loops over the 32 lanes are written so
// that the compiler turns them into vector instructions.
#include <cstdint>
#include <cstring>

#include "sweep_tile.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

constexpr int kLanes = TileJob::lanes;

struct alignas(64) Lanes32 {
  std::uint32_t v[kLanes];
};

#if defined(__AVX2__)
// Both halves of the products of eight 32-bit words with a constant.
inline __attribute__((always_inline)) void multiply8(__m256i a, __m256i factor, __m256i& high,
                                                     __m256i& low) {
  const __m256i even = _mm256_mul_epu32(a, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), factor);
  low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
  high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}
#endif

// Philox4x32-10 for one quad of sites and 32 replicas; words[k] belongs to site 4 * quad + k.
inline void draw_quad32(const TileJob& job, const std::uint32_t* key_low,
                        const std::uint32_t* key_high, std::uint32_t quad, Lanes32 words[4]) {
#if defined(__AVX2__)
  const __m256i factor0 = _mm256_set1_epi32(static_cast<int>(0xD2511F53u));
  const __m256i factor1 = _mm256_set1_epi32(static_cast<int>(0xCD9E8D57u));
  const __m256i weyl0 = _mm256_set1_epi32(static_cast<int>(0x9E3779B9u));
  const __m256i weyl1 = _mm256_set1_epi32(static_cast<int>(0xBB67AE85u));
  for (int l = 0; l < kLanes; l += 8) {
    const auto load = [l](const std::uint32_t* p) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + l));
    };
    const auto store = [l](Lanes32& to, __m256i x) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(to.v + l), x);
    };
    __m256i c0 = _mm256_set1_epi32(static_cast<int>(quad));
    __m256i c1 = load(job.replica);
    __m256i c2 = _mm256_set1_epi32(static_cast<int>(job.step_low));
    __m256i c3 = _mm256_set1_epi32(static_cast<int>(job.counter3));
    __m256i k0 = load(key_low), k1 = load(key_high);
    for (int round = 0; round < 10; ++round) {
      __m256i high0, low0, high1, low1;
      multiply8(c0, factor0, high0, low0);
      multiply8(c2, factor1, high1, low1);
      c0 = _mm256_xor_si256(_mm256_xor_si256(high1, c1), k0);
      c1 = low1;
      c2 = _mm256_xor_si256(_mm256_xor_si256(high0, c3), k1);
      c3 = low0;
      k0 = _mm256_add_epi32(k0, weyl0);
      k1 = _mm256_add_epi32(k1, weyl1);
    }
    store(words[0], c0);
    store(words[1], c1);
    store(words[2], c2);
    store(words[3], c3);
  }
#else
  for (int l = 0; l < kLanes; ++l) {
    std::uint32_t c0 = quad, c1 = job.replica[l], c2 = job.step_low, c3 = job.counter3;
    std::uint32_t k0 = key_low[l], k1 = key_high[l];
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = static_cast<std::uint64_t>(0xD2511F53u) * c0;
      const std::uint64_t p1 = static_cast<std::uint64_t>(0xCD9E8D57u) * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(p1);
      c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    words[0].v[l] = c0;
    words[1].v[l] = c1;
    words[2].v[l] = c2;
    words[3].v[l] = c3;
  }
#endif
}

// 2^y in single precision for -126 <= y <= 126, relative error below 2^-20.
inline __attribute__((always_inline)) float exp2_single(float y) {
  const float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float k = (y + shift) - shift;
  const float f = y - k;
  float p = 1.5403530e-4f;  // (ln 2)^n / n!, |f| <= 1/2
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  const std::int32_t exponent = (static_cast<std::int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  return p * scale;
}

// How a number type is stored, summed and widened. Mask: all ones where the bit of a replica is 1.
template <class Value, class Bits, class Wide>
struct Number {
  using value = Value;  // of sums
  using bits = Bits;    // of masks, as wide as value
  using wide = Wide;    // of energy changes
};
using Int8 = Number<std::int8_t, std::int8_t, std::int32_t>;
using Int16 = Number<std::int16_t, std::int16_t, std::int32_t>;
using Single = Number<float, std::int32_t, float>;
using Real = Number<double, std::int64_t, double>;

template <class N>
typename N::value weight_of(const TileJob& job, std::int64_t entry) {
  using T = typename N::value;
  if constexpr (sizeof(T) == 8) {
    return job.weights_f64[entry];
  } else if constexpr (sizeof(T) == 4) {
    return job.entries[entry].weight;
  } else {
    return static_cast<T>(job.weights_i16[entry]);
  }
}

// Vectors as wide as the registers of this translation unit; the language extension of GCC and
// Clang.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Sum of the weights of the neighbours of `site` whose bit is 1, in the order of the row.
template <class N>
inline void sum_set(const TileJob& job, const typename N::bits* masks, std::int32_t site,
                    typename N::value* sum) {
  using Bits = typename N::bits;
  using Value = typename N::value;
  constexpr int row_bytes = kLanes * static_cast<int>(sizeof(Value));
  constexpr int width = row_bytes < kVectorBytes ? row_bytes : kVectorBytes;
  constexpr int parts = row_bytes / width;
  typedef Value Values __attribute__((vector_size(width)));
  typedef Bits Masks __attribute__((vector_size(width)));
  Values total[parts] = {};
  const std::int64_t end = job.row_begin[site + 1];
  for (std::int64_t e = job.row_begin[site]; e < end; ++e) {
    const Value weight = weight_of<N>(job, e);
    Bits weight_bits;
    std::memcpy(&weight_bits, &weight, sizeof weight);
    const Bits* row = masks + static_cast<std::size_t>(job.entries[e].site) * kLanes;
    for (int part = 0; part < parts; ++part) {
      const Masks mask = reinterpret_cast<const Masks*>(row)[part];
      total[part] += reinterpret_cast<Values>(mask & weight_bits);
    }
  }
  for (int part = 0; part < parts; ++part) reinterpret_cast<Values*>(sum)[part] = total[part];
}

struct alignas(64) Decision {
  std::int32_t accept[kLanes];  // all ones or 0
};

// The rule for 32 lanes: single precision decides where it is sure, the exact rule where it is
// not. The bounds leave room for the errors of beta, dE and 2^y in single precision (below 2^-16 in
// all) and for the 24 bits of the word that are compared. Real dE can leave the range in which that
// holds (beta is cut at 1e30): outside, single precision is never sure.
template <bool kHeatBath, class Wide>
inline void decide(const TileJob& job, const float* beta_log2e, const Wide* delta,
                   const std::uint32_t* word, Decision& out) {
  alignas(64) std::int32_t unsure[kLanes];
  std::int32_t any_unsure = 0;
  for (int l = 0; l < kLanes; ++l) {
    const float d = static_cast<float>(delta[l]);
    float y = kHeatBath ? beta_log2e[l] * d : -(beta_log2e[l] * d);
    y = y > -126.0f ? y : -126.0f;
    constexpr float highest = kHeatBath ? 126.0f : 0.0f;
    y = y < highest ? y : highest;
    const float power = exp2_single(y);
    const float p = kHeatBath ? 1.0f / (1.0f + power) : power;
    const float u = static_cast<float>(static_cast<std::int32_t>(word[l] >> 8)) * 0x1p-24f;
    const std::int32_t down = !kHeatBath && delta[l] <= 0 ? -1 : 0;
    std::int32_t yes = u < p * (1.0f - 0x1p-14f) - 0x1p-22f ? -1 : 0;
    std::int32_t no = u > p * (1.0f + 0x1p-14f) + 0x1p-22f ? -1 : 0;
    if constexpr (sizeof(Wide) == 8) {
      const float size = kHeatBath && d < 0 ? -d : d;
      const std::int32_t in_range = (size >= 1e-28f ? -1 : 0) & (size <= 1e30f ? -1 : 0);
      yes &= in_range;
      no &= in_range;
    }
    out.accept[l] = down | yes;
    unsure[l] = ~(down | yes | no);
    any_unsure |= unsure[l];
  }
  if (any_unsure == 0) return;
  for (int l = 0; l < kLanes; ++l) {
    if (unsure[l] == 0) continue;
    out.accept[l] = job.exact_accept(job.beta[l], static_cast<double>(delta[l]), word[l]) ? -1 : 0;
  }
}

template <class N, bool kHeatBath>
struct Tile {
  using Bits = typename N::bits;
  using Value = typename N::value;
  using Wide = typename N::wide;

  explicit Tile(TileJob& j) : job(j), masks(static_cast<Bits*>(j.masks)) {
    for (int l = 0; l < kLanes; ++l) {
      key_low[l] = static_cast<std::uint32_t>(job.key[l]);
      key_high[l] = static_cast<std::uint32_t>(job.key[l] >> 32);
      const float beta = static_cast<float>(job.beta[l] < 1e30 ? job.beta[l] : 1e30);
      beta_log2e[l] = beta * 1.44269504f;
    }
  }

  void unpack() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      const std::uint32_t word = v >= 0 ? job.words[v * job.word_stride] : 0u;
      Bits* mask = masks + static_cast<std::size_t>(site) * kLanes;
      for (int l = 0; l < kLanes; ++l) {
        mask[l] = static_cast<Bits>(-static_cast<std::int32_t>((word >> l) & 1u));
      }
    }
  }

  void pack() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      if (v < 0) continue;
      const Bits* mask = masks + static_cast<std::size_t>(site) * kLanes;
      std::uint32_t word = 0;
      for (int l = 0; l < kLanes; ++l) word |= (mask[l] != 0 ? 1u : 0u) << l;
      job.words[v * job.word_stride] = word;
    }
  }

  void attempt(std::int32_t site, const std::uint32_t* word) {
    alignas(64) Value set[kLanes];
    alignas(64) Wide delta[kLanes];
    sum_set<N>(job, masks, site, set);
    Bits* mask = masks + static_cast<std::size_t>(site) * kLanes;
    const Wide base = static_cast<Wide>(job.base[site]);
    for (int l = 0; l < kLanes; ++l) {
      const Wide sum = static_cast<Wide>(set[l]);
      const Wide local = base - (sum + sum);
      const Wide twice = local + local;
      delta[l] = mask[l] != 0 ? twice : -twice;  // dE = -2 s f, s = -1 where the bit is 1
    }
    Decision decision;
    decide<kHeatBath>(job, beta_log2e, delta, word, decision);
    for (int l = 0; l < kLanes; ++l) {
      decision.accept[l] &= job.moves[l];
      mask[l] = static_cast<Bits>(mask[l] ^ static_cast<Bits>(decision.accept[l]));
      change[l] += decision.accept[l] != 0 ? delta[l] : Wide{0};
      flips[l] -= decision.accept[l];
    }
  }

  // Sums in 32-bit integers and in single precision stay exact for a while only.
  void flush() {
    for (int l = 0; l < kLanes; ++l) {
      job.delta[l] += static_cast<double>(change[l]);
      job.accepted[l] += static_cast<std::uint64_t>(flips[l]);
      change[l] = 0;
      flips[l] = 0;
    }
  }

  void run() {
    // 2^14 attempts of at most 2^16 fit into 31 bits; in single precision each is flushed.
    constexpr std::int32_t flush_mask = sizeof(Wide) == 4 && Wide(0.5f) != 0 ? 0 : 0x3FFF;
    Lanes32 words[4];
    unpack();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t k = site & 3;
      if (k == 0) {
        draw_quad32(job, key_low, key_high, static_cast<std::uint32_t>(site) / 4, words);
      }
      if (job.variable[site] >= 0) attempt(site, words[k].v);
      if ((site & flush_mask) == flush_mask) flush();
    }
    flush();
    pack();
  }

  TileJob& job;
  Bits* masks;
  alignas(64) std::uint32_t key_low[kLanes];
  alignas(64) std::uint32_t key_high[kLanes];
  alignas(64) float beta_log2e[kLanes];
  alignas(64) Wide change[kLanes] = {};
  alignas(64) std::int32_t flips[kLanes] = {};
};

template <class N>
void run_tile(TileJob& job) {
  if (job.heat_bath) {
    Tile<N, true>(job).run();
  } else {
    Tile<N, false>(job).run();
  }
}

inline void sweep_tile(TileJob& job) {
  switch (job.number) {
    case TileNumber::int8:
      return run_tile<Int8>(job);
    case TileNumber::int16:
      return run_tile<Int16>(job);
    case TileNumber::single:
      return run_tile<Single>(job);
    case TileNumber::real:
      return run_tile<Real>(job);
  }
}

}  // namespace
}  // namespace kiln::cpu
