// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_one_by_one.cuh"
#include "plane_warp.cuh"

/// The sweep of a warp by planes, where words of a block differ in key or temperature, or are no
/// plane's. It stands apart from the loop of uniform blocks, whose code is to stay small.
namespace kiln::cuda {
namespace {

/// A tie that waits for its low bits.
struct Tie {
  std::uint32_t site;
  std::uint32_t index_word_replica;  // 2 u + even, from bit 16; word, from bit 5; replica
};

template <int W, int V, int P, PlaneRows kRows>
struct MixedWarp {
  using Of = PlaneFormat<P>;
  using Places = PlanePlaces<W, V, P, kRows>;
  using Memory = typename Places::Memory;
  static_assert(Memory::queue_bytes >= 64 * sizeof(Tie));

  const MetropolisSweep& kernel;
  const Places places;
  PlaneBlock<W>& block;
  Tie* const ties;
  std::uint32_t n_ties = 0;  // in the queue
  int sites_added = 0;
  PlaneFlips<Places::lanes_of_site> flips[V];
  PlaneIndices<P, Places::lanes_of_site> indices[V];

  __device__ MixedWarp(const MetropolisSweep& k, std::int64_t first, const Memory& memory)
      : kernel(k),
        places(k, first, memory),
        block(memory.block),
        ties(reinterpret_cast<Tie*>(memory.queue)) {}

  /// The planes of the thresholds of a word.
  __device__ void thresholds(const unsigned char* row, const std::uint32_t (&number)[P],
                             std::uint32_t (&bits)[8]) const {
#pragma unroll
    for (std::uint32_t& plane : bits) plane = 0;
    const std::uint32_t n_high = block.n_high[0], n_top = block.n_top[0];
#pragma unroll 1
    for (std::uint32_t level = 0; level < n_high; level += 2) {
      std::uint32_t here = number[P - 1];
#pragma unroll
      for (int k = 1; k < P - 1; ++k) here &= number[k] ^ ((level >> k & 1u) - 1u);
      const auto* const masks = reinterpret_cast<const uint4*>(row + level * Of::row_bytes);
      const auto add = [&](int part) {
        const uint4 a = masks[part], b = masks[part + 2];
        bits[4 * part] |= here & select_bits(number[0], b.x, a.x);
        bits[4 * part + 1] |= here & select_bits(number[0], b.y, a.y);
        bits[4 * part + 2] |= here & select_bits(number[0], b.z, a.z);
        bits[4 * part + 3] |= here & select_bits(number[0], b.w, a.w);
      };
      add(0);
      if (level < n_top) add(1);
    }
  }

  /// Compares the planes of a word with those of its thresholds.
  __device__ static void compare(const PlaneStep& step, const PlaneWord& of, std::uint32_t site,
                                 const std::uint32_t (&bits)[8], std::uint32_t& below,
                                 std::uint32_t& equal) {
    const ComputedKeys keys{of.key0, of.key1};
    const SitePlanes planes(keys, site);
    const std::uint64_t product = wide_product(philox_factor1, of.high ^ planes.factor);
#pragma unroll
    for (std::uint32_t b = 0; b < 2; ++b) {
      const Words4 random =
          finish_planes(keys, BlockPlanes(step, keys, planes, b), product, of.low);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t r = random.word[k], t = bits[4 * b + static_cast<std::uint32_t>(k)];
        below = (~r & t) | (~(r ^ t) & below);
        equal &= ~(r ^ t);
      }
    }
  }

  /// Puts the ties of a word into the queue, which is emptied as it fills.
  __device__ void queue_ties(const PlaneStep& step, std::uint32_t site, std::uint32_t word,
                             const std::uint32_t (&number)[P], std::uint32_t even,
                             std::uint32_t left) {
    for (;;) {
      const unsigned with_tie = __ballot_sync(whole_warp, left != 0);
      if (with_tie == 0) return;
      if (left != 0) {
        const int replica = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        const std::uint32_t index = 2 * number_of(number, replica) + (even & 1u);
        const std::uint32_t at =
            n_ties + static_cast<std::uint32_t>(__popc(with_tie & places.lanes_below));
        ties[at] = {site, index << 16 | word << 5 | static_cast<std::uint32_t>(replica)};
      }
      n_ties += static_cast<std::uint32_t>(__popc(with_tie));
      if (n_ties >= 32) settle_ties(step, 32);
    }
  }

