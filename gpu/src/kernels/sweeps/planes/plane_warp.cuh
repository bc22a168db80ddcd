// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "kernels/sweeps/slice_places.cuh"
#include "plane_count.cuh"
#include "plane_random.cuh"
#include "plane_sums.cuh"
#include "plane_tables.cuh"

/// The sweep of a warp by planes. A block holds W words of 32 replicas. A lane works on V words of
/// a site at a time, so the lanes of a warp have 32 V / W sites.
namespace kiln::cuda {
namespace {

/// Decides the replicas of a word one by one by the definition: where their keys, temperatures or
/// order are no plane's, or tables do not fit.
template <int P>
__device__ __noinline__ std::uint32_t decide_one_by_one(const MetropolisSweep& kernel,
                                                        std::uint32_t sweep, std::int64_t word,
                                                        std::uint32_t site, const Words<P>& number,
                                                        std::uint32_t even) {
  const std::uint64_t step = kernel.control->step + kernel.number_of(sweep);
  std::uint32_t accepted = 0;
  for (int r = 0; r < 32; ++r) {
    const std::int64_t slot = word * 32 + r;
    const auto index = static_cast<int>(2 * number_of(number.of, r) + (even & 1u));
    const double delta = 2.0 * (index - (1 << P) + 1);
    const DrawName name{kernel.draw_ids.key[slot], step, kernel.draw_ids.replica[slot],
                        RngDomain::metropolis, 0};
    const double beta = kernel.beta_of(sweep)[kernel.rung_of[slot]];
    if (draw_word_by_planes(name, site) < threshold_of(kernel, beta, delta)) accepted |= 1u << r;
  }
  return accepted;
}

template <int W, int V, int P, bool kShared>
struct PlaneWarp {
  using Of = PlaneFormat<P>;
  static constexpr int lanes_of_site = W / V;
  static constexpr std::uint32_t n_sites = 32 / lanes_of_site;

  const MetropolisSweep& kernel;
  const std::int64_t first_word;
  PlaneBlock<W>& block;
  unsigned char* const tables;
  std::uint32_t* const states;
  // Of the sweep.
  const unsigned char* table = nullptr;  // the first one
  PlaneLimits limits{};
  const std::uint32_t lane, word,
      place;  // the first word of the lane, its site of those of the warp
  bool has_word[V];
  Tie* const ties;
  std::uint32_t n_ties = 0;  // in the queue
  int sites_added = 0;
  PlaneSums<P, lanes_of_site> sums[V];

  __device__ PlaneWarp(const MetropolisSweep& k, std::int64_t first, PlaneBlock<W>& b,
                       unsigned char* t, std::uint32_t* s)
      : kernel(k),
        first_word(first),
        block(b),
        tables(t),
        states(s),
        lane(threadIdx.x % 32),
        word(lane % lanes_of_site * V),
        place(lane / lanes_of_site),
        ties(b.ties[threadIdx.x / 32]) {
#pragma unroll
    for (int v = 0; v < V; ++v) has_word[v] = first + word + v < k.state.columns;
  }

  __device__ std::uint32_t* at(std::uint32_t variable) const {
    if constexpr (kShared) {  // one operation for an address
      char* const first = reinterpret_cast<char*>(states + word);
      return reinterpret_cast<std::uint32_t*>(first + variable * (4u * W));
    }
    return kernel.state.data + variable * kernel.state.stride + first_word + word;
  }
  __device__ Words<V> load(std::uint32_t variable) const {
    Words<V> words;
    if constexpr (kShared && V == 2) {
      const uint2 x = *reinterpret_cast<const uint2*>(at(variable));
      words.of[0] = x.x, words.of[1] = x.y;
    } else {
      const bool real = kShared || variable < static_cast<std::uint32_t>(kernel.model.n_variables);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        words.of[v] = real && (kShared || has_word[v]) ? at(variable)[v] : 0u;
      }
    }
    return words;
  }
  __device__ void store(std::uint32_t variable, const Words<V>& words) const {
    if constexpr (kShared && V == 2) {
      *reinterpret_cast<uint2*>(at(variable)) = make_uint2(words.of[0], words.of[1]);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        if (kShared || has_word[v]) at(variable)[v] = words.of[v];
      }
    }
  }

