// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/rows/top_k.hpp"

#include "kernels/grid.cuh"
#include "kernels/rows/top_k_candidate.cuh"

// Radix selection of rows for top_k.cu: digits of the keys from the highest on, then those of the
// columns, until the k largest and few others are left. Those are sorted.
namespace kiln::cuda {
namespace {

constexpr int sort_threads = 1024;
constexpr int loads_of_thread = 8;
constexpr std::int64_t select_tile = std::int64_t{block_size} * loads_of_thread;
// Of a row.
struct Selection {
  Candidate prefix;              // the digits that are settled, of the k-th largest
  std::int64_t needed = 0;       // of those that have the prefix
  std::int64_t before = 0;       // values that come before all that have it
  int digits = 0;                // of the prefix
  int done = 0;                  // few enough are left
  unsigned arrived = 0;          // blocks
  unsigned long long taken = 0;  // candidates
};
static_assert(sizeof(Selection) <= 256);

struct SelectionPass {
  TopK kernel;
  std::int64_t first_row = 0;

  __device__ std::byte* room(std::int64_t i) const {
    return kernel.room.data + i * TopK::room_of_row;
  }
  __device__ Selection& selection(std::int64_t i) const {
    return *reinterpret_cast<Selection*>(room(i));
  }
  __device__ unsigned long long* counts(std::int64_t i) const {
    return reinterpret_cast<unsigned long long*>(room(i) + 256);
  }
  __device__ Candidate* candidates(std::int64_t i) const {
    return reinterpret_cast<Candidate*>(room(i) + 256 + 8 * TopK::bins);
  }
};

__global__ void __launch_bounds__(block_size)
    begin_selection(const __grid_constant__ SelectionPass pass) {
  const std::int64_t i = blockIdx.x;
  for (int bin = static_cast<int>(threadIdx.x); bin < TopK::bins; bin += block_size) {
    pass.counts(i)[bin] = 0;
  }
  if (threadIdx.x != 0) return;
  Selection begun;
  begun.needed = pass.kernel.k();
  pass.selection(i) = begun;
}

// Calls visit(candidate) for the values of a row, those of a block in each call.
template <class T, class Visit>
__device__ inline void visit_row(const SelectionPass& pass, std::int64_t row, const Visit& visit) {
  const Elements& value = pass.kernel.value;
  const T* const first = static_cast<const T*>(value.at(row, 0));
  for (std::int64_t begin = blockIdx.x * select_tile; begin < value.columns;
       begin += gridDim.x * select_tile) {
    T held[loads_of_thread];
#pragma unroll
    for (int l = 0; l < loads_of_thread; ++l) {
      const std::int64_t column = begin + l * block_size + static_cast<int>(threadIdx.x);
      held[l] = column < value.columns ? first[column * value.step] : T{0};
    }
#pragma unroll
    for (int l = 0; l < loads_of_thread; ++l) {
      const std::int64_t column = begin + l * block_size + static_cast<int>(threadIdx.x);
      if (column >= value.columns) continue;
      visit(Candidate{TopK::key_of(static_cast<double>(held[l])),
                      last_column - static_cast<std::uint64_t>(column)});
    }
  }
}

// Settles a digit of a row from its counts, for a whole block.
__device__ inline void settle_digit(const SelectionPass& pass, std::int64_t i, int digit) {
  constexpr int bins_of_thread = static_cast<int>(TopK::bins) / block_size;
  __shared__ unsigned long long sums[block_size];
  unsigned long long* const counts = pass.counts(i);
  Selection& selection = pass.selection(i);
  // Thread 0 has the highest bins.
  const int highest =
      static_cast<int>(TopK::bins) - 1 - static_cast<int>(threadIdx.x) * bins_of_thread;
  unsigned long long mine = 0;
  for (int b = 0; b < bins_of_thread; ++b) mine += __ldcg(&counts[highest - b]);
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int apart = 1; apart < block_size; apart *= 2) {
    const unsigned long long more =
        static_cast<int>(threadIdx.x) >= apart ? sums[threadIdx.x - apart] : 0;
    __syncthreads();
    sums[threadIdx.x] += more;
    __syncthreads();
  }
  const auto needed = static_cast<unsigned long long>(selection.needed);
  unsigned long long above = sums[threadIdx.x] - mine;
  const bool has_it = above < needed && needed <= sums[threadIdx.x];
  __syncthreads();  // all have read what is needed
  if (has_it) {
    for (int b = 0; b < bins_of_thread; ++b) {
      const unsigned long long here = __ldcg(&counts[highest - b]);
      if (above + here < needed) {
        above += here;
        continue;
      }
      const auto bin = static_cast<std::uint64_t>(highest - b);
      const int below = Candidate::bits_below(digit);
      (digit < key_digits ? selection.prefix.key : selection.prefix.place) |= bin << below;
      selection.digits = digit + 1;
      selection.needed -= static_cast<std::int64_t>(above);
      selection.before += static_cast<std::int64_t>(above);
      selection.done =
          selection.before + static_cast<std::int64_t>(here) <= TopK::sorted_at_once ? 1 : 0;
      break;
    }
  }
  __syncthreads();
  for (int b = 0; b < bins_of_thread; ++b) counts[highest - b] = 0;
  if (threadIdx.x == 0) selection.arrived = 0;
}

// Counts a digit of the values that have the prefix; the last block of a row settles it.
template <class T>
__global__ void __launch_bounds__(block_size)
    count_digits(const __grid_constant__ SelectionPass pass, int digit) {
  const std::int64_t i = blockIdx.y;
  Selection& selection = pass.selection(i);
  if (selection.done != 0) return;
  __shared__ unsigned counts[TopK::bins];
  __shared__ bool is_last;
  for (int bin = static_cast<int>(threadIdx.x); bin < TopK::bins; bin += block_size)
    counts[bin] = 0;
  __syncthreads();
  const Candidate prefix = selection.prefix;
  visit_row<T>(pass, pass.first_row + i, [&](const Candidate& one) {
    const Candidate known = one.first_digits(digit);
    if (known.key == prefix.key && known.place == prefix.place) {
      atomicAdd(&counts[one.digit(digit)], 1u);
    }
  });
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < TopK::bins; bin += block_size) {
    if (counts[bin] > 0) {
      atomicAdd(&pass.counts(i)[bin], static_cast<unsigned long long>(counts[bin]));
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&selection.arrived, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  settle_digit(pass, i, digit);
}

// Those that have the prefix or come before it, in any order.
template <class T>
__global__ void __launch_bounds__(block_size)
    collect_candidates(const __grid_constant__ SelectionPass pass) {
  const std::int64_t i = blockIdx.y;
  Selection& selection = pass.selection(i);
  const Candidate prefix = selection.prefix;
  const int digits = selection.digits;
  visit_row<T>(pass, pass.first_row + i, [&](const Candidate& one) {
    if (prefix.before(one.first_digits(digits))) return;
    pass.candidates(i)[atomicAdd(&selection.taken, 1ull)] = one;
  });
}

// Sorts candidates in shared memory, a power of two of them, by bitonic merges.
__device__ inline void sort_shared(Candidate* all, int places) {
  for (int size = 2; size <= places; size *= 2) {
    for (int apart = size / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < places / 2;
           t += static_cast<int>(blockDim.x)) {
        const int low = 2 * t - (t & (apart - 1)), high = low + apart;
        const Candidate a = all[low], b = all[high];
        const bool first_ones_first = (low & size) == 0;
        if (b.before(a) == first_ones_first) {
          all[low] = b;
          all[high] = a;
        }
      }
    }
  }
  __syncthreads();
}

constexpr std::size_t sort_bytes(std::int64_t places) {
  return static_cast<std::size_t>(places) * sizeof(Candidate);
}

__device__ inline void put_sorted(const TopK& kernel, std::int64_t row, const Candidate* all,
                                  std::int64_t count) {
  for (std::int64_t place = threadIdx.x; place < kernel.k(); place += blockDim.x) {
    kernel.put(row, place,
               place < count ? static_cast<std::int64_t>(last_column - all[place].place)
                             : TopK::no_column);
  }
}

__global__ void __launch_bounds__(sort_threads)
    sort_candidates(const __grid_constant__ SelectionPass pass) {
  extern __shared__ __align__(16) unsigned char top_k_memory[];
  auto* const all = reinterpret_cast<Candidate*>(top_k_memory);
  const std::int64_t i = blockIdx.x;
  const auto count = static_cast<int>(pass.selection(i).taken);
  int places = 2;
  while (places < count) places *= 2;
  for (int c = static_cast<int>(threadIdx.x); c < places; c += sort_threads) {
    all[c] = c < count ? pass.candidates(i)[c] : Candidate{};
  }
  sort_shared(all, places);
  put_sorted(pass.kernel, pass.first_row + i, all, count);
}

// Rows of so few values that a block sorts them all.
__global__ void __launch_bounds__(sort_threads)
    sort_whole_rows(const __grid_constant__ TopK kernel, int places) {
  extern __shared__ __align__(16) unsigned char top_k_memory[];
  auto* const all = reinterpret_cast<Candidate*>(top_k_memory);
  for (std::int64_t row = blockIdx.x; row < kernel.value.rows; row += gridDim.x) {
    for (int c = static_cast<int>(threadIdx.x); c < places; c += static_cast<int>(blockDim.x)) {
      all[c] = c < kernel.value.columns ? Candidate{TopK::key_of(kernel.value(row, c)),
                                                    last_column - static_cast<std::uint64_t>(c)}
                                        : Candidate{};
    }
    sort_shared(all, places);
    put_sorted(kernel, row, all, kernel.value.columns);
    __syncthreads();
  }
}

}  // namespace
}  // namespace kiln::cuda
