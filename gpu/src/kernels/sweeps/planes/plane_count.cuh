// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/sweeps/slice_planes.cuh"

/// The numbers u of GroupSite for V words of a site at once.
namespace kiln::cuda {

/// What a place holds: a register for each of V words.
template <int V>
struct Words {
  std::uint32_t of[V];
};

/// Loads the words of four variables; load(variable) gives Words<V>.
template <int V, class Load>
__device__ inline void load_four(const Load& load, const uint4& variables, uint4 (&terms)[V]) {
  const Words<V> x = load(variables.x), y = load(variables.y);
  const Words<V> z = load(variables.z), w = load(variables.w);
#pragma unroll
  for (int v = 0; v < V; ++v) terms[v] = make_uint4(x.of[v], y.of[v], z.of[v], w.of[v]);
}

/// add_groups() for V words.
template <int P, int V, class Load>
__device__ inline void add_groups_of_words(const GroupView& rows, const uint4* groups, int n,
                                           const Load& load, std::uint32_t (&planes)[V][P]) {
  if (rows.one_plane) {
    int g = 0;
    for (; g + 2 <= n; g += 2) {
      uint4 first[V], second[V];
      load_four<V>(load, __ldg(groups + g), first);
      load_four<V>(load, __ldg(groups + g + 1), second);
#pragma unroll
      for (int v = 0; v < V; ++v) add_eight(planes[v], first[v], second[v]);
    }
    if (g < n) {
      uint4 last[V];
      load_four<V>(load, __ldg(groups + g), last);
#pragma unroll
      for (int v = 0; v < V; ++v) add_four<0>(planes[v], last[v]);
    }
    return;
  }
  constexpr std::uint32_t mask = (1u << group_plane_shift) - 1;
  for (int g = 0; g < n; ++g) {
    const uint4 at = __ldg(groups + g);
    const auto plane = static_cast<int>(at.x >> group_plane_shift);
    uint4 terms[V];
    load_four<V>(load, make_uint4(at.x & mask, at.y & mask, at.z & mask, at.w & mask), terms);
#pragma unroll
    for (int v = 0; v < V; ++v) add_four_at<0>(plane, planes[v], terms[v]);
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
template <int P, int V, class Load>
__device__ inline void count_row_of_words(const GroupView& rows, const GroupSite& site,
                                          const Words<V>& own, const Load& load,
                                          std::uint32_t (&planes)[V][P]) {
  const int start = site.variable < 0 ? 0 : (1 << (P - 1)) + (site.start_and_even >> 1);
  const auto* const groups =
      reinterpret_cast<const uint4*>(rows.terms.data) + static_cast<std::size_t>(site.first_group);
#pragma unroll
  for (int k = 0; k < P; ++k) {
    const std::uint32_t bit = 0u - (static_cast<std::uint32_t>(start) >> k & 1u);
#pragma unroll
    for (int v = 0; v < V; ++v) planes[v][k] = bit;
  }
  if (site.n_negative > 0) {  // subtracting is adding to the complement
    complement(planes);
    add_groups_of_words(rows, groups, site.n_negative, load, planes);
    complement(planes);
  }
  const std::uint32_t even = 0u - (static_cast<std::uint32_t>(site.start_and_even) & 1u);
#pragma unroll
  for (int v = 0; v < V; ++v) ripple<0>(planes[v], own.of[v] & even);
  add_groups_of_words(rows, groups + site.n_negative, site.n_positive, load, planes);
#pragma unroll
  for (int v = 0; v < V; ++v) {
#pragma unroll
    for (int k = 0; k < P; ++k) planes[v][k] ^= own.of[v];
  }
}

}  // namespace kiln::cuda
