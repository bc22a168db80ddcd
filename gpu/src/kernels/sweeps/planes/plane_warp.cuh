// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/shared_draws.hpp"
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
    if (draw_named(kernel.naming, name, site) < threshold_of(kernel, beta, delta))
      accepted |= 1u << r;
  }
  return accepted;
}

/// The number of the 32 replicas of a word with shared noise.
__device__ __noinline__ std::uint32_t shared_word_of(const PlaneWord& word, std::uint64_t step,
                                                     std::uint32_t site) {
  const std::uint64_t key = std::uint64_t{word.key1} << 32 | word.key0;
  return draw_shared({key, step, 32 * word.name, RngDomain::metropolis, 0}, site);
}

template <int W, int V, int P, bool kShared>
struct PlaneWarp {
  using Of = PlaneFormat<P>;
  static constexpr int lanes_of_site = W / V;
  static constexpr std::uint32_t n_sites = 32 / lanes_of_site;

  const MetropolisSweep& kernel;
  const std::int64_t first_word;
  PlaneBlock<W>& block;
  const unsigned char* const tables;
  std::uint32_t* const states;
  const std::uint32_t lane, word,
      place;  // the first word of the lane, its site of those of the warp
  bool has_word[V];
  Tie* const ties;
  std::uint32_t n_ties = 0;  // in the queue
  int sites_added = 0;
  PlaneSums<P, lanes_of_site> sums[V];

  __device__ PlaneWarp(const MetropolisSweep& k, std::int64_t first, PlaneBlock<W>& b,
                       const unsigned char* t, std::uint32_t* s)
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
    if constexpr (kShared) return states + variable * W + word;
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

