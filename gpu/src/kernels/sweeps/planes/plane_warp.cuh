// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_places.cuh"
#include "plane_random.cuh"
#include "plane_sums.cuh"

/// The sweep of a warp by planes, where all words of the block have one key and one table. A block
/// holds W words of 32 replicas. A lane works on V words of a site at a time, so the lanes of a
/// warp have 32 V / W sites. What the loop needs all the time is in registers.
namespace kiln::cuda {
namespace {

template <int W, int V, int P, PlaneRows kRows, bool kOneTable>
struct PlaneWarp {
  using Of = PlaneFormat<P>;
  using Places = PlanePlaces<W, V, P, kRows>;
  using Memory = typename Places::Memory;
  static constexpr bool sums_changes = !Memory::shared;  // else numbers are counted afterwards

  const Places places;
  PlaneBlock<W>& block;
  std::uint32_t n_tied = 0;  // in the queue
  int sites_added = 0;
  PlaneFlips<Places::lanes_of_site> flips[V];
  PlaneIndices<P, Places::lanes_of_site> indices[sums_changes ? V : 1];

  __device__ PlaneWarp(const MetropolisSweep& kernel, std::int64_t first_word, const Memory& memory)
      : places(kernel, first_word, memory), block(memory.block) {}

  /// What stays the same for the sweep.
  struct Fixed {
    const PlaneStep step;
    const KeptKeys keys;
    std::uint32_t high[V], low[V], moves[V], table[V];
    const std::uint32_t n_high, n_top;

    __device__ Fixed(const PlaneStep& s, const PlaneBlock<W>& block, std::uint32_t word,
                     std::uint32_t of_ahead, std::uint32_t capacity)
        : step(s),
          keys(block.words[0].key0, block.words[0].key1),
          n_high(block.n_high[of_ahead]),
          n_top(block.n_top[of_ahead]) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const PlaneWord& of = block.words[word + static_cast<std::uint32_t>(v)];
        const std::uint64_t product = step.of_word(of.name, of.key0);
        high[v] = high_word(product), low[v] = low_word(product), moves[v] = of.moves;
        table[v] = kOneTable ? Of::begin_of(of_ahead, capacity) : of.table;
      }
    }
  };

  /// Masks of the thresholds of two levels, four planes of each.
  struct Masks {
    uint4 even, odd;
    __device__ Masks(const unsigned char* rows, int part)
        : even(reinterpret_cast<const uint4*>(rows)[part]),
          odd(reinterpret_cast<const uint4*>(rows)[part + 2]) {}
    /// For replicas whose level is odd, and for others.
    __device__ uint4 of(std::uint32_t is_odd) const {
      return make_uint4(select_bits(is_odd, odd.x, even.x), select_bits(is_odd, odd.y, even.y),
                        select_bits(is_odd, odd.z, even.z), select_bits(is_odd, odd.w, even.w));
    }
  };

  /// The planes of the thresholds of V words; `parity` is where the rows of a table begin.
  __device__ void thresholds(const Fixed& fixed, const std::uint32_t (&number)[V][P],
                             std::uint32_t parity, std::uint32_t (&bits)[V][8]) const {
    constexpr int n_tables = kOneTable ? 1 : V;
    const unsigned char* rows[n_tables];
#pragma unroll
    for (int t = 0; t < n_tables; ++t) rows[t] = places.memory.tables + fixed.table[t] + parity;
    if constexpr (Memory::by_site) {  // two levels
#pragma unroll
      for (int part = 0; part < 2; ++part) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          // Of three planes, so that it is not made anew in each use.
          const std::uint32_t is_odd = number[v][0] & number[v][P - 1];
          const uint4 masks = Masks(rows[v % n_tables], part).of(is_odd);
          std::uint32_t* const to = bits[v] + 4 * part;
          to[0] = masks.x, to[1] = masks.y, to[2] = masks.z, to[3] = masks.w;
        }
      }
    } else {
      thresholds_of_levels(fixed, number, rows, bits);
    }
  }
  template <int kTables>
  __device__ void thresholds_of_levels(const Fixed& fixed, const std::uint32_t (&number)[V][P],
                                       const unsigned char* (&rows)[kTables],
                                       std::uint32_t (&bits)[V][8]) const {
    constexpr int pairs = P < 5 ? (1 << (P - 2)) : 4;  // that differ in planes 1 and 2
    const std::uint32_t n_high = fixed.n_high;
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int k = 0; k < 8; ++k) bits[v][k] = 0;
    }
