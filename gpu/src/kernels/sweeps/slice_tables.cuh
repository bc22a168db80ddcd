// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "slice_places.cuh"

/// Tables of acceptance thresholds in shared memory, by temperature and energy change.
namespace kiln::cuda {
namespace {

// The numbers of a model whose sums have P bits. Index of the table: the number u and, as its
// lowest bit or where a byte has no room for it as its highest, whether the site's sum is even.
template <int P>
struct Format {
  static constexpr int bits = P < 4 ? 4 : 8;  // of a place in a register
  static constexpr bool even_in_place = P < bits;
  static constexpr std::uint32_t entries = 2u << P;  // of a table
  static constexpr std::uint32_t mask = even_in_place ? (entries - 1) << 2 : ((1u << P) - 1) << 2;

  // Half the energy change of an index.
  __device__ static int half_change(std::uint32_t index) {
    constexpr int center = 1 << P;
    if constexpr (even_in_place) return static_cast<int>(index) - center + 1;
    const std::uint32_t u = index & ((1u << P) - 1);
    return 2 * static_cast<int>(u) - center + 1 + static_cast<int>(index >> P);
  }
  __device__ static std::uint32_t index_of(int half) {
    constexpr int center = 1 << P;
    const auto number = static_cast<std::uint32_t>(half + center - 1);  // 2 u + even
    return even_in_place ? number : number / 2 | (number & 1u) << P;
  }
};

// The tables of a block, one for each temperature of its slots, then its slots and states.
template <int W, int P>
struct Memory {
  // Lanes of different temperatures read about the same entry: tables begin in different banks.
  static constexpr std::uint32_t table_bytes = Format<P>::entries * 4 + 4;
  unsigned char* tables;
  SlotEntry* slots;  // [32 W]
  std::uint32_t* states;

  __device__ Memory(unsigned char* begin, std::uint32_t n_tables)
      : tables(begin),
        slots(reinterpret_cast<SlotEntry*>(begin + bytes_of_tables(n_tables))),
        states(reinterpret_cast<std::uint32_t*>(slots + 32 * W)) {}
  __host__ __device__ static std::uint32_t bytes_of_tables(std::uint32_t n) {
    return (n * table_bytes + 15) / 16 * 16;
  }
};

// What makes the tables; the totals of the block are kept here afterwards.
template <int W>
struct Temperatures {
  double beta[32 * W];          // of slots
  std::uint16_t first[32 * W];  // slot of the same temperature
  std::uint16_t table[32 * W];  // of first slots
  std::uint16_t slot[32 * W];   // of tables
  std::uint32_t n_tables;
};

// Gives slots of one temperature one table. The number of a table is that of its first slot among
// all first slots.
template <int W>
__device__ void share_tables(const MetropolisSweep& kernel, std::uint32_t sweep,
                             std::int64_t first_word, Temperatures<W>& of) {
  const std::int64_t last = kernel.state.columns * 32 - 1;
  const View1<const double> beta = kernel.beta_of(sweep);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    of.beta[i] = beta[kernel.rung_of[min(first_word * 32 + i, last)]];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::uint64_t bits = exact::double_to_bits(of.beta[i]);
    int first = 0;
    while (exact::double_to_bits(of.beta[first]) != bits) ++first;
    of.first[i] = static_cast<std::uint16_t>(first);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    std::uint32_t n = 0;
    for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += 32) {
      const bool is_first = of.first[i] == i;
      const unsigned firsts = __ballot_sync(whole_warp, is_first);
      const std::uint32_t table =
          n + static_cast<std::uint32_t>(__popc(firsts & ((1u << threadIdx.x) - 1)));
      if (is_first) {
        of.table[i] = static_cast<std::uint16_t>(table);
        of.slot[table] = static_cast<std::uint16_t>(i);
      }
      n += static_cast<std::uint32_t>(__popc(firsts));
    }
    if (threadIdx.x == 0) of.n_tables = n;
  }
  __syncthreads();
}

// Calls set(i, threshold) for entries i, i + blockDim.x, ... of n. The exponentials of several are
// computed side by side: one alone is a long chain of operations.
template <class Exponent, class Set>
__device__ void set_metropolis_thresholds(std::uint32_t n, Exponent exponent_of, Set set) {
  constexpr std::uint32_t at_once = 4;
  for (std::uint32_t first = threadIdx.x; first < n; first += at_once * blockDim.x) {
    std::uint64_t thresholds[at_once];
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k) {
      thresholds[k] = exact::accept_threshold_flat(exponent_of(min(first + k * blockDim.x, n - 1)));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (first + k * blockDim.x < n) set(first + k * blockDim.x, thresholds[k]);
    }
  }
}

// A threshold of up to 2^32 as tables hold it.
__device__ inline std::uint32_t table_entry(std::uint64_t threshold) {
  return threshold > all_words ? all_words : static_cast<std::uint32_t>(threshold);
}

// Fills the tables by Metropolis. Only the changes that raise the energy, and occur, need an
// exponential.
template <int W, int P>
__device__ void fill_metropolis(const MetropolisSweep& kernel, const Temperatures<W>& of,
                                std::uint32_t n_tables, std::uint32_t* table_begin) {
  constexpr std::uint32_t entries = Format<P>::entries, stride = entries + 1;
  constexpr int center = 1 << P;
  const auto largest = static_cast<std::uint32_t>(min(kernel.model.groups.max_sum, center));
  for (std::uint32_t i = threadIdx.x; i < n_tables * entries; i += blockDim.x) {
    const int half = Format<P>::half_change(i % entries);
    if (half > 0 && half <= static_cast<int>(largest)) continue;
    table_begin[i + i / entries] = half <= 0 ? all_words : 0u;  // also where beta is infinite
  }
  const auto exponent_of = [&](std::uint32_t i) {
    const std::uint32_t table = i / largest, half = 1 + i % largest;
    return exact::mul(exact::mul(of.beta[of.slot[table]], kernel.inverse_scale), 2.0 * half);
  };
  const auto set = [&](std::uint32_t i, std::uint64_t threshold) {
    const std::uint32_t table = i / largest, half = 1 + i % largest;
    table_begin[table * stride + Format<P>::index_of(static_cast<int>(half))] =
        table_entry(threshold);
  };
  set_metropolis_thresholds(n_tables * largest, exponent_of, set);
}

template <int W, int P>
__device__ void fill_tables(const MetropolisSweep& kernel, const Temperatures<W>& of,
                            std::uint32_t capacity, const Memory<W, P>& memory) {
  constexpr std::uint32_t entries = Format<P>::entries;
  const std::uint32_t n_tables = min(of.n_tables, capacity);
  auto* const table_begin = reinterpret_cast<std::uint32_t*>(memory.tables);
  if (kernel.rule == SweepRule::metropolis) {
    return fill_metropolis<W, P>(kernel, of, n_tables, table_begin);
  }
  for (std::uint32_t i = threadIdx.x; i < n_tables * entries; i += blockDim.x) {
    const int half = Format<P>::half_change(i % entries);
    const bool occurs = abs(half) <= kernel.model.groups.max_sum;
    const double beta = of.beta[of.slot[i / entries]];
    const std::uint64_t threshold = occurs ? threshold_of(kernel, beta, 2.0 * half) : 0;
    table_begin[i + i / entries] = table_entry(threshold);
  }
}

}  // namespace
}  // namespace kiln::cuda
