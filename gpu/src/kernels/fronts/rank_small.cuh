// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rank_tiles.cuh"

/// Ranks of groups of at most 1024 points: a block each, a thread per point, only points and
/// results in device memory. A warp is a tile: it settles its ranks, then later tiles read them.
namespace kiln::cuda {

/// Shared memory of a block of `threads`.
template <int further>
struct SmallMemory {
  static constexpr int kept = further > 0 ? further : 1;
  static std::size_t bytes(int threads) {
    return static_cast<std::size_t>(threads) * (sizeof(SortEntry) + 8 * kept + 2 * sizeof(int));
  }
  __device__ SmallMemory(unsigned char* begin, int n_threads) : threads(n_threads) {
    entries = reinterpret_cast<SortEntry*>(begin);
    value = reinterpret_cast<std::uint64_t*>(entries + threads);
    rank = reinterpret_cast<int*>(value + kept * threads);
    leader = rank + threads;
  }
  int threads;
  SortEntry* entries;    // by place
  std::uint64_t* value;  // [further][place]; ~0 where a point does not count
  int* rank;             // by place
  int* leader;           // by number of distinct points before: the first of them
};

/// Number of threads up to and including this one with `flag`.
__device__ inline int count_up_to(bool flag) {
  __shared__ int of_warp[32];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const unsigned flags = __ballot_sync(full_warp, flag);
  __syncthreads();  // of_warp of the call before
  if (lane == 0) of_warp[warp] = __popc(flags);
  __syncthreads();
  int count = __popc(flags & (full_warp >> (warp_size - 1 - lane)));
  for (int w = 0; w < warp; ++w) count += of_warp[w];
  return count;
}

namespace detail {

/// The rank of a feasible point, for all threads of the block; `counts`: whether there is one here.
template <int further>
__device__ void rank_places(const ObjectivePoints& points, const SmallMemory<further>& memory,
                            int n_feasible, bool counts) {
  const int me = static_cast<int>(threadIdx.x), warp = me / warp_size;
  std::uint64_t mine[SmallMemory<further>::kept];
#pragma unroll
  for (int k = 0; k < SmallMemory<further>::kept; ++k) {
    mine[k] = counts ? memory.value[k * memory.threads + me] : 0;  // 0: nothing is below
  }
  const auto each = [&](int tile, auto&& call) {
    if constexpr (further > 0) {
      each_dominator(mine, memory.value, memory.threads, tile * warp_size, warp_size, call);
    } else if (counts) {
      const auto value_of = [&](std::int64_t k, int i) {
        // The first of the further values is in shared memory; with ~0 where a point does not
        // count.
        const std::uint64_t first = memory.value[i];
        if (k == 0 || first == ~0ull) return first;
        return ObjectivePoints::order_of(points.value(k + 1, memory.entries[i].column));
      };
      each_dominator(
          points.objectives() - 1, [&](std::int64_t k) { return value_of(k, me); }, value_of,
          tile * warp_size, warp_size, call);
    }
  };
  unsigned below = 0;  // places of this warp that dominate mine
  each(warp, [&](int i) {
    if (i < me) below |= 1u << (i % warp_size);
  });
  int rank = 0;
  for (int tile = 0; tile * warp_size < n_feasible; ++tile) {
    if (warp == tile) {
      for (int i = 0; i < warp_size; ++i) {
        const int through = __shfl_sync(full_warp, rank, i) + 1;
        if ((below >> i & 1u) != 0 && through > rank) rank = through;
      }
      memory.rank[me] = rank;
    }
    __syncthreads();
    if (warp <= tile) continue;
    each(tile, [&](int i) {
      const int through = memory.rank[i] + 1;
      rank = through > rank ? through : rank;
    });
  }
}

template <int further>
__global__ void __launch_bounds__(NondominatedRanks::block_points)
    rank_small(const __grid_constant__ NondominatedRanks kernel) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) unsigned char small_memory[];
  __shared__ int n_fronts, distinct_feasible;
  const SmallMemory<further> memory(small_memory, static_cast<int>(blockDim.x));
  const RankOrder order{kernel.points};
  const ObjectivePoints& points = kernel.points;
  const std::int64_t group = blockIdx.x, begin = points.groups.begin(group);
  const int me = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(points.groups.count(group));

  memory.entries[me] = me < count ? order.entry(static_cast<std::int32_t>(begin + me))
                                  : SortEntry{~0ull, sort_filler, 0x7FFFFFFF};
  if (me == 0) n_fronts = distinct_feasible = 0;
  sort_in_block(order, memory.entries, memory.threads);
  const SortEntry mine = memory.entries[me];
  const bool ranked = mine.first <= infeasible;
  const bool head = ranked && (me == 0 || order.compare(memory.entries[me - 1], mine) != 0);
  const bool counts = head && mine.first == feasible;
  const int n_feasible = __syncthreads_count(mine.first == feasible ? 1 : 0);
  const int n_ranked = __syncthreads_count(ranked ? 1 : 0);
  const int distinct = count_up_to(head);
  if (head) memory.leader[distinct - 1] = me;
  if (me == n_feasible - 1) distinct_feasible = distinct;
  for (int k = 0; k < SmallMemory<further>::kept; ++k) {
    const bool there = counts && k + 1 < points.objectives();
    memory.value[k * memory.threads + me] =
        there ? ObjectivePoints::order_of(points.value(k + 1, mine.column)) : ~0ull;
  }
  __syncthreads();

  int rank = distinct - 1;  // of one objective, for the order is total
  if (points.objectives() > 1) {
    rank_places<further>(points, memory, n_feasible, counts);
    const int of_mine = counts ? memory.rank[me] + 1 : 0;
    const int greatest = __reduce_max_sync(full_warp, of_mine);
    if (me % warp_size == 0) atomicMax(&n_fronts, greatest);
    __syncthreads();
    rank = mine.first == feasible ? memory.rank[memory.leader[distinct - 1]]
                                  : n_fronts + distinct - 1 - distinct_feasible;
  }
  if (me < count) kernel.rank[mine.column] = ranked ? rank : NondominatedRanks::no_front;
  if (me == n_ranked - 1 && kernel.fronts) {
    kernel.fronts[group] =
        points.objectives() > 1 ? n_fronts + distinct - distinct_feasible : distinct;
  }
  if (me != 0) return;
  if (n_ranked == 0 && kernel.fronts) kernel.fronts[group] = 0;
  if (kernel.unranked) kernel.unranked[group] = count - n_ranked;
}

}  // namespace detail

template <int further>
void rank_small_groups(const NondominatedRanks& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  int threads = warp_size;
  while (threads < groups.size) threads *= 2;
  const std::size_t bytes = SmallMemory<further>::bytes(threads);
  reserve_shared(queue, detail::rank_small<further>, SmallMemory<further>::bytes(1024),
                 NondominatedRanks::name);
  const auto blocks = static_cast<unsigned>(groups.groups);
  detail::rank_small<further><<<blocks, threads, bytes, stream_of(queue)>>>(kernel);
  check_launch(NondominatedRanks::name);
}

}  // namespace kiln::cuda