#pragma unroll 1
    for (std::uint32_t level = 0; level < n_high; level += 2 * pairs) {
      std::uint32_t high[V];
#pragma unroll
      for (int v = 0; v < V; ++v) {
        high[v] = number[v][P - 1];
#pragma unroll
        for (int k = 3; k < P - 1; ++k) high[v] &= number[v][k] ^ ((level >> k & 1u) - 1u);
      }
#pragma unroll
      for (int pair = 0; pair < pairs; ++pair) {
        const std::uint32_t first = level + 2 * pair;
        if (pair > 0 && first >= n_high) break;
        std::uint32_t here[V];
#pragma unroll
        for (int v = 0; v < V; ++v) {
          here[v] = high[v];
          if constexpr (P > 2) here[v] &= (pair & 1) != 0 ? number[v][1] : ~number[v][1];
          if constexpr (P > 3) here[v] &= (pair & 2) != 0 ? number[v][2] : ~number[v][2];
        }
        add_masks<0>(rows, first, number, here, bits);
        if (first < fixed.n_top) add_masks<1>(rows, first, number, here, bits);
      }
    }
  }
  template <int kPart, int kTables>
  __device__ static void add_masks(const unsigned char* (&rows)[kTables], std::uint32_t level,
                                   const std::uint32_t (&number)[V][P],
                                   const std::uint32_t (&here)[V], std::uint32_t (&bits)[V][8]) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const Masks both(rows[v % kTables] + level * Of::row_bytes, kPart);
      const uint4 masks = both.of(number[v][0]);
      std::uint32_t* const to = bits[v] + 4 * kPart;
      to[0] |= here[v] & masks.x, to[1] |= here[v] & masks.y;
      to[2] |= here[v] & masks.z, to[3] |= here[v] & masks.w;
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

  /// Puts the ties of a lane into the queue. Sites of a class do not interact, so these may be
  /// decided later than the rest of the class.
  __device__ void queue_ties(const Fixed& fixed, std::uint32_t site, std::uint32_t index,
                             std::uint32_t even, const std::uint32_t (&number)[V][P],
                             const Words<V>& open) {
    std::uint32_t any = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) any |= open.of[v];
    const unsigned tied = __ballot_sync(whole_warp, any != 0);
    const auto n_new = static_cast<std::uint32_t>(__popc(tied));
    if (n_tied + n_new > queued_ties) settle_ties(fixed);
    if (any != 0) {
      std::uint32_t entry[4 * TiedWords<V, P>::quads] = {};
      entry[0] = site << 5 | (even & 16u) | places.words.word;
      entry[1] = index;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        entry[2 + v] = open.of[v];
        // The other planes of the level of a short row are 0.
#pragma unroll
        for (int k = 0; k < (Memory::by_site ? 1 : P - 1); ++k) {
          entry[2 + V * (k + 1) + v] = number[v][k];
        }
      }
      uint4* const to =
          reinterpret_cast<TiedWords<V, P>*>(
              places.memory
                  .queue)[n_tied + static_cast<std::uint32_t>(__popc(tied & places.lanes_below))]
              .of;