  /// The planes of the thresholds of V words: low ones, or high ones as well.
  template <bool kOne>
  __device__ void thresholds(const std::uint32_t (&number)[V][P], std::uint32_t even,
                             std::uint32_t (&bits)[V][8]) const {
    const unsigned char* row[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t table = kOne ? 0u : block.words[word + v].table;
      row[v] = tables + (table == no_table ? 0u : table) + (even & Of::parity_bytes);
#pragma unroll
      for (int k = 0; k < 8; ++k) bits[v][k] = 0;
    }
    const std::uint32_t n_high = block.n_high, n_top = block.n_top;
    for (std::uint32_t level = 0; level < n_high; level += 2) {
      const bool top = level < n_top;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        std::uint32_t here = number[v][P - 1];
#pragma unroll
        for (int k = 1; k < P - 1; ++k) here &= number[v][k] ^ ((level >> k & 1u) - 1u);
        const auto add = [&](int part) {
          const uint4* const masks =
              reinterpret_cast<const uint4*>(row[kOne ? 0 : v] + level * Of::row_bytes) + part;
          const uint4 a = masks[0], b = masks[2];
          const std::uint32_t odd = number[v][0];
          bits[v][4 * part] |= here & select_bits(odd, b.x, a.x);
          bits[v][4 * part + 1] |= here & select_bits(odd, b.y, a.y);
          bits[v][4 * part + 2] |= here & select_bits(odd, b.z, a.z);
          bits[v][4 * part + 3] |= here & select_bits(odd, b.w, a.w);
        };
        add(0);
        if (top) add(1);
      }
    }
  }

  /// Compares the planes of the words with those of the thresholds.
  template <bool kOne>
  __device__ void compare(const PlaneStep& step, std::uint32_t site,
                          const std::uint32_t (&bits)[V][8], Words<V>& below,
                          Words<V>& equal) const {
    if (kernel.naming == DrawNaming::shared) return compare_shared(step, site, bits, below, equal);
    ComputedKeys keys[V];
    std::uint64_t product[V];
    std::uint32_t low[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const PlaneWord& of = block.words[kOne ? 0 : word + v];
      keys[v] = ComputedKeys{of.key0, of.key1};
      const SitePlanes planes(keys[v], site);
      product[v] = wide_product(philox_factor1, block.words[word + v].high ^ planes.factor);
      low[v] = block.words[word + v].low;
    }
#pragma unroll
    for (std::uint32_t b = 0; b < 2; ++b) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const ComputedKeys& of = keys[kOne ? 0 : v];
        const BlockPlanes common(step, of, SitePlanes(of, site), b);
        const Words4 random = finish_planes(of, common, product[v], low[v]);
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

  /// The same with shared noise: all replicas of a word have the bits of one number.
  __device__ void compare_shared(const PlaneStep& step, std::uint32_t site,
                                 const std::uint32_t (&bits)[V][8], Words<V>& below,
                                 Words<V>& equal) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t number = shared_word_of(block.words[word + v], step.step, site);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const std::uint32_t r = 0u - (number >> (rest_bits + k) & 1u), t = bits[v][k];
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
          tables + of.table + Of::low_begin)[even * Of::levels + level];
      const std::uint64_t key = std::uint64_t{of.key1} << 32 | of.key0;
      const DrawName name{key, step.step, 32 * of.name + replica, RngDomain::metropolis, 0};
      const std::uint32_t rest = kernel.naming == DrawNaming::shared
                                     ? shared_word_of(of, step.step, tie.site) & rest_mask
                                     : draw_rest(name, tie.site);
      if (limit != 0 && rest < limit) {
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
  __device__ void sweep_sites(const PlaneStep& step, std::uint32_t sweep, std::uint32_t first,
                              std::uint32_t end) {
    const std::uint32_t site = first + place;
    GroupSite row;
    if (site < end) row = load_site(kernel.model.groups.sites.data + site);
    const bool real = row.variable >= 0;
    const auto variable =
        static_cast<std::uint32_t>(real ? row.variable : kernel.model.n_variables);
    const Words<V> own = load(variable);
    std::uint32_t number[V][P];
    count_row_of_words<P, V>(
        kernel.model.groups, row, own, [this](std::uint32_t i) { return load(i); }, number);
    const std::uint32_t even = 0u - (static_cast<std::uint32_t>(row.start_and_even) & 1u);
    std::uint32_t bits[V][8];
    thresholds<kOne>(number, even, bits);
    Words<V> below, equal;
#pragma unroll
    for (int v = 0; v < V; ++v) below.of[v] = 0, equal.of[v] = number[v][P - 1];
    compare<kOne>(step, site, bits, below, equal);
    Words<V> flipped;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t moves = real ? block.words[word + v].moves : 0u;
      std::uint32_t accepted = (below.of[v] | ~number[v][P - 1]) & moves;
      std::uint32_t open = equal.of[v] & moves;
      if constexpr (!kOne) {
        // By the whole warp, so that its lanes stay together.
        const bool alone = block.words[word + v].table == no_table;
        if (__any_sync(whole_warp, alone)) {
          Words<P> of;
#pragma unroll
          for (int k = 0; k < P; ++k) of.of[k] = number[v][k];
          const std::int64_t at = min(first_word + word + v, kernel.state.columns - 1);
          const std::uint32_t one_by_one = decide_one_by_one<P>(kernel, sweep, at, site, of, even);
          if (alone) {
            accepted = moves & one_by_one;
            open = 0;
          }
        }
      }
      sums[v].add(number[v], even, accepted);
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
    sites_added = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sums[v].flush(block.totals[0] + 32 * (word + v), block.totals[1] + 32 * (word + v));
    }
  }

  template <bool kOne>
  __device__ void sweep_classes(const PlaneStep& step, std::uint32_t sweep,
                                const ClassRange& classes) {
    const std::uint32_t warps = blockDim.x / 32;
    const std::uint32_t number = blockIdx.y * warps + threadIdx.x / 32;
    const std::uint32_t stride = gridDim.y * warps * n_sites;
    for (std::int32_t c = classes.first; c < classes.end; ++c) {
      const auto end = 4u * static_cast<std::uint32_t>(kernel.model.class_begin[c + 1]);
      auto first = 4u * static_cast<std::uint32_t>(kernel.model.class_begin[c]) + number * n_sites;
      for (; first < end; first += stride) sweep_sites<kOne>(step, sweep, first, end);
      while (n_ties > 0) settle_ties(step, min(n_ties, 32u));
      __syncthreads();
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
