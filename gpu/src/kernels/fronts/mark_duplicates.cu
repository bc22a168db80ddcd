// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kiln/kernels/fronts/mark_duplicates.hpp"

#include "group_sort.cuh"

namespace kiln::cuda {
namespace {

// A group's table of columns: all points with the same values find the same place.
struct Table {
  std::int32_t* place;
  std::uint32_t mask;
};

__device__ Table table_of(const MarkDuplicates& kernel, std::int64_t group) {
  const std::int64_t size = MarkDuplicates::table_size(kernel.points.groups.size);
  return {reinterpret_cast<std::int32_t*>(kernel.scratch.data) + group * size,
          static_cast<std::uint32_t>(size - 1)};
}

__device__ std::uint32_t first_place(const MarkDuplicates& kernel, std::int64_t column) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ull;
  const ObjectivePoints& points = kernel.points;
  const auto mix = [&](double x) {
    // Equal values have equal keys, also -0.0 and 0.0.
    hash = (hash ^ ObjectivePoints::order_of(x)) * 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 29;
  };
  if (points.violation) mix(points.violation[column]);
  for (std::int64_t k = 0; k < points.value.rows; ++k) mix(points.value(k, column));
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

template <class Body>
__device__ void for_points(const MarkDuplicates& kernel, const Body& body) {
  const PointGroups& groups = kernel.points.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    for (std::int64_t i = thread_index(); i < groups.count(group); i += thread_count()) {
      const std::int64_t column = groups.begin(group) + i;
      if (kernel.rank[column] != NondominatedRanks::no_front) body(group, column);
    }
  }
}

__global__ void __launch_bounds__(block_size)
    empty_tables(const __grid_constant__ MarkDuplicates kernel, std::int64_t places) {
  if (!kernel.active()) return;
  auto* const place = reinterpret_cast<std::int32_t*>(kernel.scratch.data);
  for (std::int64_t i = thread_index(); i < places; i += thread_count()) place[i] = -1;
}

// Each place ends with the first column of all that belong there, whoever came first.
__global__ void __launch_bounds__(block_size)
    enter_points(const __grid_constant__ MarkDuplicates kernel) {
  if (!kernel.active()) return;
  for_points(kernel, [&](std::int64_t group, std::int64_t column) {
    const Table table = table_of(kernel, group);
    const auto own = static_cast<std::int32_t>(column);
    for (std::uint32_t at = first_place(kernel, column);; ++at) {
      std::int32_t* const place = table.place + (at & table.mask);
      const std::int32_t there = atomicCAS(place, -1, own);
      if (there == -1) return;
      if (!kernel.equal(there, column)) continue;
      atomicMin(place, own);
      return;
    }
  });
}

__global__ void __launch_bounds__(block_size)
    mark_copies(const __grid_constant__ MarkDuplicates kernel) {
  if (!kernel.active()) return;
  for_points(kernel, [&](std::int64_t group, std::int64_t column) {
    const Table table = table_of(kernel, group);
    for (std::uint32_t at = first_place(kernel, column);; ++at) {
      const std::int32_t there = table.place[at & table.mask];
      if (there == column) return;
      if (!kernel.equal(there, column)) continue;
      kernel.rank[column] = NondominatedRanks::no_front;
      return;
    }
  });
}

}  // namespace

template <>
void launch(const MarkDuplicates& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  if (groups.groups <= 0 || groups.size <= 0) return;
  const std::int64_t needed = MarkDuplicates::scratch_bytes(groups);
  if (kernel.scratch.size < needed) {
    throw InvalidArgument("kernel.scratch", "mark_duplicates needs " + std::to_string(needed) +
                                                " bytes of scratch memory for these points and "
                                                "has " +
                                                std::to_string(kernel.scratch.size) +
                                                ": see scratch_bytes()");
  }
  const cudaStream_t stream = stream_of(queue);
  const dim3 grid = group_grid(groups, block_size);
  empty_tables<<<blocks_for(needed / 4), block_size, 0, stream>>>(kernel, needed / 4);
  check_launch(MarkDuplicates::name);
  enter_points<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(MarkDuplicates::name);
  mark_copies<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(MarkDuplicates::name);
}

}  // namespace kiln::cuda
