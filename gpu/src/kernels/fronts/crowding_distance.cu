// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/crowding_distance.hpp"

#include "group_sort.cuh"

namespace kiln::cuda {
namespace {

// Points of a group in order of front and one objective.
struct MakeCrowdingEntries {
  CrowdingDistance kernel;
  std::int64_t objective;
  __device__ bool active() const { return kernel.active(); }
  __device__ EntryOrder order() const { return {}; }
  __device__ SortEntry entry(std::int32_t column) const {
    return {ObjectivePoints::order_of(kernel.value(objective, column)),
            static_cast<std::uint32_t>(kernel.rank[column]), column};
  }
};

// How many of the `count` sorted entries are on fronts before `rank`.
__device__ std::int64_t places_before(const SortEntry* entries, std::int64_t count,
                                      std::uint32_t rank) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (entries[middle].first < rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Adds an objective to the distance of the point at a place; the first one sets it.
__device__ void add_objective(const CrowdingDistance& kernel, std::int64_t objective,
                              const SortEntry* entries, std::int64_t count, std::int64_t place) {
  const std::uint32_t rank = entries[place].first;
  double& distance = kernel.distance[entries[place].column];
  if (objective == 0) distance = 0;
  if (rank == static_cast<std::uint32_t>(NondominatedRanks::no_front)) return;
  const std::int64_t begin = places_before(entries, count, rank);
  const std::int64_t end = places_before(entries, count, rank + 1);
  const auto value = [&](std::int64_t at) { return kernel.value(objective, entries[at].column); };
  const double least = value(begin), greatest = value(end - 1);
  if (end - begin <= 2) {
    distance = exact::infinity();
  } else if (!(least < greatest)) {
    return;
  } else if (place == begin || place == end - 1) {
    distance = exact::infinity();
  } else {
    distance = exact::add(
        distance, CrowdingDistance::term(value(place - 1), value(place + 1), least, greatest));
  }
}

// A block per group, a thread per point.
__global__ void __launch_bounds__(CrowdingDistance::block_points)
    spread_small(const __grid_constant__ CrowdingDistance kernel) {
  if (!kernel.active()) return;
  __shared__ SortEntry entries[CrowdingDistance::block_points];
  const std::int64_t begin = kernel.groups.begin(blockIdx.x);
  const std::int64_t count = kernel.groups.count(blockIdx.x);
  const int me = static_cast<int>(threadIdx.x);
  for (std::int64_t k = 0; k < kernel.value.rows; ++k) {
    const MakeCrowdingEntries make{kernel, k};
    entries[me] = me < count ? make.entry(static_cast<std::int32_t>(begin + me))
                             : SortEntry{~0ull, sort_filler, 0x7FFFFFFF};
    sort_in_block(make.order(), entries, static_cast<int>(blockDim.x));
    if (me < count) add_objective(kernel, k, entries, count, me);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(block_size)
    spread_sorted(const __grid_constant__ CrowdingDistance kernel, std::int64_t objective,
                  const SortEntry* entries) {
  if (!kernel.active()) return;
  const PointGroups& groups = kernel.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      add_objective(kernel, objective, entries + begin, count, i);
    }
  }
}

void spread_large(const CrowdingDistance& kernel, cudaStream_t stream) {
  const std::int64_t columns = kernel.value.columns;
  const std::int64_t needed = CrowdingDistance::scratch_bytes(kernel.groups, columns);
  if (kernel.scratch.size < needed) {
    throw InvalidArgument("kernel.scratch", "crowding_distance needs " + std::to_string(needed) +
                                                " bytes of scratch memory for these points and "
                                                "has " +
                                                std::to_string(kernel.scratch.size) +
                                                ": see scratch_bytes()");
  }
  auto* const a = reinterpret_cast<SortEntry*>(kernel.scratch.data);
  SortEntry* const b = a + (columns + 15) / 16 * 16;
  const dim3 grid = group_grid(kernel.groups, block_size);
  for (std::int64_t k = 0; k < kernel.value.rows; ++k) {
    const SortEntry* const sorted = sort_groups(MakeCrowdingEntries{kernel, k}, kernel.groups, a, b,
                                                stream, CrowdingDistance::name);
    spread_sorted<<<grid, block_size, 0, stream>>>(kernel, k, sorted);
    check_launch(CrowdingDistance::name);
  }
}

}  // namespace

template <>
void launch(const CrowdingDistance& kernel, Queue& queue) {
  if (kernel.groups.groups <= 0 || kernel.groups.size <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  if (kernel.groups.size > CrowdingDistance::block_points) return spread_large(kernel, stream);
  int threads = warp_size;
  while (threads < kernel.groups.size) threads *= 2;
  const auto blocks = static_cast<unsigned>(kernel.groups.groups);
  spread_small<<<blocks, threads, 0, stream>>>(kernel);
  check_launch(CrowdingDistance::name);
}

}  // namespace kiln::cuda