  /// Planes 4 kPart .. 4 kPart + 3 of the thresholds of V words.
  template <bool kOne, int kPart>
  __device__ void thresholds(const std::uint32_t (&number)[V][P], std::uint32_t even,
                             std::uint32_t (&bits)[V][4]) const {
    const unsigned char* row[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t own = kOne ? 0u : block.words[word + v].table;
      row[v] =
          table + (own == no_table ? 0u : own) + (even & Of::parity_bytes) + kPart * sizeof(uint4);
#pragma unroll
      for (int k = 0; k < 4; ++k) bits[v][k] = 0;
    }
    const std::uint32_t n = kPart == 0 ? limits.n_high : limits.n_top;
    for (std::uint32_t first = 0; first < n; first += 8) {
      std::uint32_t here[V];
#pragma unroll
      for (int v = 0; v < V; ++v) {
        here[v] = number[v][P - 1];
#pragma unroll
        for (int k = 3; k < P - 1; ++k) here[v] &= number[v][k] ^ ((first >> k & 1u) - 1u);
      }
#pragma unroll
      for (std::uint32_t pair = 0; pair < (P > 3 ? 4 : 2); ++pair) {
        const std::uint32_t level = first + 2 * pair;
        if (level >= n) break;
        std::uint32_t of_pair[V];
#pragma unroll
        for (int v = 0; v < V; ++v) {
          of_pair[v] = here[v] & ((pair & 1u) != 0 ? number[v][1] : ~number[v][1]);
          if constexpr (P > 3) of_pair[v] &= (pair & 2u) != 0 ? number[v][2] : ~number[v][2];
        }
        add_pair<kOne>(row, level, number, of_pair, bits);
      }
    }
  }

  /// Adds four bits of the high bytes of two levels, for the replicas of these levels.
  template <bool kOne>
  __device__ static void add_pair(const unsigned char* const (&row)[V], std::uint32_t level,
                                  const std::uint32_t (&number)[V][P],
                                  const std::uint32_t (&here)[V], std::uint32_t (&bits)[V][4]) {
    uint4 even{}, odd{};
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (v == 0 || !kOne) {
        even = *reinterpret_cast<const uint4*>(row[v] + level * Of::row_bytes);
        odd = *reinterpret_cast<const uint4*>(row[v] + (level + 1) * Of::row_bytes);
      }
      const std::uint32_t low = number[v][0];
      bits[v][0] |= here[v] & select_bits(low, odd.x, even.x);
      bits[v][1] |= here[v] & select_bits(low, odd.y, even.y);
      bits[v][2] |= here[v] & select_bits(low, odd.z, even.z);
      bits[v][3] |= here[v] & select_bits(low, odd.w, even.w);
    }
  }

  /// The replicas whose level has a threshold, and all if none has.
  __device__ std::uint32_t live_levels(const std::uint32_t (&number)[P]) const {
    if constexpr (P <= 3) return whole_warp;
    const std::uint32_t last = limits.n_live - 1;
    std::uint32_t up_to = whole_warp;
#pragma unroll
    for (int k = 0; k < P - 1; ++k) {
      const std::uint32_t bit = 0u - (last >> k & 1u);
      up_to = (~number[k] & bit) | (~(number[k] ^ bit) & up_to);
    }
    return up_to;
  }

  /// Four planes of random bits of V words.
  template <bool kOne>
  __device__ void draw(const PlaneStep& step, std::uint32_t sweep, std::uint32_t site,
                       std::uint32_t part, Words4 (&random)[V]) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const PlaneWord& of = block.words[kOne ? 0 : word + v];
      const ComputedKeys keys{of.key0, of.key1};
      const SitePlanes planes(keys, site);
      const uint2 own = block.products[sweep % 2][word + v];
      const std::uint64_t product = wide_product(philox_factor1, own.x ^ planes.factor);
      random[v] = finish_planes(keys, BlockPlanes(step, keys, planes, part), product, own.y);
    }
  }

  /// Compares four planes of random bits with those of the thresholds; below and equal say how
  /// lower planes compare.
  template <bool kOne, int kPart>
  __device__ void compare(const Words4 (&random)[V], const std::uint32_t (&number)[V][P],
                          std::uint32_t even, Words<V>& below, Words<V>& equal) const {
    std::uint32_t bits[V][4];
    thresholds<kOne, kPart>(number, even, bits);
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t r = random[v].word[k], t = bits[v][k];
        below.of[v] = (~r & t) | (~(r ^ t) & below.of[v]);
        equal.of[v] &= ~(r ^ t);
      }
    }
  }

  /// Puts the ties of a word into the queue, which is emptied as it fills.
  __device__ void queue_ties(const PlaneStep& step, std::uint32_t site, int v,
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
            n_ties + static_cast<std::uint32_t>(__popc(with_tie & ((1u << lane) - 1)));
        ties[at] = {site, index << 16 | (word + static_cast<std::uint32_t>(v)) << 5 |
                              static_cast<std::uint32_t>(replica)};
      }
      n_ties += static_cast<std::uint32_t>(__popc(with_tie));
      if (n_ties >= 32) settle_ties(step, 32);
    }
  }

  /// Decides the last `n` ties of the queue, at most 32. Sites of a class do not interact, so these
  /// may come later than the rest of the class.
  __device__ void settle_ties(const PlaneStep& step, std::uint32_t n) {
    __syncwarp();
    n_ties -= n;
    if (lane < n) {
      const Tie tie = ties[n_ties + lane];
      const std::uint32_t w = tie.index_word_replica >> 5 & 31u;
      const std::uint32_t replica = tie.index_word_replica & 31u,
                          index = tie.index_word_replica >> 16;
      const PlaneWord& of = block.words[w];
      const std::uint32_t even = index & 1u, level = (index >> 1) & (Of::levels - 1);
      const std::uint32_t limit = reinterpret_cast<const std::uint32_t*>(
          table + of.table + Of::low_begin)[even * Of::levels + level];
      const std::uint64_t key = std::uint64_t{of.key1} << 32 | of.key0;
      const DrawName name{key, step.step, 32 * of.name + replica, RngDomain::metropolis, 0};
      if (limit != 0 && draw_rest(name, tie.site) < limit) {
        accept_tie(w, replica, index, tie.site);
      }
    }
    __syncwarp();
  }

  __device__ void accept_tie(std::uint32_t w, std::uint32_t replica, std::uint32_t index,
                             std::uint32_t site) {
    const std::int64_t variable = kernel.model.groups.sites[site].variable;
    std::uint32_t* const state =
        kShared ? states + variable * W + w
                : kernel.state.data + variable * kernel.state.stride + first_word + w;
    atomicXor(state, 1u << replica);
    atomicAdd(&block.totals[0][32 * w + replica], index);
    atomicAdd(&block.totals[1][32 * w + replica], 1u);
  }

  template <bool kOne>
  __device__ void sweep_sites(const PlaneStep& step, std::uint32_t sweep, std::uint32_t site,
                              const GroupSite& row) {
    const bool real = row.variable >= 0;
    const auto variable =
        static_cast<std::uint32_t>(real ? row.variable : kernel.model.n_variables);
    const Words<V> own = load(variable);
    std::uint32_t number[V][P];
    count_row_of_words<P, V>(
        kernel.model.groups, row, own, [this](std::uint32_t i) { return load(i); }, number);
    const std::uint32_t even = 0u - (static_cast<std::uint32_t>(row.start_and_even) & 1u);
    Words<V> below, equal;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      below.of[v] = 0;
      equal.of[v] = number[v][P - 1] & live_levels(number[v]);
    }
    Words4 random[V];
    draw<kOne>(step, sweep, site, 0, random);
    compare<kOne, 0>(random, number, even, below, equal);
    draw<kOne>(step, sweep, site, 1, random);
    compare<kOne, 1>(random, number, even, below, equal);
    const bool second = (__shfl_sync(whole_warp, sites_added, 0) & 1) != 0;
    Words<V> flipped;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t moves = real ? block.words[word + v].moves : 0u;
      std::uint32_t accepted = (below.of[v] | ~number[v][P - 1]) & moves;
      std::uint32_t open = equal.of[v] & moves;
      if constexpr (!kOne) {
        if (block.words[word + v].table == no_table && moves != 0) {
          Words<P> of;
#pragma unroll
          for (int k = 0; k < P; ++k) of.of[k] = number[v][k];
          accepted =
              moves & decide_one_by_one<P>(kernel, sweep, first_word + word + v, site, of, even);
          open = 0;
        }
      }
      sums[v].add(number[v], even, accepted, second);
      flipped.of[v] = own.of[v] ^ accepted;
      equal.of[v] = open;
    }
    if (real) store(variable, flipped);
    __syncwarp();  // before the states of ties are changed
