// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/slice_places.cuh"
#include "plane_places.cuh"
#include "plane_random.cuh"
#include "plane_sums.cuh"

/// The sweep of a warp by planes, where all words of the block have one key and one table. A block
/// holds W words of 32 replicas. A lane works on V words of a site at a time, so the lanes of a
/// warp have 32 V / W sites. What the loop needs all the time is in registers.
namespace kiln::cuda {
namespace {

template <int W, int V, int P, PlaneRows kRows>
struct PlaneWarp {
  using Of = PlaneFormat<P>;
  using Places = PlanePlaces<W, V, P, kRows>;
  using Memory = typename Places::Memory;
  static constexpr bool sums_changes = !Memory::shared;  // else energies are counted at the end

  const Places places;
  PlaneBlock<W>& block;
  std::uint32_t n_ties = 0;  // words in the queue
  int sites_added = 0;
  PlaneFlips<Places::lanes_of_site> flips[V];
  PlaneIndices<P, Places::lanes_of_site> indices[sums_changes ? V : 1];

  __device__ PlaneWarp(const MetropolisSweep& kernel, std::int64_t first_word, const Memory& memory)
      : places(kernel, first_word, memory), block(memory.block) {}

  /// What stays the same for the sweep.
  struct Fixed {
    const PlaneStep step;
    const KeptKeys keys;
    std::uint32_t high[V], low[V], moves[V];
    const std::uint32_t n_high, n_top;

    __device__ Fixed(const PlaneStep& s, const PlaneBlock<W>& block, std::uint32_t word)
        : step(s),
          keys(block.words[0].key0, block.words[0].key1),
          n_high(block.n_high),
          n_top(block.n_top) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const PlaneWord& of = block.words[word + static_cast<std::uint32_t>(v)];
        high[v] = of.high, low[v] = of.low, moves[v] = of.moves;
      }
    }
  };

