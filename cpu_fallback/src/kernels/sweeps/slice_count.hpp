// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vertical counters: bit r of plane k is bit k of a number of replica r. Everything is in an
// unnamed namespace, see SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/lanes.hpp"
#include "kernels/sweeps/slice_tile.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

constexpr int kMaxPlanes = 24;

constexpr int kRegisterBytes = 4 * kIntLanes;

// W words side by side, in parts that fit into a register.
template <int W>
struct Slice {
  static constexpr int bytes = 4 * W < kRegisterBytes ? 4 * W : kRegisterBytes;
  static constexpr int n_parts = 4 * W / bytes;
  typedef std::uint32_t Part __attribute__((vector_size(bytes)));
  Part part[n_parts];
};

template <class Call, int W>
inline __attribute__((always_inline)) Slice<W> for_parts(const Slice<W>& a, const Slice<W>& b,
                                                         Call call) {
  Slice<W> result;
  for (int i = 0; i < Slice<W>::n_parts; ++i) result.part[i] = call(a.part[i], b.part[i]);
  return result;
}
template <int W>
inline __attribute__((always_inline)) Slice<W> operator^(const Slice<W>& a, const Slice<W>& b) {
  return for_parts(a, b, [](auto x, auto y) { return x ^ y; });
}
template <int W>
inline __attribute__((always_inline)) Slice<W> operator&(const Slice<W>& a, const Slice<W>& b) {
  return for_parts(a, b, [](auto x, auto y) { return x & y; });
}
template <int W>
inline bool any(const Slice<W>& a) {
  typename Slice<W>::Part all = a.part[0];
  for (int i = 1; i < Slice<W>::n_parts; ++i) all |= a.part[i];
  std::uint32_t words[Slice<W>::bytes / 4];
  std::memcpy(words, &all, sizeof words);
  std::uint32_t bits = 0;
  for (const std::uint32_t word : words) bits |= word;
  return bits != 0;
}
// All bits equal to `bit`.
template <int W>
inline Slice<W> slice_of(bool bit) {
  Slice<W> result;
  for (auto& part : result.part) part = typename Slice<W>::Part{} - (bit ? 1u : 0u);
  return result;
}

// p + a + b: the sum stays in p, the carry is returned.
template <class Part>
inline __attribute__((always_inline)) Part full_add_part(Part& p, Part a, Part b) {
#if defined(__AVX512VL__)
  constexpr int sum = 0x96, majority = 0xE8;
  if constexpr (sizeof(Part) == 64) {
    const auto x = reinterpret_cast<__m512i>(p), y = reinterpret_cast<__m512i>(a),
               z = reinterpret_cast<__m512i>(b);
    p = reinterpret_cast<Part>(_mm512_ternarylogic_epi32(x, y, z, sum));
    return reinterpret_cast<Part>(_mm512_ternarylogic_epi32(x, y, z, majority));
  } else if constexpr (sizeof(Part) == 32) {
    const auto x = reinterpret_cast<__m256i>(p), y = reinterpret_cast<__m256i>(a),
               z = reinterpret_cast<__m256i>(b);
    p = reinterpret_cast<Part>(_mm256_ternarylogic_epi32(x, y, z, sum));
    return reinterpret_cast<Part>(_mm256_ternarylogic_epi32(x, y, z, majority));
  } else if constexpr (sizeof(Part) == 16) {
    const auto x = reinterpret_cast<__m128i>(p), y = reinterpret_cast<__m128i>(a),
               z = reinterpret_cast<__m128i>(b);
    p = reinterpret_cast<Part>(_mm_ternarylogic_epi32(x, y, z, sum));
    return reinterpret_cast<Part>(_mm_ternarylogic_epi32(x, y, z, majority));
  }
#endif
  const Part either = p ^ a;
  const Part carry = (p & a) | (either & b);
  p = either ^ b;
  return carry;
}
template <int W>
inline __attribute__((always_inline)) Slice<W> full_add(Slice<W>& p, const Slice<W>& a,
                                                        const Slice<W>& b) {
  Slice<W> carry;
  for (int i = 0; i < Slice<W>::n_parts; ++i) {
    carry.part[i] = full_add_part(p.part[i], a.part[i], b.part[i]);
  }
  return carry;
}

