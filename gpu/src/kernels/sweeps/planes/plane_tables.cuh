// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/plane_draws.hpp"

#include "kernels/sweeps/slice_tables.cuh"
#include "plane_random.cuh"

/// Thresholds of levels in shared memory: the high bytes as masks, a word for each of eight planes,
/// and what decides ties.
namespace kiln::cuda {
namespace {

constexpr std::uint32_t no_table = 0xFFFFFFFFu;

/// A table of one temperature, for odd and for even sites. Rows that lanes read at the same time,
/// of both and of the tables of different words, lie in different banks.
template <int P>
struct PlaneFormat {
  static constexpr std::uint32_t levels = 1u << (P - 1);
  static constexpr std::uint32_t row_bytes = 4 * planes_of_word;
  static constexpr std::uint32_t parity_bytes = levels * row_bytes + 64;
  static constexpr std::uint32_t low_begin = 2 * parity_bytes;
  static constexpr std::uint32_t table_bytes = (low_begin + 2 * levels * 4 + 127) / 128 * 128 + 16;

  /// Where a table is. A lane works on two words that follow each other, so other lanes read every
  /// other table at the same time.
  __device__ static std::uint32_t begin_of(std::uint32_t number, std::uint32_t capacity) {
    return (number / 2 + number % 2 * ((capacity + 1) / 2)) * table_bytes;
  }
};

/// How the words of a block are decided.
enum class PlaneKind : std::uint32_t {
  mixed,     // their keys differ, or some have no table
  one_key,   // all have a table
  one_table  // all have one key and the same table
};

/// The words of a block: `period` words from `first` on, taken in a circle from `begin` on.
struct BlockWords {
  std::int64_t first = 0;
  std::int32_t begin = 0;
  std::int32_t period = 1 << 30;

