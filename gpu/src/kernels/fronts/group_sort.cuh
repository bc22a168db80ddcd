// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "kiln/kernels/fronts/objective_points.hpp"

#include "kernels/grid.cuh"

/// Sorts the columns of groups, each group separately, in device memory of the caller.
namespace kiln::cuda {

/// A column while it is sorted. The first comparison uses the entry, so that the values themselves
/// are read only for ties.
struct SortEntry {
  std::uint64_t key;
  std::uint32_t first;  // compared before the key
  std::int32_t column;
};
inline constexpr std::uint32_t sort_filler = 0xFFFFFFFFu;  // `first` of entries without a column

/// Orders by first and key, then by column, for sorts that need no more.
struct EntryOrder {
  __device__ bool before(const SortEntry& a, const SortEntry& b) const {
    if (a.first != b.first) return a.first < b.first;
    if (a.key != b.key) return a.key < b.key;
    return a.column < b.column;
  }
};

inline constexpr int sort_run = 1024;  // entries that a block sorts in shared memory

/// Sorts the `size` entries in shared memory, a power of two, by all threads of a block; ends with
/// a barrier. Bitonic: the order is total, so the result does not depend on the method.
template <class Order>
__device__ void sort_in_block(const Order& order, SortEntry* entries, int size) {
  for (int length = 2; length <= size; length *= 2) {
    for (int distance = length / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += static_cast<int>(blockDim.x)) {
        const int low = i / distance * 2 * distance + i % distance, high = low + distance;
        const bool falling = (low & length) != 0;
        const SortEntry a = entries[low], b = entries[high];
        if (order.before(b, a) != falling) {
          entries[low] = b;
          entries[high] = a;
        }
      }
    }
  }
  __syncthreads();
}

namespace detail {

// Each block sorts a run of a group. Make returns the entry of a column.
template <class Make>
__global__ void __launch_bounds__(sort_run / 2)
    sort_runs(const __grid_constant__ Make make, const __grid_constant__ PointGroups groups,
              SortEntry* out) {
  __shared__ SortEntry entries[sort_run];
  if (!make.active()) return;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group) + blockIdx.x * std::int64_t{sort_run};
    const std::int64_t left = groups.end(group) - begin;
    if (left <= 0) continue;
    __syncthreads();  // the run before has been stored
    for (int i = static_cast<int>(threadIdx.x); i < sort_run; i += sort_run / 2) {
      entries[i] = i < left ? make.entry(static_cast<std::int32_t>(begin + i))
                            : SortEntry{~0ull, sort_filler, 0x7FFFFFFF};
    }
    sort_in_block(make.order(), entries, sort_run);
    for (int i = static_cast<int>(threadIdx.x); i < sort_run; i += sort_run / 2) {
      if (i < left) out[begin + i] = entries[i];
    }
  }
}

// Merges neighbouring runs: an entry moves back by the number of entries of the other run that
// precede it. No two entries are equal, so the places are all different.
template <class Make>
__global__ void __launch_bounds__(block_size)
    merge_runs(const __grid_constant__ Make make, const __grid_constant__ PointGroups groups,
               const SortEntry* in, SortEntry* out, std::int64_t run) {
  if (!make.active()) return;
  const auto order = make.order();
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      const SortEntry mine = in[begin + i];
      const std::int64_t other = (i / run ^ 1) * run;
      std::int64_t low = other < count ? other : count;
      std::int64_t high = other + run < count ? other + run : count;
      const std::int64_t other_begin = low;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (order.before(in[begin + middle], mine)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      out[begin + i / (2 * run) * (2 * run) + i % run + (low - other_begin)] = mine;
    }
  }
}

}  // namespace detail

/// Blocks for all columns of groups: x over the columns of a group, y over groups.
inline dim3 group_grid(const PointGroups& groups, int columns_per_block) {
  const std::int64_t across = (groups.size + columns_per_block - 1) / columns_per_block;
  return dim3(static_cast<unsigned>(std::max<std::int64_t>(across, 1)),
              static_cast<unsigned>(std::min<std::int64_t>(groups.groups, 65535)));
}

/// Enqueues a sort of the columns of each group, into a or b, both [columns]; returns the array
/// with the result. Make has active(), entry(column) and order(), which must distinguish any two
/// entries.
template <class Make>
SortEntry* sort_groups(const Make& make, const PointGroups& groups, SortEntry* a, SortEntry* b,
                       cudaStream_t stream, const char* name) {
  const dim3 runs = group_grid(groups, sort_run);
  detail::sort_runs<Make><<<runs, sort_run / 2, 0, stream>>>(make, groups, a);
  check_launch(name);
  const dim3 grid = group_grid(groups, block_size);
  for (std::int64_t run = sort_run; run < groups.size; run *= 2) {
    detail::merge_runs<Make><<<grid, block_size, 0, stream>>>(make, groups, a, b, run);
    check_launch(name);
    std::swap(a, b);
  }
  return a;
}

}  // namespace kiln::cuda
