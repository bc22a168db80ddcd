// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

#include <algorithm>
#include <bit>

#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "kernels/cluster_launch.cuh"
#include "swap_block.cuh"
#include "update_block.cuh"

// A block has all rungs of some ladders: measures them, then swaps them. The tree of
// LadderStatistics adds lanes t and t + 128, t + 64, t + 32 first, so a cluster of four blocks has
// the lanes of one number modulo 32: it leaves one part of each rung. When all clusters have, each
// adds the 32 parts of some rungs, and the last one ends the round.
namespace kiln::cuda {
namespace {

using Part = LadderStatistics::Part;
constexpr int threads = 512;
constexpr int blocks_of_cluster = 4;
constexpr int max_rungs = 128;
constexpr int lanes_of_block = 2;  // t and t + 128
static_assert(lanes_of_block * max_rungs <= threads);
static_assert(LadderPhase::parts_of_rung == warp_size);
static_assert(LadderStatistics::cells_of_rung == warp_size);
static_assert(LadderStatistics::lanes ==
              lanes_of_block * blocks_of_cluster * LadderPhase::parts_of_rung);

struct Memory {
  SwapMemory<max_rungs> swap;
  int fresh, last;
  double parts[threads * sizeof(Part) / sizeof(double)];

  __device__ Part& part(int i) { return reinterpret_cast<Part*>(parts)[i]; }
};

__device__ __noinline__ void add_part(Part& to, const Part& from) {
  to = LadderStatistics::combine(to, from);
}

// Leaves the sums of the block's ladders, of its two lanes together, in the first parts. A thread
// computes what a replica adds, others add that up in the order of the ladders. `shared.fresh`: a
// rung has no reference yet; it is then the energy of ladder 0 before the swaps.
__device__ void measure(const LadderStatistics& kernel, const BlockLadders& mine, Memory& shared) {
  const int rungs = static_cast<int>(kernel.sums.size), me = static_cast<int>(threadIdx.x);
  const int lane = me / rungs, rung = me % rungs, items = mine.count * rungs;
  const bool adds = lane < lanes_of_block;
  Part sum = LadderStatistics::nothing();
  for (int base = 0; base < items; base += threads) {
    const int item = base + me;
    if (item < items) {
      const int r = item % rungs;
      shared.part(me) = kernel.of_replica(r, mine.number(item / rungs), kernel.reference_of(r));
      if (kernel.sums[r].count == 0) shared.fresh = 1;
    }
    __syncthreads();
    const int end = min(items, base + threads);
    for (int k = lane; adds && k < mine.count; k += lanes_of_block) {
      const int at = k * rungs + rung;
      if (at >= base && at < end) add_part(sum, shared.part(at - base));
    }
    __syncthreads();
  }
  if (adds) shared.part(me) = sum;
  __syncthreads();
  if (lane == 0) add_part(shared.part(rung), shared.part(rungs + rung));
}

#if __CUDA_ARCH__ >= 900
// Adds the sums of the blocks of a cluster: those of t + 64 to t, then of t + 32 to t.
__device__ void add_blocks(const LadderPhase& kernel, int cluster, Memory& shared) {
  const auto group = cooperative_groups::this_cluster();
  for (int r = static_cast<int>(threadIdx.x); r < kernel.statistics.sums.size; r += threads) {
    const auto of_block = [&](unsigned block) -> const Part& {
      return *group.map_shared_rank(&shared.part(r), block);
    };
    Part even = shared.part(r), odd = of_block(1);
    add_part(even, of_block(2));
    add_part(odd, of_block(3));
    add_part(even, odd);
    kernel.parts[r * LadderPhase::parts_of_rung + cluster] = even;
  }
}
#endif

// By the first block of each cluster, when all have finished: adds the parts of some rungs, a warp
// for each.
__device__ void add_clusters(const LadderPhase& kernel, int cluster, int clusters, Memory& shared) {
  const LadderStatistics& statistics = kernel.statistics;
  const int me = static_cast<int>(threadIdx.x), lane = me % warp_size;
  const std::int64_t step = std::int64_t{clusters} * (threads / warp_size);
  for (std::int64_t rung = cluster + clusters * (me / warp_size); rung < statistics.sums.size;
       rung += step) {
    Part& mine = shared.part(me);
    Part& of_cluster = kernel.parts[rung * LadderPhase::parts_of_rung + lane];
    mine = lane < clusters ? of_cluster : LadderStatistics::nothing();
    if (lane < clusters) of_cluster = LadderStatistics::nothing();
    __syncwarp();
    if (statistics.cells_of_ladders() && lane < warp_size / 2) {
      const int first = me - lane + 2 * lane;
      statistics.add_ladders(rung, lane, shared.part(first), shared.part(first + 1));
    }
    for (int half = warp_size / 2; half > 0; half /= 2) {
      __syncwarp();
      if (lane < half) add_part(mine, shared.part(me + half));
    }
    if (lane == 0) {
      // Written by another block, perhaps after this one has read the line.
      const LadderStatistics::Reference reference = {
          __ldcg(&statistics.sums[rung].reference),
          __ldcg(&statistics.sums[rung].weighed_reference)};
      statistics.add(rung, reference, mine);
    }
    __syncwarp();
  }
}

// Ladder 0 keeps its places until all other blocks have measured what is relative to them.
__device__ void wait_for_readers(const LadderPhase& kernel, unsigned readers) {
  if (threadIdx.x == 0) {
    while (atomicAdd(&kernel.tickets[1], 0u) < readers) {
    }
  }
  __syncthreads();
  const LadderStatistics& statistics = kernel.statistics;
  for (std::int64_t r = threadIdx.x; r < statistics.sums.size; r += threads) {
    const LadderStatistics::Reference reference = statistics.reference_of(r);
    statistics.sums[r].reference = reference.energy;
    statistics.sums[r].weighed_reference = reference.weighed;
  }
  __syncthreads();
}

// Waits until the first blocks of all clusters have come here. All blocks are on the device.
__device__ void meet(const LadderPhase& kernel, int clusters) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&kernel.tickets[0], 1u);
    while (atomicAdd(&kernel.tickets[0], 0u) < static_cast<unsigned>(clusters)) {
    }
    __threadfence();
  }
  __syncthreads();
}