#pragma unroll
    for (int v = 0; v < V; ++v) queue_ties(step, site, v, number[v], even, equal.of[v]);
    if (++sites_added == sites_of_sums) flush_sums();
  }

  __device__ void flush_sums() {
    const bool one_left = (sites_added & 1) != 0;
    sites_added = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (one_left) sums[v].settle();
      sums[v].flush(block.totals[0] + 32 * (word + v), block.totals[1] + 32 * (word + v));
    }
  }

  template <bool kOne>
  __device__ void sweep_classes(const PlaneStep& step, std::uint32_t sweep,
                                const ClassRange& classes) {
    table = tables + (kOne ? sweep % 2 * Of::table_bytes : 0u);
    limits = block.limits[sweep % 3];
    // The same in all lanes, which the compiler does not see.
    limits.n_high = __shfl_sync(whole_warp, limits.n_high, 0);
    limits.n_top = __shfl_sync(whole_warp, limits.n_top, 0);
    const std::uint32_t warps = blockDim.x / 32;
    const std::uint32_t mine = (blockIdx.y * warps + threadIdx.x / 32) * n_sites;
    const std::uint32_t stride = gridDim.y * warps * n_sites;
    const auto begin_of = [&](std::int32_t c) {
      return 4u * static_cast<std::uint32_t>(kernel.model.class_begin[c]);
    };
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      const std::uint32_t end = begin_of(c + 1);
      for (std::uint32_t first = begin_of(c) + mine; first < end; first += stride) {
        GroupSite row;
        if (first + place < end) {
          row = load_site(kernel.model.groups.sites.data + first + place);
        }
        sweep_sites<kOne>(step, sweep, first + place, row);
      }
      while (n_ties > 0) settle_ties(step, min(n_ties, 32u));
      __syncthreads();
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