#pragma unroll
      for (int q = 0; q < n_quads; ++q) {
        to[q] = make_uint4(entry[4 * q], entry[4 * q + 1], entry[4 * q + 2], entry[4 * q + 3]);
      }
    }
    n_tied += n_new;
  }
  static constexpr int level_planes = Memory::by_site ? 1 : P - 1;
  static constexpr int n_quads = (2 + V * (1 + level_planes) + 3) / 4;

  /// Decides all ties of the queue.
  __device__ void settle_ties(const Fixed& fixed) {
    if (n_tied == 0) return;
    __syncwarp();
    std::uint32_t entry[4 * n_quads] = {};
    if (places.lane < n_tied) {
      const uint4* const from =
          reinterpret_cast<const TiedWords<V, P>*>(places.memory.queue)[places.lane].of;
#pragma unroll
      for (int q = 0; q < n_quads; ++q) {
        const uint4 x = from[q];
        entry[4 * q] = x.x, entry[4 * q + 1] = x.y;
        entry[4 * q + 2] = x.z, entry[4 * q + 3] = x.w;
      }
    }
    static_assert(V <= 2);
    std::uint32_t left = entry[2], later = V == 2 ? entry[3] : 0u;
    if (left == 0) use_second_word(entry, left, later);
#pragma unroll 1
    while (__any_sync(whole_warp, left != 0)) {
      if (left != 0) {
        const int replica = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        std::uint32_t level = 0;
#pragma unroll
        for (int k = 0; k < level_planes; ++k) {
          level |= (entry[2 + V * (k + 1)] >> replica & 1u) << k;
        }
        settle_tie(fixed, entry[0], entry[1], static_cast<std::uint32_t>(replica), level);
        if (left == 0) use_second_word(entry, left, later);
      }
    }
    n_tied = 0;
    __syncwarp();
  }
  /// Puts the second word of an entry in the place of the first one.
  template <int N>
  __device__ static void use_second_word(std::uint32_t (&entry)[N], std::uint32_t& left,
                                         std::uint32_t& later) {
    if constexpr (V == 2) {
      left = later, later = 0, ++entry[0];
#pragma unroll
      for (int k = 0; k < level_planes; ++k) entry[2 + V * (k + 1)] = entry[3 + V * (k + 1)];
    }
  }

  __device__ void settle_tie(const Fixed& fixed, std::uint32_t name, std::uint32_t index,
                             std::uint32_t replica, std::uint32_t level) {
    const std::uint32_t site = name >> 5, even = name >> 4 & 1u, w = name & 15u;
    const std::uint32_t limit = reinterpret_cast<const std::uint32_t*>(
        places.memory.tables + (kOneTable ? fixed.table[0] : block.words[w].table) +
        Of::low_begin)[even * Of::levels + level];
    const std::uint32_t number = 32 * block.words[w].name + replica;
    if (rest_of(fixed.keys, fixed.step, site, number) >= limit) return;
    atomicXor(places.state_at(index, w), 1u << replica);
    atomicAdd(&flips_of_block()[32 * w + replica], 1u);
    if constexpr (sums_changes) {
      atomicAdd(&block.indices[32 * w + replica], 2 * (level + (1u << (P - 1))) + even);
    }
  }

  /// `then` is the row of the warp's next sites.
  __device__ void sweep_site(const Fixed& fixed, std::uint32_t site,
                             const typename Places::Row& row, const typename Places::Row& then) {
    const bool real = row.real();
    const std::uint32_t index = places.index_of(site, row), even = row.even();
    const Words<V> own = places.words.load(index);
    std::uint32_t number[V][P];
    places.count(row, own, number);
    places.touch(then);
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
      if constexpr (sums_changes) indices[v].add(number[v], even, accepted);
      below.of[v] = accepted;
    }
    add_flips(flips, below.of, (sites_added & 1) != 0);
    if (real) places.words.store(index, flipped);
    queue_ties(fixed, site, index, even, number, open);
    if (++sites_added == sites_of_sums) flush_sums();
  }

  __device__ std::uint32_t* flips_of_block() const {
    return sums_changes ? block.indexed : block.flips;
  }
  __device__ void flush_sums() {
    sites_added = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      flips[v].flush(flips_of_block() + 32 * (places.words.word + v));
      if constexpr (sums_changes) indices[v].flush(block.indices + 32 * (places.words.word + v));
    }
  }

  /// At the end of the last sweep, by the whole block.
  __device__ void finish() {
    using Flips = BlockSums<W, V, sum_bits>;
    static_assert(Flips::bytes_of_warp <= Memory::queue_bytes);
    std::uint32_t counter[V][sum_bits];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      flips[v].add_first();
#pragma unroll
      for (int k = 0; k < sum_bits; ++k) counter[v][k] = flips[v].number[k];
    }
    Flips::add(counter, places.memory.first_queue(), flips_of_block());
    if constexpr (sums_changes) {
      constexpr int bits = P + 1 + sum_bits;
      using Indices = BlockSums<W, V, bits>;
      static_assert(Indices::bytes_of_warp <= Memory::queue_bytes);
      std::uint32_t index[V][bits];
#pragma unroll
      for (int v = 0; v < V; ++v) {
#pragma unroll
        for (int k = 0; k < bits; ++k) index[v][k] = indices[v].index[k];
      }
      Indices::add(index, places.memory.first_queue(), block.indices);
    }
  }

  /// Sweeps with table `of_ahead` of those that were made ahead.
  __device__ void sweep_classes(const PlaneStep& step, const ClassRange& classes,
                                std::uint32_t of_ahead, std::uint32_t capacity) {
    using Row = typename Places::Row;
    using Range = typename Places::Range;
    const Fixed fixed(step, block, places.words.word, of_ahead, capacity);
    const std::uint32_t stride = places.stride();
    // What comes next is read early: where the next class is, and rows that are not in shared
    // memory.
    constexpr bool rows_early = !Memory::short_rows;
    Range range = places.range_of(classes.first, classes);
    Row next;
    if constexpr (rows_early) next = places.row(range.first + places.place, range.end);
#pragma unroll 1
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      const Range then = places.range_of(c + 1, classes);
      std::uint32_t first = range.first;
      if (rows_early && first >= range.end) next = places.row(then.first + places.place, then.end);
#pragma unroll 1
      while (first < range.end) {
        const std::uint32_t place = first + places.place;
        first += stride;
        if constexpr (rows_early) {
          const Row row = next;
          const bool more = first < range.end;
          next =
              places.row((more ? first : then.first) + places.place, more ? range.end : then.end);
          sweep_site(fixed, places.site_at(place, row), row, next);
        } else {
          const Row row = places.row(place, range.end);
          sweep_site(fixed, places.site_at(place, row), row, row);
        }
      }
      settle_ties(fixed);
      range = then;
      __syncthreads();
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
