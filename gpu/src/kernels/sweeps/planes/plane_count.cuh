// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/sweeps/slice_planes.cuh"

/// The numbers u of GroupSite for V words of a site at once.
namespace kiln::cuda {

/// The same word, opaque to the compiler: it stays in a register, and is not made anew at each use.
__device__ inline std::uint32_t kept(std::uint32_t word) {
  asm("" : "+r"(word));
  return word;
}

/// What a place holds: a register for each of V words.
template <int V>
struct Words {
  std::uint32_t of[V];
};

/// The words of four variables; load(variable) gives Words<V>.
template <int V>
struct FourWords {
  Words<V> x, y, z, w;

  template <class Load>
  __device__ FourWords(const Load& load, const uint4& variables)
      : x(load(variables.x)), y(load(variables.y)), z(load(variables.z)), w(load(variables.w)) {}
  __device__ uint4 of(int v) const { return make_uint4(x.of[v], y.of[v], z.of[v], w.of[v]); }
};

/// Adds sixteen terms of weight 1.
template <int P>
__device__ inline void add_sixteen(std::uint32_t (&planes)[P], const uint4& x, const uint4& y,
                                   const uint4& z, const uint4& w) {
  const auto twos = [&](const uint4& terms) {
    const std::uint32_t a = full_add(planes[0], terms.x, terms.y);
    return full_add(planes[1], a, full_add(planes[0], terms.z, terms.w));
  };
  const std::uint32_t a = twos(x), b = twos(y);
  const std::uint32_t fours = full_add(planes[2], a, b);
  const std::uint32_t c = twos(z), d = twos(w);
  if constexpr (P > 3) ripple<4>(planes, full_add(planes[3], fours, full_add(planes[2], c, d)));
}

/// Adds the first n / 4 * 4 of n groups of terms of weight 1. Long: the next groups are read before
/// these are added, which pays where rows are longer than what is brought near.
template <bool kLong, int P, int V, class Load>
__device__ inline void add_fours(const uint4*& groups, int& n, const Load& load,
                                 std::uint32_t (&planes)[V][P]) {
  using Four = FourWords<V>;
  uint4 next[4];
  const auto read = [&] {
#pragma unroll
    for (int i = 0; i < 4; ++i) next[i] = __ldg(groups + i);
  };
  if (kLong && n >= 4) read();
#pragma unroll 1
  while (n >= 4) {
    if constexpr (!kLong) read();
    const Four x(load, next[0]), y(load, next[1]), z(load, next[2]), w(load, next[3]);
    n -= 4, groups += 4;
    if (kLong && n >= 4) read();
#pragma unroll
    for (int v = 0; v < V; ++v) add_sixteen(planes[v], x.of(v), y.of(v), z.of(v), w.of(v));
  }
}

/// Adds `n` groups of terms of weight 1 for V words.
template <bool kLong, int P, int V, class Load>
__device__ inline void add_ones(const uint4* groups, int n, const Load& load,
                                std::uint32_t (&planes)[V][P]) {
  using Four = FourWords<V>;
  if constexpr (P > 4) add_fours<kLong>(groups, n, load, planes);
#pragma unroll 1
  for (; n >= 2; n -= 2, groups += 2) {
    const Four x(load, __ldg(groups)), y(load, __ldg(groups + 1));
#pragma unroll
    for (int v = 0; v < V; ++v) add_eight(planes[v], x.of(v), y.of(v));
  }
  if (n > 0) {
    const Four x(load, __ldg(groups));
#pragma unroll
    for (int v = 0; v < V; ++v) add_four<0>(planes[v], x.of(v));
  }
}

/// add_groups() for V words. Ones: all couplings are -1, 0 or 1.
template <bool kOnes, bool kLong, int P, int V, class Load>
__device__ inline void add_groups_of_words(const GroupView& rows, const uint4* groups, int n,
                                           const Load& load, std::uint32_t (&planes)[V][P]) {
  if (kOnes || rows.one_plane) return add_ones<kLong>(groups, n, load, planes);
  constexpr std::uint32_t mask = (1u << group_plane_shift) - 1;
#pragma unroll 1
  for (int g = 0; g < n; ++g) {
    const uint4 at = __ldg(groups + g);
    const auto plane = static_cast<int>(at.x >> group_plane_shift);
    const FourWords<V> terms(load, make_uint4(at.x & mask, at.y & mask, at.z & mask, at.w & mask));
#pragma unroll
    for (int v = 0; v < V; ++v) add_four_at<0>(plane, planes[v], terms.of(v));
  }
}

template <int P, int V>
__device__ inline void complement(std::uint32_t (&planes)[V][P]) {
#pragma unroll
  for (int v = 0; v < V; ++v) {
#pragma unroll
    for (int k = 0; k < P; ++k) planes[v][k] = ~planes[v][k];
  }
}

/// count_row() for V words.
template <bool kOnes, bool kLong, int P, int V, class Load>
__device__ inline void count_row_of_words(const GroupView& rows, const GroupSite& site,
                                          const Words<V>& own, const Load& load,
                                          std::uint32_t (&planes)[V][P]) {
  const int start = site.variable < 0 ? 0 : (1 << (P - 1)) + (site.start_and_even >> 1);
  const auto* groups = reinterpret_cast<const uint4*>(rows.terms.data) + site.first_group;
#pragma unroll
  for (int k = 0; k < P; ++k) {
    const auto shifted = static_cast<std::int32_t>(static_cast<std::uint32_t>(start) << (31 - k));
#pragma unroll
    for (int v = 0; v < V; ++v) planes[v][k] = static_cast<std::uint32_t>(shifted >> 31);
  }
  const std::uint32_t even = 0u - (static_cast<std::uint32_t>(site.start_and_even) & 1u);
#pragma unroll
  for (int v = 0; v < V; ++v) ripple<0>(planes[v], own.of[v] & even);
#pragma unroll 1
  for (bool negative = site.n_negative > 0;; negative = false) {
    if (negative) complement(planes);  // subtracting is adding to the complement
    const int n = negative ? site.n_negative : site.n_positive;
    add_groups_of_words<kOnes, kLong>(rows, groups, n, load, planes);
    if (!negative) break;
    groups += n;
    complement(planes);
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
#pragma unroll
    for (int k = 0; k < P; ++k) planes[v][k] ^= own.of[v];
  }
}

}  // namespace kiln::cuda