  __device__ std::int64_t at(int w) const {
    const std::int32_t i = begin + w;
    return first + (i < period ? i : i - period);
  }
};

/// What a block knows of a word of its replicas.
struct PlaneWord {
  std::uint32_t key0 = 0, key1 = 0;
  std::uint32_t name = 0;           // replica / 32
  std::int32_t rung = 0;            // -1: keys, rungs or replicas differ, or are out of order
  std::uint32_t moves = 0;          // replicas that do not rest
  std::uint32_t table = no_table;   // in bytes from the first one
  std::uint32_t high = 0, low = 0;  // of PlaneStep::of_word()
};

constexpr std::uint32_t max_ahead = 8;  // sweeps whose tables are made at once

template <int W>
struct PlaneBlock {
  PlaneWord words[W];
  PlaneKind kind;
  std::uint32_t ahead;     // sweeps that have a table each, where words share one; else 1
  std::uint32_t n_tables;  // that were asked for, more than fit perhaps
  std::uint32_t unused;    // where a copy goes that only brings its source near
  std::uint32_t constant;  // of energies, of which numbers are subtracted; modulo 2^32
  // Levels with a high byte, and with one of 16 and more: of each of these sweeps.
  std::uint32_t n_high[max_ahead], n_top[max_ahead];
  double beta[W < max_ahead ? max_ahead : W];  // of tables
  // Of replicas, modulo 2^32: flips; the sums of their indices 2 u + even, where these are added
  // up, and the number of such flips; else the sums of numbers after the sweeps less those before.
  std::uint32_t flips[32 * W], indices[32 * W], indexed[32 * W], numbers[32 * W];
};

/// Describes the words of a block: a warp looks at a word. Words behind the batch are described
/// like the last one, and move nothing.
template <int W>
__device__ void describe_words(const MetropolisSweep& kernel, const BlockWords& words,
                               PlaneBlock<W>& block) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (int w = static_cast<int>(threadIdx.x / 32); w < W; w += static_cast<int>(blockDim.x / 32)) {
    PlaneWord word;
    const std::int64_t last = kernel.state.columns - 1;
    const std::int64_t slot = min(words.at(w), last) * 32 + lane;
    const std::uint64_t key = kernel.draw_ids.key[slot];
    const std::uint32_t replica = kernel.draw_ids.replica[slot];
    const std::int32_t rung = kernel.rung_of[slot];
    // All lanes take part in each exchange: no && before one.
    const std::uint64_t first_key = __shfl_sync(whole_warp, key, 0);
    const std::uint32_t first_replica = __shfl_sync(whole_warp, replica, 0);
    const std::int32_t first_rung = __shfl_sync(whole_warp, rung, 0);
    const bool same = key == first_key && replica % 32 == lane &&
                      replica / 32 == first_replica / 32 && rung == first_rung;
    word.key0 = low_word(key), word.key1 = high_word(key);
    word.name = replica / 32;
    word.rung = __all_sync(whole_warp, same) != 0 ? rung : -1;
    const bool moves = words.at(w) <= last && !kernel.rests(slot);
    word.moves = __ballot_sync(whole_warp, moves);
    if (lane == 0) block.words[w] = word;
  }
}

/// Gives words of one temperature one table, and says what they have in common. Words of one rung
/// are given the tables of the next sweeps as well, as far as there is room.
template <int W>
__device__ void share_plane_tables(const MetropolisSweep& kernel, std::uint32_t sweep,
                                   std::uint32_t capacity, PlaneBlock<W>& block) {
  if (threadIdx.x >= 32) return;
  PlaneWord& word = block.words[threadIdx.x % W];
  const double beta = word.rung < 0 ? 0.0 : kernel.beta_of(sweep)[word.rung];
  const std::uint64_t bits = exact::double_to_bits(beta);
  int first = -1;
  bool one_key = true, one_rung = true;
#pragma unroll
  for (int other = W - 1; other >= 0; --other) {
    const std::int32_t rung = __shfl_sync(whole_warp, word.rung, other);
    const std::uint64_t other_bits = __shfl_sync(whole_warp, bits, other);
    const std::uint32_t key0 = __shfl_sync(whole_warp, word.key0, other);
    const std::uint32_t key1 = __shfl_sync(whole_warp, word.key1, other);
    if (other_bits == bits && rung >= 0) first = other;
    one_key = one_key && key0 == word.key0 && key1 == word.key1;
    one_rung = one_rung && rung == word.rung;
  }
  const bool has_table = word.rung >= 0;
  const bool makes = has_table && first == static_cast<int>(threadIdx.x % W) && threadIdx.x < W;
  const unsigned makers = __ballot_sync(whole_warp, makes);
  const auto number =
      static_cast<std::uint32_t>(__popc(makers & ((1u << (first < 0 ? 0 : first)) - 1)));
  const bool fits = has_table && number < capacity;
  const unsigned differ = __ballot_sync(whole_warp, !fits || !one_key);
  const unsigned others = __ballot_sync(whole_warp, number > 0);
  const PlaneKind kind = differ != 0   ? PlaneKind::mixed
                         : others != 0 ? PlaneKind::one_key
                                       : PlaneKind::one_table;
  const bool many = kind == PlaneKind::one_table && __all_sync(whole_warp, one_rung) != 0;
  const std::uint32_t ahead = many ? min(min(capacity, max_ahead), kernel.sweeps - sweep) : 1u;
  const auto n_tables = many ? ahead : static_cast<std::uint32_t>(__popc(makers));
  if (threadIdx.x < W) {
    word.table = fits ? number : no_table;  // where it is, later
    if (makes && fits && !many) block.beta[number] = beta;
  }
  if (many && threadIdx.x < ahead) {
    block.beta[threadIdx.x] = kernel.beta_of(sweep + threadIdx.x)[word.rung];
  }
  if (threadIdx.x < max_ahead) block.n_high[threadIdx.x] = block.n_top[threadIdx.x] = 0;
  if (threadIdx.x == 0) block.kind = kind, block.ahead = ahead, block.n_tables = n_tables;
}

/// Fills the tables that share_plane_tables() has given out.
template <int W, int P>
__device__ void fill_plane_tables(const MetropolisSweep& kernel, const PlaneStep& step,
                                  std::uint32_t capacity, unsigned char* tables,
                                  PlaneBlock<W>& block) {
  using Of = PlaneFormat<P>;
  for (int w = static_cast<int>(threadIdx.x); w < W; w += static_cast<int>(blockDim.x)) {
    PlaneWord& word = block.words[w];
    const std::uint64_t product = step.of_word(word.name, word.key0);
    word.high = high_word(product), word.low = low_word(product);
    if (word.table != no_table) word.table = Of::begin_of(word.table, capacity);
  }
  const std::uint32_t n = min(capacity, block.n_tables);
  const auto half_of = [](std::uint32_t i) {
    return static_cast<int>(2 * (i % Of::levels) + 1 + i / Of::levels % 2);
  };
  const auto exponent_of = [&](std::uint32_t i) {
    const int half = half_of(i);
    if (half > kernel.model.groups.max_sum) return exact::infinity();  // does not occur
    const double beta = block.beta[i / (2 * Of::levels)];
    return exact::mul(exact::mul(beta, kernel.inverse_scale), 2.0 * half);
  };
  const auto set = [&](std::uint32_t i, std::uint64_t threshold) {
    const std::uint32_t level = i % Of::levels, even = i / Of::levels % 2;
    unsigned char* const table = tables + Of::begin_of(i / (2 * Of::levels), capacity);
    // A threshold of 2^32 accepts every rest.
    const auto high = static_cast<std::uint32_t>(min(threshold >> rest_bits, std::uint64_t{255}));
    const auto low = static_cast<std::uint32_t>(threshold - (std::uint64_t{high} << rest_bits));
    const auto mask = [&](std::uint32_t k) { return 0u - (high >> k & 1u); };
    auto* const row =
        reinterpret_cast<uint4*>(table + even * Of::parity_bytes + level * Of::row_bytes);
    row[0] = make_uint4(mask(0), mask(1), mask(2), mask(3));
    row[1] = make_uint4(mask(4), mask(5), mask(6), mask(7));
    reinterpret_cast<std::uint32_t*>(table + Of::low_begin)[even * Of::levels + level] = low;
    const std::uint32_t sweep = block.kind == PlaneKind::one_table ? i / (2 * Of::levels) : 0u;
    if (high > 0) atomicMax(&block.n_high[sweep], level + 1);
    if (high > 15) atomicMax(&block.n_top[sweep], level + 1);
  };
  set_metropolis_thresholds(n * 2 * Of::levels, exponent_of, set);
}

}  // namespace
}  // namespace kiln::cuda