// Whether this is the last cluster to have added its rungs.
__device__ bool takes_last_ticket(const LadderPhase& kernel, int clusters, Memory& shared) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    shared.last = static_cast<int>(atomicAdd(&kernel.tickets[2], 1u)) + 1 == clusters ? 1 : 0;
    __threadfence();
  }
  __syncthreads();
  return shared.last != 0;
}

__global__ void __launch_bounds__(threads, 2)
    make_phase(const __grid_constant__ LadderPhase kernel) {
#if __CUDA_ARCH__ >= 900
  __shared__ Memory shared;
  const LadderStatistics& statistics = kernel.statistics;
  if (!statistics.active()) return;
  const auto group = cooperative_groups::this_cluster();
  const int clusters = static_cast<int>(gridDim.x) / blocks_of_cluster;
  const int cluster = static_cast<int>(blockIdx.x) / blocks_of_cluster;
  const auto block = static_cast<int>(group.block_rank());
  const int first = cluster + clusters * block, step = clusters * blocks_of_cluster;
  const std::int64_t left = statistics.ladders - first;
  const BlockLadders mine = {first, step, left > 0 ? static_cast<int>((left - 1) / step) + 1 : 0};
  if (threadIdx.x == 0) shared.fresh = 0;
  __syncthreads();
  measure(statistics, mine, shared);
  group.sync();
  if (block == 0) add_blocks(kernel, cluster, shared);
  if (shared.fresh != 0) {
    if (first == 0) {
      const auto blocks = static_cast<unsigned>(min(statistics.ladders, std::int64_t{step}));
      wait_for_readers(kernel, blocks - 1);
    } else if (threadIdx.x == 0) {
      atomicAdd(&kernel.tickets[1], 1u);
    }
  }
  swap_ladders(kernel.swap, mine, shared.swap);
  group.sync();  // the parts of the others are no longer read, and all have swapped
  if (block != 0) return;
  meet(kernel, clusters);
  add_clusters(kernel, cluster, clusters, shared);
  if (!takes_last_ticket(kernel, clusters, shared)) return;
  if (threadIdx.x < LadderPhase::n_tickets) kernel.tickets[threadIdx.x] = 0;
  end_round(kernel.update);
#endif
}

// Whether the launch has room for the ladders, and the device for all blocks of it at once.
bool fits(const LadderPhase& kernel, std::int64_t clusters, Queue& queue) {
  const std::int64_t rungs = kernel.swap.rungs, ladders = kernel.statistics.ladders;
  constexpr std::int64_t blocks = blocks_of_cluster * LadderPhase::parts_of_rung;
  const std::int64_t most = (ladders + blocks - 1) / blocks;  // ladders of a block
  const bool matched = kernel.swap.mode == PairMode::all_pairs;
  return limits_of(queue).has_clusters() && kernel.update.plan.size > 0 && rungs <= max_rungs &&
         most <= max_block_ladders && (!matched || most * rungs <= max_block_rungs) &&
         clusters <= clusters_at_once(make_phase, threads, blocks_of_cluster);
}

}  // namespace

template <>
void launch(const LadderStatistics& kernel, Queue& queue);
template <>
void launch(const ReplicaSwap& kernel, Queue& queue);
template <>
void launch(const LadderUpdate& kernel, Queue& queue);

template <>
void launch(const LadderPhase& kernel, Queue& queue) {
  const std::int64_t ladders = kernel.statistics.ladders;
  if (ladders <= 0 || kernel.swap.rungs <= 0) return;
  const std::int64_t clusters = std::min<std::int64_t>(
      LadderPhase::parts_of_rung,
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ladders))));
  if (!fits(kernel, clusters, queue)) {
    launch(kernel.statistics, queue);
    launch(kernel.swap, queue);
    return launch(kernel.update, queue);
  }
  launch_in_clusters(make_phase, LadderPhase::name, blocks_of_cluster * clusters, threads,
                     blocks_of_cluster, queue, kernel);
}

}  // namespace kiln::cuda
