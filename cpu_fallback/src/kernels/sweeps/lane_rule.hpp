// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The acceptance rule for many replicas: single precision decides where it is sure, the exact rule
// where it is not (ADR 0002). The bounds leave room for the errors of beta, dE and 2^y in single
// precision (below 2^-16 in all) and for the 24 bits of the word that are compared. Everything is
// in an unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/lanes.hpp"
#include "kernels/sweeps/slice_tile.hpp"

namespace kiln::cpu {
namespace {

using ExactRule = bool (*)(double beta, double delta, std::uint32_t word);

// Factor of 2^y for beta, in single precision.
inline float beta_log2e_of(double beta) {
  return static_cast<float>(beta < 1e30 ? beta : 1e30) * 1.44269504f;
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

struct alignas(64) Decision {
  std::int32_t accept[kLanes];  // all ones or 0
};

// Real dE can leave the range in which the bounds hold (beta is cut at 1e30): outside, single
// precision is never sure.
template <bool kHeatBath, class Wide>
inline void decide(ExactRule exact_accept, const double* beta, const float* beta_log2e,
                   const Wide* delta, const std::uint32_t* word, Decision& out) {
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
    out.accept[l] = exact_accept(beta[l], static_cast<double>(delta[l]), word[l]) ? -1 : 0;
  }
}

#if defined(__AVX512F__)
// The lanes that accept by a table: steps with dE <= 0, and those whose word is below the
// threshold.
inline __attribute__((always_inline)) std::uint32_t accepted_by_table(const ThresholdTable& table,
                                                                      __m512i delta, __m512i word) {
  const auto part = [&](int k) { return _mm512_load_si512(table.threshold + 16 * k); };
  // Negative steps become large indices, and are accepted anyway.
  const __m512i last = _mm512_set1_epi32(table.size - 1);
  const __m512i index = _mm512_min_epu32(_mm512_srai_epi32(delta, 1), last);
  __m512i threshold = _mm512_permutex2var_epi32(part(0), index, part(1));
  if (table.size > 32) {
    const __m512i high = _mm512_permutex2var_epi32(part(2), index, part(3));
    const __mmask16 is_high = _mm512_cmpgt_epu32_mask(index, _mm512_set1_epi32(31));
    threshold = _mm512_mask_mov_epi32(threshold, is_high, high);
  }
  return _mm512_cmplt_epu32_mask(word, threshold) |
         _mm512_cmple_epi32_mask(delta, _mm512_setzero_si512());
}

// Of the 16 lanes of a half, those whose single precision accepts and those it cannot tell, for
// whole dE; the same bounds as above, in units of 2^-24.
struct HalfDecision {
  __mmask16 accept, unsure;
};

template <bool kHeatBath>
inline __attribute__((always_inline)) HalfDecision decide_half(__m512i delta, __m512 beta_log2e,
                                                               __m512i word) {
  const __m512 d = _mm512_cvtepi32_ps(delta);
  __m512 y =
      _mm512_mul_ps(kHeatBath ? beta_log2e : _mm512_sub_ps(_mm512_setzero_ps(), beta_log2e), d);
  y = _mm512_max_ps(y, _mm512_set1_ps(-126.0f));
  y = _mm512_min_ps(y, _mm512_set1_ps(kHeatBath ? 126.0f : 0.0f));
  const __m512 k = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(y, k);
  __m512 p = _mm512_set1_ps(1.5403530e-4f);
  const auto then = [&](float next) { p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(next)); };
  then(1.3333558e-3f);
  then(9.6181291e-3f);
  then(5.5504109e-2f);
  then(2.4022651e-1f);
  then(6.9314718e-1f);
  then(1.0f);
  const __m512 scale = _mm512_set1_ps(0x1p24f);
  if constexpr (kHeatBath) {
    const __m512 power = _mm512_scalef_ps(p, k);
    p = _mm512_div_ps(scale, _mm512_add_ps(_mm512_set1_ps(1.0f), power));
  } else {
    p = _mm512_mul_ps(_mm512_scalef_ps(p, k), scale);
  }
  const __m512 u = _mm512_cvtepi32_ps(_mm512_srli_epi32(word, 8));
  const __m512 low = _mm512_fmadd_ps(p, _mm512_set1_ps(1.0f - 0x1p-14f), _mm512_set1_ps(-4.0f));
  const __m512 high = _mm512_fmadd_ps(p, _mm512_set1_ps(1.0f + 0x1p-14f), _mm512_set1_ps(4.0f));
  const __mmask16 down =
      kHeatBath ? __mmask16{0} : _mm512_cmple_epi32_mask(delta, _mm512_setzero_si512());
  const __mmask16 yes = _mm512_cmp_ps_mask(u, low, _CMP_LT_OQ) | down;
  const __mmask16 no = _mm512_cmp_ps_mask(u, high, _CMP_GT_OQ);
  return {yes, static_cast<__mmask16>(~(yes | no))};
}
#endif

}  // namespace
}  // namespace kiln::cpu
