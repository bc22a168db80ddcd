// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/sweeps/slice_tables.cuh"
#include "plane_tables.cuh"

/// How many steps a number of 32 replicas accepts (shared_draws.hpp).
///
/// Step j raises the energy by 2 j. Its threshold falls as j rises, so a number r accepts steps 1
/// to n(r). At level L of a site whose sum is odd or even a flip is step 2 L + 1 or 2 L + 2.
namespace kiln::cuda {
namespace {

/// A table of one temperature: thresholds of steps 1, 2, ..., then a guide. A cell of the guide has
/// the steps that all its numbers accept. Cells are as wide as a sixteenth of their octave; numbers
/// below 2^16 have one cell.
template <int P>
struct SharedFormat {
  static constexpr std::uint32_t steps = 1u << P;  // the threshold of the last one is 0
  static constexpr std::uint32_t cells = 256;
  static constexpr std::uint32_t guide_begin = 4 * steps;
  static constexpr std::uint32_t certain_begin = guide_begin + cells;  // steps of threshold 2^32
  static constexpr std::uint32_t table_bytes = certain_begin + 16;

  __device__ static std::uint32_t cell_of(std::uint32_t number) {
    constexpr int shift = 23 - 4;                       // mantissa bits of a float that stay
    constexpr std::uint32_t first = (127u + 16u) << 4;  // those of 2^16
    const std::uint32_t top = __float_as_uint(__uint2float_rz(number)) >> shift;
    return max(top, first) - first;
  }
  /// One more than the largest number of a cell, which is not the last one.
  __device__ static std::uint32_t end_of(std::uint32_t cell) {
    return (16u + (cell + 1) % 16) << (12 + (cell + 1) / 16);
  }
};

/// The table of a word as a lane reads it.
template <int P>
struct SharedTable {
  using Of = SharedFormat<P>;
  const std::uint32_t* thresholds;
  const unsigned char* guide;

  __device__ SharedTable(const unsigned char* table, Of /*format*/, bool /*even_sums*/)
      : thresholds(reinterpret_cast<const std::uint32_t*>(table)), guide(table + Of::guide_begin) {}

  /// The steps that four numbers accept.
  __device__ void steps_of(const Words4& numbers, bool /*even_sums*/,
                           std::uint32_t (&steps)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) steps[i] = guide[Of::cell_of(numbers.word[i])];
    bool more = true;
#pragma unroll 1
    while (more) {
      more = false;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool accepts = numbers.word[i] < thresholds[steps[i]];
        steps[i] += accepts ? 1u : 0u;
        more = more || accepts;
      }
    }
  }
};

/// The same of a table with four steps, in registers. Where all sums are even steps 1 and 3 do not
/// occur.
struct FourSteps {
  std::uint32_t thresholds[4];
  std::uint32_t certain;

  template <class Of>
  __device__ FourSteps(const unsigned char* table, Of /*format*/, bool even_sums)
      : certain(*reinterpret_cast<const std::uint32_t*>(table + Of::certain_begin)) {
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t threshold = reinterpret_cast<const std::uint32_t*>(table)[j];
      thresholds[j] = j < certain ? 0u : threshold;
    }
    if (even_sums) certain &= ~1u;
  }
  __device__ void steps_of(const Words4& numbers, bool even_sums, std::uint32_t (&steps)[4]) const {
    const auto accepts = [&](int i, int j) { return numbers.word[i] < thresholds[j] ? 1u : 0u; };
    if (even_sums) {
#pragma unroll
      for (int i = 0; i < 4; ++i) steps[i] = certain + 2 * (accepts(i, 1) + accepts(i, 3));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        steps[i] = certain + accepts(i, 0) + accepts(i, 1) + accepts(i, 2) + accepts(i, 3);
      }
    }
  }
};

/// Fills the tables that share_plane_tables() has given out. By the whole block, which has seen
/// them given out.
template <int W, int P, bool kGuide>
__device__ void fill_shared_tables(const MetropolisSweep& kernel, std::uint32_t capacity,
                                   unsigned char* tables, PlaneBlock<W>& block) {
  using Of = SharedFormat<P>;
  const std::uint32_t n = min(capacity, block.n_tables);
  const auto certain_of = [&](std::uint32_t t) {
    return reinterpret_cast<std::uint32_t*>(tables + t * Of::table_bytes + Of::certain_begin);
  };
  for (std::uint32_t t = threadIdx.x; t < n; t += blockDim.x) *certain_of(t) = 0;
  if (threadIdx.x < W) {
    std::uint32_t& table = block.words[threadIdx.x].table;
    if (table != no_table) table *= Of::table_bytes;
  }
  __syncthreads();
  const auto exponent_of = [&](std::uint32_t i) {
    const auto step = static_cast<int>(i % Of::steps + 1);
    if (step > kernel.model.groups.max_sum) return exact::infinity();  // does not occur
    return exact::mul(exact::mul(block.beta[i / Of::steps], kernel.inverse_scale), 2.0 * step);
  };
  const auto set = [&](std::uint32_t i, std::uint64_t threshold) {
    const std::uint32_t t = i / Of::steps, j = i % Of::steps;
    reinterpret_cast<std::uint32_t*>(tables + t * Of::table_bytes)[j] = table_entry(threshold);
    if (threshold > all_words) atomicMax(certain_of(t), j + 1);
  };
  set_metropolis_thresholds(n * Of::steps, exponent_of, set);
  if constexpr (!kGuide) return;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < n * Of::cells; i += blockDim.x) {
    const std::uint32_t cell = i % Of::cells;
    unsigned char* const table = tables + i / Of::cells * Of::table_bytes;
    std::uint32_t accepted = 0;
    if (cell == Of::cells - 1) {
      accepted = *certain_of(i / Of::cells);
    } else {
#pragma unroll
      for (std::uint32_t more = Of::steps / 2; more > 0; more /= 2) {
        const auto* const thresholds = reinterpret_cast<const std::uint32_t*>(table);
        if (thresholds[accepted + more - 1] >= Of::end_of(cell)) accepted += more;
      }
    }
    table[Of::guide_begin + cell] = static_cast<unsigned char>(accepted);
  }
}

}  // namespace
}  // namespace kiln::cuda
