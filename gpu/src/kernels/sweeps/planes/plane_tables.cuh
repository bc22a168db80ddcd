// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/plane_draws.hpp"

#include "kernels/sweeps/slice_places.cuh"
#include "plane_random.cuh"

/// Thresholds of levels in shared memory: the high bytes as masks, a word for each of eight planes,
/// and what decides ties.
namespace kiln::cuda {
namespace {

constexpr std::uint32_t no_table = 0xFFFFFFFFu;

/// A table of one temperature, for odd and for even sites; rows of the two lie in different banks.
template <int P>
struct PlaneFormat {
  static constexpr std::uint32_t levels = 1u << (P - 1);
  static constexpr std::uint32_t row_bytes = 4 * planes_of_word;
  static constexpr std::uint32_t parity_bytes = levels * row_bytes + 32;
  static constexpr std::uint32_t low_begin = 2 * parity_bytes;
  static constexpr std::uint32_t table_bytes = low_begin + 2 * levels * 4;
};

/// What a block knows of a word of its replicas.
struct PlaneWord {
  std::uint32_t key0, key1;
  std::uint32_t name;   // replica / 32
  std::int32_t rung;    // -1: keys, rungs or replicas differ, or are out of order
  std::uint32_t moves;  // replicas that do not rest
  std::uint32_t table;  // in bytes from the first one of the sweep
};

/// Levels with a threshold above 0, with a high byte, and with one of 16 and more.
struct PlaneLimits {
  std::uint32_t n_live, n_high, n_top;
};

/// A tie that waits for its low bits.
struct Tie {
  std::uint32_t site;
  std::uint32_t index_word_replica;  // 2 u + even, from bit 16; word, from bit 5; replica
};

constexpr int queued_ties = 64;
constexpr int max_plane_warps = 16;

template <int W>
struct PlaneBlock {
  PlaneWord words[W];
  // Of the sweep, and of the next one while the words are swept.
  uint2 products[2][W];  // PlaneStep::of_word(), high and low
  PlaneLimits limits[3];
  std::uint32_t uniform;            // all words have one key and one temperature
  double beta[W];                   // of tables; below 0: none
  std::uint32_t totals[2][32 * W];  // sums of indices, modulo 2^32, and flips
  Tie ties[max_plane_warps][queued_ties];
};

/// Describes the words of a block: a warp looks at a word. Words behind the batch are described
/// like the last one, and move nothing.
template <int W>
__device__ void describe_words(const MetropolisSweep& kernel, std::int64_t first_word,
                               PlaneBlock<W>& block) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (int w = static_cast<int>(threadIdx.x / 32); w < W; w += static_cast<int>(blockDim.x / 32)) {
    PlaneWord word;
    const std::int64_t last = kernel.state.columns - 1;
    const std::int64_t slot = min(first_word + w, last) * 32 + lane;
    const std::uint64_t key = kernel.draw_ids.key[slot];
    const std::uint32_t replica = kernel.draw_ids.replica[slot];
    const std::int32_t rung = kernel.rung_of[slot];
    const bool same = key == __shfl_sync(whole_warp, key, 0) && replica % 32 == lane &&
                      replica / 32 == __shfl_sync(whole_warp, replica, 0) / 32 &&
                      rung == __shfl_sync(whole_warp, rung, 0);
    word.table = no_table;
    word.key0 = low_word(key), word.key1 = high_word(key);
    word.name = replica / 32;
    word.rung = __all_sync(whole_warp, same) != 0 ? rung : -1;
    const bool moves = first_word + w <= last && !kernel.rests(slot);
    word.moves = __ballot_sync(whole_warp, moves);
    if (lane == 0) block.words[w] = word;
  }
}

/// Whether all words have one key and one rung. The words are described.
template <int W>
__device__ void find_uniform(PlaneBlock<W>& block) {
  if (threadIdx.x >= 32) return;
  const PlaneWord word = block.words[threadIdx.x % W];
  const PlaneWord first = block.words[0];
  const bool same = word.rung >= 0 && word.rung == first.rung && word.key0 == first.key0 &&
                    word.key1 == first.key1;
  const bool uniform = __all_sync(whole_warp, same) != 0;
  if (threadIdx.x < 3) block.limits[threadIdx.x] = {0, 0, 0};
  if (threadIdx.x < W && uniform) block.words[threadIdx.x].table = 0;
  if (threadIdx.x == 0) block.uniform = uniform ? 1 : 0;
}

/// Gives words of one temperature one table.
template <int W>
__device__ void share_plane_tables(const MetropolisSweep& kernel, std::uint32_t sweep,
                                   std::uint32_t capacity, PlaneBlock<W>& block) {
  if (threadIdx.x >= 32) return;
  const int w = static_cast<int>(threadIdx.x % W);
  PlaneWord& word = block.words[w];
  const double beta = word.rung < 0 ? 0.0 : kernel.beta_of(sweep)[word.rung];
  const std::uint64_t bits = exact::double_to_bits(beta);
  int first = -1;
#pragma unroll
  for (int other = W - 1; other >= 0; --other) {
    const bool takes_part = __shfl_sync(whole_warp, word.rung, other) >= 0;
    if (__shfl_sync(whole_warp, bits, other) == bits && takes_part) first = other;
  }
  const bool makes = word.rung >= 0 && first == w && threadIdx.x < W;
  const unsigned makers = __ballot_sync(whole_warp, makes);
  const auto number =
      static_cast<std::uint32_t>(__popc(makers & ((1u << (first < 0 ? 0 : first)) - 1)));
  const auto n = static_cast<std::uint32_t>(__popc(makers));
  if (threadIdx.x < W) {
    word.table = word.rung >= 0 && number < capacity ? number : no_table;  // times its bytes, later
    if (threadIdx.x >= n) block.beta[threadIdx.x] = -1.0;
  }
  if (threadIdx.x == 0) block.limits[sweep % 3] = {0, 0, 0};
  __syncwarp();
  if (makes && number < capacity) block.beta[number] = beta;
}

/// What depends on the step, for the words of a block.
template <int W>
__device__ void set_products(const PlaneStep& step, std::uint32_t sweep, PlaneBlock<W>& block) {
  for (int w = static_cast<int>(threadIdx.x); w < W; w += static_cast<int>(blockDim.x)) {
    const std::uint64_t product = step.of_word(block.words[w].name, block.words[w].key0);
    block.products[sweep % 2][w] = make_uint2(high_word(product), low_word(product));
  }
}

/// Sets an entry of the table of a temperature: that of a level at odd or at even sites.
template <int P>
__device__ void set_threshold(const MetropolisSweep& kernel, double beta, std::uint32_t level,
                              std::uint32_t even, unsigned char* table, PlaneLimits& limits) {
  using Of = PlaneFormat<P>;
  const auto half = static_cast<int>(2 * level + 1 + even);
  std::uint64_t threshold = 0;
  if (half <= kernel.model.groups.max_sum) {  // else it does not occur
    threshold = exact::accept_threshold_flat(
        exact::mul(exact::mul(beta, kernel.inverse_scale), 2.0 * half));
  }
  // A threshold of 2^32 accepts every rest.
  const auto high = static_cast<std::uint32_t>(min(threshold >> rest_bits, std::uint64_t{255}));
  const auto low = static_cast<std::uint32_t>(threshold - (std::uint64_t{high} << rest_bits));
  const auto mask = [&](std::uint32_t k) { return 0u - (high >> k & 1u); };
  auto* const row =
      reinterpret_cast<uint4*>(table + even * Of::parity_bytes + level * Of::row_bytes);
  row[0] = make_uint4(mask(0), mask(1), mask(2), mask(3));
  row[1] = make_uint4(mask(4), mask(5), mask(6), mask(7));
  reinterpret_cast<std::uint32_t*>(table + Of::low_begin)[even * Of::levels + level] = low;
  if (threshold > 0) atomicMax(&limits.n_live, level + 1);
  if (high > 0) atomicMax(&limits.n_high, level + 1);
  if (high > 15) atomicMax(&limits.n_top, level + 1);
}

/// Fills one table. The last threads of a block begin: they have the fewest sites.
template <int W, int P>
__device__ void fill_plane_table(const MetropolisSweep& kernel, std::uint32_t sweep, double beta,
                                 unsigned char* table, PlaneBlock<W>& block) {
  constexpr std::uint32_t levels = PlaneFormat<P>::levels;
  for (std::uint32_t i = blockDim.x - 1 - threadIdx.x; i < 2 * levels; i += blockDim.x) {
    set_threshold<P>(kernel, beta, i % levels, i / levels, table, block.limits[sweep % 3]);
  }
}

/// Fills the tables that share_plane_tables() has given out.
template <int W, int P>
__device__ void fill_plane_tables(const MetropolisSweep& kernel, std::uint32_t sweep,
                                  std::uint32_t capacity, unsigned char* tables,
                                  PlaneBlock<W>& block) {
  using Of = PlaneFormat<P>;
  for (int w = static_cast<int>(threadIdx.x); w < W; w += static_cast<int>(blockDim.x)) {
    PlaneWord& word = block.words[w];
    if (word.table != no_table) word.table *= Of::table_bytes;
  }
  for (std::uint32_t n = 0; n < min(capacity, static_cast<std::uint32_t>(W)); ++n) {
    if (block.beta[n] < 0.0) break;
    fill_plane_table<W, P>(kernel, sweep, block.beta[n], tables + n * Of::table_bytes, block);
  }
}

}  // namespace
}  // namespace kiln::cuda