  /// The planes of the thresholds of V words.
  __device__ void thresholds(const Fixed& fixed, const std::uint32_t (&number)[V][P],
                             std::uint32_t odd_even, std::uint32_t (&bits)[V][8]) const {
    const unsigned char* const row = places.memory.tables + odd_even;
    if constexpr (Memory::short_rows) {  // two levels
      const auto* const masks = reinterpret_cast<const uint4*>(row);
      const uint4 low[2] = {masks[0], masks[1]}, high[2] = {masks[2], masks[3]};
#pragma unroll
      for (int v = 0; v < V; ++v) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
          const uint4 &a = low[part], &b = high[part];
          std::uint32_t* const to = bits[v] + 4 * part;
          to[0] = select_bits(number[v][0], b.x, a.x), to[1] = select_bits(number[v][0], b.y, a.y);
          to[2] = select_bits(number[v][0], b.z, a.z), to[3] = select_bits(number[v][0], b.w, a.w);
        }
      }
      return;
    }
    constexpr int low_pairs = P < 5 ? (1 << (P - 2)) : 4;  // that differ in planes 1 and 2
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int k = 0; k < 8; ++k) bits[v][k] = 0;
    }
    for (std::uint32_t level = 0; level < fixed.n_high; level += 2 * low_pairs) {
      std::uint32_t high[V];
#pragma unroll
      for (int v = 0; v < V; ++v) {
        high[v] = number[v][P - 1];
#pragma unroll
        for (int k = 3; k < P - 1; ++k) high[v] &= number[v][k] ^ ((level >> k & 1u) - 1u);
      }
#pragma unroll
      for (int pair = 0; pair < low_pairs; ++pair) {
        if (pair > 0 && level + 2 * pair >= fixed.n_high) break;
        const uint4* const masks =
            reinterpret_cast<const uint4*>(row + (level + 2 * pair) * Of::row_bytes);
        std::uint32_t here[V];
#pragma unroll
        for (int v = 0; v < V; ++v) {
          here[v] = high[v];
          if constexpr (P > 2) here[v] &= (pair & 1) != 0 ? number[v][1] : ~number[v][1];
          if constexpr (P > 3) here[v] &= (pair & 2) != 0 ? number[v][2] : ~number[v][2];
        }
        add_nibble<0>(masks[0], masks[2], number, here, bits);
        if (level + 2 * pair < fixed.n_top) add_nibble<4>(masks[1], masks[3], number, here, bits);
      }
    }
  }
  template <int kFirst>
  __device__ static void add_nibble(const uint4& even_level, const uint4& odd_level,
                                    const std::uint32_t (&number)[V][P],
                                    const std::uint32_t (&here)[V], std::uint32_t (&bits)[V][8]) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t odd = number[v][0];
      bits[v][kFirst] |= here[v] & select_bits(odd, odd_level.x, even_level.x);
      bits[v][kFirst + 1] |= here[v] & select_bits(odd, odd_level.y, even_level.y);
      bits[v][kFirst + 2] |= here[v] & select_bits(odd, odd_level.z, even_level.z);
      bits[v][kFirst + 3] |= here[v] & select_bits(odd, odd_level.w, even_level.w);
    }
  }

  /// Compares the planes of the words with those of the thresholds.
  __device__ static void compare(const Fixed& fixed, std::uint32_t site,
                                 const std::uint32_t (&bits)[V][8], Words<V>& below,
                                 Words<V>& equal) {
    const SitePlanes planes(fixed.keys, site);
    std::uint64_t product[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      product[v] = wide_product(philox_factor1, fixed.high[v] ^ planes.factor);
    }
#pragma unroll
    for (std::uint32_t b = 0; b < 2; ++b) {
      const BlockPlanes common(fixed.step, fixed.keys, planes, b);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const Words4 random = finish_planes(fixed.keys, common, product[v], fixed.low[v]);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const std::uint32_t r = random.word[k],
                              t = bits[v][4 * b + static_cast<std::uint32_t>(k)];
          below.of[v] = (~r & t) | (~(r ^ t) & below.of[v]);
          equal.of[v] &= ~(r ^ t);
        }
      }
    }
  }

  /// Puts the words with ties into the queue. Sites of a class do not interact, so these may be
  /// decided later than the rest of the class.
  __device__ void queue_ties(const Fixed& fixed, std::uint32_t site, std::uint32_t even,
                             const std::uint32_t (&number)[V][P], const Words<V>& open) {
    unsigned tied[V];
    std::uint32_t n_new = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      tied[v] = __ballot_sync(whole_warp, open.of[v] != 0);
      n_new += static_cast<std::uint32_t>(__popc(tied[v]));
    }
    if (n_ties + n_new > 32) settle_ties(fixed);
    auto* const queue = reinterpret_cast<TiedWord<P>*>(places.memory.queue);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (open.of[v] != 0) {
        uint4* const to =
            queue[n_ties + static_cast<std::uint32_t>(__popc(tied[v] & ((1u << places.lane) - 1)))].of;
        const std::uint32_t name = site << 5 | (even & 16u) | (places.words.word + v);
        const auto plane = [&](int k) { return k < P - 1 ? number[v][k] : 0u; };
        to[0] = make_uint4(name, open.of[v], plane(0), plane(1));
#pragma unroll
        for (int q = 1; q < TiedWord<P>::quads; ++q) {
          to[q] = make_uint4(plane(4 * q - 2), plane(4 * q - 1), plane(4 * q), plane(4 * q + 1));
        }
      }
      n_ties += static_cast<std::uint32_t>(__popc(tied[v]));
    }
  }

  /// Decides all ties of the queue.
  __device__ void settle_ties(const Fixed& fixed) {
    __syncwarp();
    const auto* const queue = reinterpret_cast<const TiedWord<P>*>(places.memory.queue);
    for (std::uint32_t begin = 0; begin < n_ties; begin += 32) {
      std::uint32_t name = 0, left = 0, level_planes[4 * TiedWord<P>::quads - 2];
      if (begin + places.lane < n_ties) {
        const uint4* const from = queue[begin + places.lane].of;
        name = from[0].x, left = from[0].y;
        level_planes[0] = from[0].z, level_planes[1] = from[0].w;
#pragma unroll
        for (int q = 1; q < TiedWord<P>::quads; ++q) {
          level_planes[4 * q - 2] = from[q].x, level_planes[4 * q - 1] = from[q].y;
          level_planes[4 * q] = from[q].z, level_planes[4 * q + 1] = from[q].w;
        }
      }
#pragma unroll 1
      while (__any_sync(whole_warp, left != 0)) {
        if (left == 0) continue;
        const int replica = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        std::uint32_t level = 0;
#pragma unroll
        for (int k = 0; k < P - 1; ++k) level |= (level_planes[k] >> replica & 1u) << k;
        settle_tie(fixed, name, static_cast<std::uint32_t>(replica), level);
      }
    }
    n_ties = 0;
    __syncwarp();
  }

  __device__ void settle_tie(const Fixed& fixed, std::uint32_t name, std::uint32_t replica,
                             std::uint32_t level) {
    const std::uint32_t site = name >> 5, even = name >> 4 & 1u, w = name & 15u;
    const std::uint32_t limit = reinterpret_cast<const std::uint32_t*>(
        places.memory.tables + Of::low_begin)[even * Of::levels + level];
    const std::uint32_t number = 32 * block.words[w].name + replica;
    if (rest_of(fixed.keys, fixed.step, site, number) >= limit) return;
    atomicXor(places.state_of(site, w), 1u << replica);
    atomicAdd(&flips_of_block()[32 * w + replica], 1u);
    if constexpr (sums_changes) {
      atomicAdd(&block.indices[32 * w + replica], 2 * (level + (1u << (P - 1))) + even);
    }
  }

  __device__ void sweep_site(const Fixed& fixed, std::uint32_t site,
                             const typename Places::Row& row) {
    const bool real = row.real();
    const std::uint32_t index = places.index_of(site, row), even = row.even();
    const Words<V> own = places.words.load(index);
    std::uint32_t number[V][P];
    places.count(row, own, number);
    std::uint32_t bits[V][8];
    thresholds(fixed, number, even & Of::parity_bytes, bits);
    Words<V> below, open, flipped;
    std::uint32_t moves[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      moves[v] = real ? fixed.moves[v] : 0u;
      below.of[v] = 0, open.of[v] = number[v][P - 1] & moves[v];
    }
    compare(fixed, site, bits, below, open);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t accepted = (below.of[v] | ~number[v][P - 1]) & moves[v];
      flipped.of[v] = own.of[v] ^ accepted;
      flips[v].add(accepted, (sites_added & 1) != 0);
      if constexpr (sums_changes) indices[v].add(number[v], even, accepted);
    }
    if (real) places.words.store(index, flipped);
    queue_ties(fixed, site, even, number, open);
    if (++sites_added == sites_of_sums) flush_sums();
  }

  __device__ std::uint32_t* flips_of_block() const { return sums_changes ? block.indexed : block.flips; }
  __device__ void flush_sums() {
    sites_added = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      flips[v].flush(flips_of_block() + 32 * (places.words.word + v));
      if constexpr (sums_changes) indices[v].flush(block.indices + 32 * (places.words.word + v));
    }
  }

  __device__ void sweep_classes(const PlaneStep& step, const ClassRange& classes) {
    const Fixed fixed(step, block, places.words.word);
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      auto [first, end, stride] = places.range_of(c);
      typename Places::Row next = places.row(first + places.place, end);
#pragma unroll 1
      for (; first < end; first += stride) {
        const typename Places::Row row = next;
        next = places.row(first + stride + places.place, end);
        sweep_site(fixed, first + places.place, row);
      }
      settle_ties(fixed);
      __syncthreads();
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
