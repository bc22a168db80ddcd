// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include "rank_order.cuh"
#include "rank_patience.cuh"
#include "rank_small.cuh"
#include "rank_tiles.cuh"

namespace kiln::cuda {
namespace {

// What the sort needs to know.
struct MakeRankEntries {
  NondominatedRanks kernel;
  __device__ bool active() const { return kernel.active(); }
  __device__ RankOrder order() const { return {kernel.points}; }
  __device__ SortEntry entry(std::int32_t column) const { return order().entry(column); }
};

// After the sort: which points count, their values by place, where the classes end.
__global__ void __launch_bounds__(block_size)
    place_points(const __grid_constant__ NondominatedRanks kernel,
                 const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  const RankOrder order{kernel.points};
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t objectives = kernel.points.objectives();
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      const std::int64_t place = begin + i;
      const SortEntry mine = scratch.entries[place];
      const bool repeated = i > 0 && order.compare(scratch.entries[place - 1], mine) == 0;
      const bool counts = mine.first == feasible && !repeated;
      for (std::int64_t k = 1; k < objectives; ++k) {
        scratch.further[(k - 1) * scratch.columns + place] =
            counts ? ObjectivePoints::order_of(kernel.points.value(k, mine.column)) : ~0ull;
      }
      scratch.rank[place] = counts ? -1 : 0;
      if (objectives == 2) scratch.least[place] = ~0ull;
      const std::uint32_t next = i + 1 < count ? scratch.entries[place + 1].first : sort_filler;
      RankScratch::GroupState& state = scratch.groups[group];
      if (mine.first == feasible && next > feasible) state.feasible = static_cast<int>(i + 1);
      if (mine.first <= infeasible && next > infeasible) state.ranked = static_cast<int>(i + 1);
    }
  }
}

// Ranks where the order is total up to ties: of infeasible points, and of all where there is one
// objective. A block per group counts distinct places.
__global__ void __launch_bounds__(sort_run)
    rank_in_order(const __grid_constant__ NondominatedRanks kernel,
                  const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  __shared__ int last_count;
  const RankOrder order{kernel.points};
  const std::int64_t group = blockIdx.x, begin = kernel.points.groups.begin(group);
  const RankScratch::GroupState state = scratch.groups[group];
  const bool all = kernel.points.objectives() == 1;
  const int from = all ? 0 : state.feasible;
  int fronts = all ? 0 : state.fronts;
  for (int chunk = from; chunk < state.ranked; chunk += sort_run) {
    const int i = chunk + static_cast<int>(threadIdx.x);
    bool head = false;
    if (i < state.ranked) {
      const SortEntry* const mine = scratch.entries + begin + i;
      head = i == from || order.compare(mine[-1], mine[0]) != 0;
    }
    const int count = count_up_to(head);
    if (i < state.ranked) scratch.rank[begin + i] = fronts + count - 1;
    if (threadIdx.x == sort_run - 1) last_count = count;
    __syncthreads();
    fronts += last_count;
  }
  if (threadIdx.x != 0) return;
  if (kernel.fronts) kernel.fronts[group] = fronts;
  if (kernel.unranked) {
    kernel.unranked[group] = static_cast<int>(kernel.points.groups.count(group)) - state.ranked;
  }
}

// The first of the points of a group that equal the one at a place.
__device__ std::int64_t first_equal(const RankOrder& order, const SortEntry* entries,
                                    std::int64_t begin, std::int64_t place) {
  std::int64_t low = begin, high = place;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (order.compare(entries[middle], entries[place]) != 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void __launch_bounds__(block_size)
    store_ranks(const __grid_constant__ NondominatedRanks kernel,
                const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  const RankOrder order{kernel.points};
  const PointGroups& groups = kernel.points.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      const SortEntry mine = scratch.entries[begin + i];
      std::int64_t place = begin + i;
      if (mine.first == feasible && kernel.points.objectives() > 1 &&
          scratch.further[place] == ~0ull) {
        place = first_equal(order, scratch.entries, begin, place);
      }
      kernel.rank[mine.column] =
          mine.first <= infeasible ? scratch.rank[place] : NondominatedRanks::no_front;
    }
  }
}

void rank_feasible(const NondominatedRanks& kernel, const RankScratch& scratch,
                   cudaStream_t stream) {
  switch (kernel.points.objectives()) {
    case 1:
      return;
    case 2:
      return rank_two_objectives(kernel, scratch, stream);
    case 3:
      return rank_by_tiles<2>(kernel, scratch, stream);
    case 4:
      return rank_by_tiles<3>(kernel, scratch, stream);
    case 5:
      return rank_by_tiles<4>(kernel, scratch, stream);
    default:
      return rank_by_tiles<any_number>(kernel, scratch, stream);
  }
}

void rank_large_groups(const NondominatedRanks& kernel, cudaStream_t stream) {
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t columns = kernel.points.value.columns;
  const std::int64_t needed =
      NondominatedRanks::scratch_bytes(groups, columns, kernel.points.objectives());
  if (kernel.scratch.size < needed) {
    throw InvalidArgument("kernel.scratch",
                          "nondominated_ranks needs " + std::to_string(needed) +
                              " bytes of scratch memory for these points and has " +
                              std::to_string(kernel.scratch.size) + ": see scratch_bytes()");
  }
  RankScratch scratch(kernel, columns);
  cuda_check(cudaMemsetAsync(scratch.ticket, 0, scratch.header_bytes, stream),
             "clear counts of nondominated_ranks");
  scratch.sorted_in(sort_groups(MakeRankEntries{kernel}, groups, scratch.entries, scratch.spare,
                                stream, NondominatedRanks::name));
  const dim3 grid = group_grid(groups, block_size);
  place_points<<<grid, block_size, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
  rank_feasible(kernel, scratch, stream);
  const auto blocks = static_cast<unsigned>(groups.groups);
  rank_in_order<<<blocks, sort_run, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
  store_ranks<<<grid, block_size, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
}

}  // namespace

template <>
void launch(const NondominatedRanks& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  if (groups.groups <= 0 || kernel.points.objectives() <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  if (groups.size > NondominatedRanks::block_points) return rank_large_groups(kernel, stream);
  switch (kernel.points.objectives()) {
    case 1:
    case 2:
      return rank_small_groups<1>(kernel, queue);
    case 3:
      return rank_small_groups<2>(kernel, queue);
    case 4:
      return rank_small_groups<3>(kernel, queue);
    case 5:
      return rank_small_groups<4>(kernel, queue);
    default:
      return rank_small_groups<any_number>(kernel, queue);
  }
}

}  // namespace kiln::cuda
