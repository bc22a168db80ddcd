// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/sweeps/slice_draws.cuh"
#include "plane_memory.cuh"
#include "plane_random.cuh"
#include "plane_sums.cuh"
#include "shared_tables.cuh"

/// The steps that the words of a block accept at coming sites, in shared memory. They depend on no
/// state, so a block draws them for many sites at once, a lane those of four sites of a word.
namespace kiln::cuda {
namespace {

constexpr int flip_bits = 10;  // of a lane's counters of flips

/// What a block has behind its PlaneMemory without tables: the steps of words at sites, a byte
/// each, and tables.
template <int W, int P>
struct SharedRoom {
  std::uint32_t passes = 1;    // of the block, which has as many lanes for a word as draw at once
  std::uint32_t capacity = 1;  // tables
  bool even_sums = false;      // of all sites

  __host__ __device__ static std::uint32_t sites_of_pass(std::uint32_t threads) {
    return 4 * threads / W;
  }
  /// The same bytes serve sums at the end of a launch, when nothing is drawn.
  __host__ __device__ static std::uint32_t bytes_of_sums(std::uint32_t threads) {
    constexpr int bits = (P + 5 > flip_bits ? P + 5 : flip_bits) + 5;
    return threads / 32 * W * bits * 4;
  }
  __host__ __device__ std::uint32_t bytes_of_steps(std::uint32_t threads) const {
    const std::uint32_t steps = passes * 4 * threads, sums = bytes_of_sums(threads);
    return steps > sums ? steps : sums;
  }
  __host__ __device__ std::uint32_t bytes(std::uint32_t threads) const {
    return bytes_of_steps(threads) + capacity * SharedFormat<P>::table_bytes;
  }
};

/// Draws for the word of a thread. The sites of a block are those of its warps, one behind another,
/// and then those that lie gridDim.y times as far behind.
template <int W, int V, int P, bool kFew>
class SharedDraws {
 public:
  __device__ SharedDraws(const PlaneBlock<W>& block, const SharedRoom<W, P>& room,
                         const unsigned char* tables, std::uint64_t step, std::uint32_t of_ahead)
      : word_(threadIdx.x % W),
        even_sums_(room.even_sums),
        step_(step),
        keys_(block.words[word_].key0, block.words[word_].key1),
        table_(table_of(block.words[word_].table, tables, of_ahead, even_sums_)) {
    step_.counter3 = counter_word3(RngDomain::metropolis_planes, shared_block, step);
    const std::uint64_t key =
        std::uint64_t{block.words[word_].key1} << 32 | block.words[word_].key0;
    const std::uint64_t product = step_.of_replica(block.words[word_].name, key);
    high_ = high_word(product), low_ = low_word(product);
    constexpr std::uint32_t n_sites = 32 * V / W;  // of a warp
    const std::uint32_t run = blockDim.x / 32 * n_sites, place = 4 * (threadIdx.x / W);
    const std::uint32_t row = gridDim.y == 1 ? 0u : place / run;
    first_ = (row * gridDim.y + blockIdx.y - row) * run + place;
    stride_ = SharedRoom<W, P>::sites_of_pass(blockDim.x) * gridDim.y;
  }

  /// Sites from `begin` on, `n` of the block.
  __device__ void draw(std::uint32_t begin, std::uint32_t n, unsigned char* steps) const {
    std::uint32_t quad = (begin + first_) / 4;
    const std::uint32_t at_once = SharedRoom<W, P>::sites_of_pass(blockDim.x);
    unsigned char* to = steps + 4 * (threadIdx.x / W) * W + word_;
#pragma unroll 1
    for (std::uint32_t place = 4 * (threadIdx.x / W); place < n; place += at_once) {
      const Words4 numbers = draw_of(keys_, QuadDraws(step_, keys_, quad), high_, low_);
      std::uint32_t accepted[4];
      table_.steps_of(numbers, even_sums_, accepted);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[i * W] = static_cast<unsigned char>(accepted[i] << (8 - P));
      }
      quad += stride_ / 4;
      to += at_once * W;
    }
  }

 private:
  using Table = std::conditional_t<kFew, FourSteps, SharedTable<P>>;
  __device__ static Table table_of(std::uint32_t begin, const unsigned char* tables,
                                   std::uint32_t of_ahead, bool even_sums) {
    const std::uint32_t at = begin == no_table ? 0u : begin;
    return Table(tables + at + of_ahead * SharedFormat<P>::table_bytes, SharedFormat<P>{},
                 even_sums);
  }

  const std::uint32_t word_;
  const bool even_sums_;
  StepDraws step_;
  const KeptKeys keys_;
  const Table table_;
  std::uint32_t high_ = 0, low_ = 0;
  std::uint32_t first_ = 0, stride_ = 0;
};

}  // namespace
}  // namespace kiln::cuda