// Adds a carry to the planes from `plane` on.
template <int W>
inline void ripple(Slice<W>* planes, int n_planes, int plane, Slice<W> carry) {
  for (; plane < n_planes; ++plane) {
    const Slice<W> next = planes[plane] & carry;
    planes[plane] = planes[plane] ^ carry;
    carry = next;
  }
}

// Adds eight terms to three planes by a tree of full adders; returns the carry of eights.
template <int W, class Term>
inline __attribute__((always_inline)) Slice<W> add_eight(Slice<W>* planes, Term term) {
  using Bits = Slice<W>;
  Bits ones = planes[0], twos = planes[1], fours = planes[2];
  const Bits a = full_add(ones, term(0), term(1));
  const Bits b = full_add(ones, term(2), term(3));
  const Bits u = full_add(twos, a, b);
  const Bits c = full_add(ones, term(4), term(5));
  const Bits d = full_add(ones, term(6), term(7));
  const Bits v = full_add(twos, c, d);
  const Bits carry = full_add(fours, u, v);
  planes[0] = ones;
  planes[1] = twos;
  planes[2] = fours;
  return carry;
}

// Adds n terms of weight 1 to the counters: the slices state(site) of the sites in `terms`, or
// their complements. A row with 8 terms has the planes up to 3, one with 64 those up to 6.
template <bool kInverted, int W, class State>
inline __attribute__((always_inline)) void add_terms(Slice<W>* planes, int n_planes, State state,
                                                     const std::uint32_t* terms, std::uint32_t n) {
  using Bits = Slice<W>;
  const auto term = [&](int k) __attribute__((always_inline))->Bits {
    if constexpr (kInverted) return state(terms[k]) ^ slice_of<W>(true);
    return state(terms[k]);
  };
  for (; n >= 64; n -= 64) {
    const Bits carry = add_eight<W>(
        planes + 3, [&](int) __attribute__((always_inline)) {
          const Bits eights = add_eight<W>(planes, term);
          terms += 8;
          return eights;
        });
    ripple(planes, n_planes, 6, carry);
  }
  for (; n >= 8; n -= 8, terms += 8) {
    ripple(planes, n_planes, 3, add_eight<W>(planes, term));
  }
  for (; n >= 2; n -= 2, terms += 2) {
    ripple(planes, n_planes, 1, full_add(planes[0], term(0), term(1)));
  }
  if (n == 1) ripple(planes, n_planes, 0, term(0));
}

// Adds the weighted neighbours of a row to counters.
template <int W, class State>
inline void add_row(const SliceJob& job, const SliceSite& row, State state, Slice<W>* planes,
                    int all_planes) {
  const std::uint32_t* terms = job.terms + row.first_term;
  const std::uint32_t* run = job.runs + row.first_run;
  for (int r = 0; r < row.n_runs; ++r) {
    const SliceRun one = slice_run(run[r]);
    Slice<W>* const from = planes + one.plane;
    const int n_planes = all_planes - one.plane;
    if (one.negative) {
      add_terms<true>(from, n_planes, state, terms, one.n_terms);
    } else {
      add_terms<false>(from, n_planes, state, terms, one.n_terms);
    }
    terms += one.n_terms;
  }
}

// Counts the weighted neighbours of a site; returns the number of planes.
template <int W>
inline int count_row(const SliceJob& job, const Slice<W>* state, std::int32_t site,
                     Slice<W>* planes) {
  const SliceSite& row = job.sites[site];
  for (int k = 0; k < row.n_planes; ++k) planes[k] = slice_of<W>(false);
  add_row<W>(
      job, row, [state](std::uint32_t neighbor) { return state[neighbor]; }, planes, row.n_planes);
  return row.n_planes;
}

}  // namespace
}  // namespace kiln::cpu
