// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rank_tiles.cuh"

/// Ranks of large groups with two objectives: n log n.
///
/// In the order of the first objective the rank of a point is the number of fronts whose smallest
/// second value so far is at most that of the point. A block takes 128 points at once: bisection
/// finds their places among the fronts before the tile, all at the same time; the chains of the
/// tile, which other blocks have computed, give their effect on each other.
namespace kiln::cuda::detail {

using PatienceMemory = TileMemory<1>;

__global__ void __launch_bounds__(block_size)
    chain_tiles(const __grid_constant__ NondominatedRanks kernel,
                const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  __shared__ PatienceMemory memory;
  const PointGroups& groups = kernel.points.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const RankTile tile(scratch, groups, group, blockIdx.x);
    if (tile.live == 0) continue;
    find_chains(TilePoint<1>(scratch, tile, 1), tile, memory);
    for (int i = static_cast<int>(threadIdx.x); i < tile.live * rank_tile; i += block_size) {
      scratch.chains[tile.begin * rank_tile + i] =
          memory.chains.chain[i / rank_tile][i % rank_tile];
    }
    __syncthreads();
  }
}

// Past the cache of this multiprocessor, which does not see atomic operations.
__device__ inline std::uint64_t read_least(const std::uint64_t* least) {
  return __ldcg(reinterpret_cast<const unsigned long long*>(least));
}

// How many of the first n values, which rise, are at most x.
__device__ inline int fronts_up_to(const std::uint64_t* least, int n, std::uint64_t x) {
  int low = 0, high = n;
  while (high - low >= 4) {  // three reads at once, for each takes long
    const int quarter = (high - low) / 4, begin = low;
    const std::uint64_t a = read_least(least + begin + quarter);
    const std::uint64_t b = read_least(least + begin + 2 * quarter);
    const std::uint64_t c = read_least(least + begin + 3 * quarter);
    if (a <= x) low = begin + quarter + 1;
    if (b <= x) low = begin + 2 * quarter + 1;
    if (c <= x) low = begin + 3 * quarter + 1;
    if (c > x) high = begin + 3 * quarter;
    if (b > x) high = begin + 2 * quarter;
    if (a > x) high = begin + quarter;
  }
  int more = 0;
#pragma unroll
  for (int q = 0; q < 3; ++q) more += low + q < high && read_least(least + low + q) <= x ? 1 : 0;
  return low + more;
}

// The chains of a place and its half of the tile.
struct ChainRow {
  uint4 part[tile_half / 16];
  __device__ void load(const RankScratch& scratch, std::int64_t place, int half, bool there) {
    const auto* const from =
        reinterpret_cast<const uint4*>(scratch.chains + place * rank_tile + half * tile_half);
#pragma unroll
    for (int i = 0; i < tile_half / 16; ++i) part[i] = there ? from[i] : uint4{0, 0, 0, 0};
  }
  __device__ int rank(const int* base) const {
    int rank = 0;
#pragma unroll
    for (int i = 0; i < tile_half / 16; ++i) {
      rank = rank_through(part[i].x, base + 16 * i, rank);
      rank = rank_through(part[i].y, base + 16 * i + 4, rank);
      rank = rank_through(part[i].z, base + 16 * i + 8, rank);
      rank = rank_through(part[i].w, base + 16 * i + 12, rank);
    }
    return rank;
  }
};

// One block per group.
__global__ void __launch_bounds__(block_size)
    rank_by_patience(const __grid_constant__ NondominatedRanks kernel,
                     const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  __shared__ int base[rank_tile], of_half[rank_tile], fronts;
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t group = blockIdx.x;
  std::uint64_t* const least = scratch.least + groups.begin(group);
  if (threadIdx.x == 0) fronts = 0;
  ChainRow next;
  {
    const RankTile tile(scratch, groups, group, 0);
    next.load(scratch, tile.begin + tile.j, tile.half, tile.j < tile.live);
  }
  for (std::int64_t index = 0;; ++index) {
    const RankTile tile(scratch, groups, group, index);
    if (tile.live == 0) break;
    const std::int64_t place = tile.begin + tile.j;
    const ChainRow row = next;
    const RankTile after(scratch, groups, group, index + 1);
    next.load(scratch, place + rank_tile, tile.half, tile.j < after.live);
    const std::uint64_t x = tile.counts ? scratch.further[place] : 0;
    __syncthreads();  // fronts and their least values are those after the tile before
    if (tile.half == 0) base[tile.j] = tile.counts ? fronts_up_to(least, fronts, x) : 0;
    __syncthreads();
    int rank = row.rank(base + tile.half * tile_half);
    if (tile.half == 1) of_half[tile.j] = rank;
    __syncthreads();
    if (tile.half == 1) continue;
    rank = rank > of_half[tile.j] ? rank : of_half[tile.j];
    if (tile.counts) {
      scratch.rank[place] = rank;
      atomicMin(reinterpret_cast<unsigned long long*>(least + rank),
                static_cast<unsigned long long>(x));
    }
    const int greatest = __reduce_max_sync(full_warp, tile.counts ? rank + 1 : 0);
    if (threadIdx.x % warp_size == 0) atomicMax(&fronts, greatest);
  }
  __syncthreads();
  if (threadIdx.x == 0) scratch.groups[group].fronts = fronts;
}

}  // namespace kiln::cuda::detail

namespace kiln::cuda {

/// Enqueues the ranks of the feasible points of all groups.
inline void rank_two_objectives(const NondominatedRanks& kernel, const RankScratch& scratch,
                                cudaStream_t stream) {
  const PointGroups& groups = kernel.points.groups;
  detail::chain_tiles<<<group_grid(groups, rank_tile), block_size, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
  const auto blocks = static_cast<unsigned>(groups.groups);
  detail::rank_by_patience<<<blocks, block_size, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
}

}  // namespace kiln::cuda