  /// Decides the last `n` ties of the queue, at most 32.
  __device__ void settle_ties(const PlaneStep& step, std::uint32_t n) {
    __syncwarp();
    n_ties -= n;
    if (places.lane < n) {
      const Tie tie = ties[n_ties + places.lane];
      const std::uint32_t w = tie.index_word_replica >> 5 & 31u;
      const std::uint32_t replica = tie.index_word_replica & 31u,
                          index = tie.index_word_replica >> 16;
      const PlaneWord& of = block.words[w];
      const std::uint32_t even = index & 1u, level = (index >> 1) & (Of::levels - 1);
      const std::uint32_t limit = reinterpret_cast<const std::uint32_t*>(
          places.memory.tables + of.table + Of::low_begin)[even * Of::levels + level];
      const ComputedKeys keys{of.key0, of.key1};
      if (rest_of(keys, step, tie.site, 32 * of.name + replica) < limit) {
        accept_tie(w, replica, index, tie.site);
      }
    }
    __syncwarp();
  }

  __device__ void accept_tie(std::uint32_t w, std::uint32_t replica, std::uint32_t index,
                             std::uint32_t site) {
    atomicXor(places.state_of(site, w), 1u << replica);
    atomicAdd(&block.indexed[32 * w + replica], 1u);
    atomicAdd(&block.indices[32 * w + replica], index);
  }

  /// What a word accepts; `open` are its ties.
  __device__ std::uint32_t decide(const PlaneStep& step, std::uint32_t sweep, std::uint32_t site,
                                  std::uint32_t word, const std::uint32_t (&number)[P],
                                  std::uint32_t even, std::uint32_t& open) {
    const PlaneWord& of = block.words[word];
    const bool alone = of.table == no_table;
    std::uint32_t bits[8], below = 0;
    thresholds(places.memory.tables + (alone ? 0u : of.table) + (even & Of::parity_bytes), number,
               bits);
    open = number[P - 1];
    compare(step, of, site, bits, below, open);
    std::uint32_t accepted = below | ~number[P - 1];
    if (__any_sync(whole_warp, alone)) {  // by the whole warp, so that its lanes stay together
      Words<P> planes;
#pragma unroll
      for (int k = 0; k < P; ++k) planes.of[k] = number[k];
      const std::int64_t at = min(places.first_word + word, kernel.state.columns - 1);
      const std::uint32_t one_by_one = decide_one_by_one<P>(kernel, sweep, at, site, planes, even);
      if (alone) accepted = one_by_one, open = 0;
    }
    return accepted;
  }

  __device__ void sweep_site(const PlaneStep& step, std::uint32_t sweep, std::uint32_t site,
                             const typename Places::Row& row) {
    const bool real = row.real();
    const std::uint32_t index = places.index_of(site, row), even = row.even();
    const Words<V> own = places.words.load(index);
    std::uint32_t number[V][P];
    places.count(row, own, number);
    Words<V> flipped, open, all;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t word = places.words.word + static_cast<std::uint32_t>(v);
      const std::uint32_t moves = real ? block.words[word].moves : 0u;
      const std::uint32_t accepted =
          moves & decide(step, sweep, site, word, number[v], even, open.of[v]);
      open.of[v] &= moves;
      indices[v].add(number[v], even, accepted);
      flipped.of[v] = own.of[v] ^ accepted;
      all.of[v] = accepted;
    }
    add_flips(flips, all.of, (sites_added & 1) != 0);
    if (real) places.words.store(index, flipped);
    __syncwarp();  // before the states of ties are changed
#pragma unroll
    for (int v = 0; v < V; ++v) {
      queue_ties(step, site, places.words.word + static_cast<std::uint32_t>(v), number[v], even,
                 open.of[v]);
    }
    if (++sites_added == sites_of_sums) flush_sums();
  }

  __device__ void flush_sums() {
    sites_added = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      flips[v].flush(block.indexed + 32 * (places.words.word + v));
      indices[v].flush(block.indices + 32 * (places.words.word + v));
    }
  }

  __device__ void sweep_classes(const PlaneStep& step, std::uint32_t sweep,
                                const ClassRange& classes) {
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      auto [first, end] = places.range_of(c, classes);
#pragma unroll 1
      for (; first < end; first += places.stride()) {
        const std::uint32_t place = first + places.place;
        const typename Places::Row row = places.row(place, end);
        sweep_site(step, sweep, places.site_at(place, row), row);
      }
      while (n_ties > 0) settle_ties(step, min(n_ties, 32u));
      __syncthreads();
    }
    flush_sums();
  }
};

/// Sweeps all classes once.
template <int W, int V, int P, PlaneRows kRows>
__device__ __noinline__ void sweep_mixed(const MetropolisSweep& kernel, std::uint32_t capacity,
                                         std::uint32_t sweep, const ClassRange& classes) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  MixedWarp<W, V, P, kRows> warp(kernel, std::int64_t{blockIdx.x} * W, memory);
  warp.sweep_classes(PlaneStep(kernel.control->step + kernel.number_of(sweep)), sweep, classes);
}

}  // namespace
}  // namespace kiln::cuda
