// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rank_order.cuh"

/// Ranks of large groups, three objectives and more, and the longest chains within a tile of places
/// that two objectives need as well.
namespace kiln::cuda {

inline constexpr int rank_tile = RankScratch::tile;
inline constexpr int tile_half =
    rank_tile / 2;  // of a tile, for each of the two threads of a place
static_assert(block_size == 2 * rank_tile && tile_half == 64);

/// The number of objectives after the first if the compiler knows it, so that those of a point stay
/// in registers.
inline constexpr int any_number = 0;

/// Calls each(i) for the i of from, ..., from + n - 1 that dominate a point, all of which come
/// before it. Further objectives of the point are in `mine`, those of the others at other[k *
/// stride + i].
template <int further, class Each>
__device__ void each_dominator(const std::uint64_t (&mine)[further], const std::uint64_t* other,
                               int stride, int from, int n, Each each) {
#pragma unroll 8
  for (int i = from; i < from + n; ++i) {
    bool below = true;
#pragma unroll
    for (int k = 0; k < further; ++k) below &= other[k * stride + i] <= mine[k];
    if (below) each(i);
  }
}

/// The same for any number of objectives, n <= 64: of_mine(k) and of_other(k, i) give the values.
template <class OfMine, class OfOther, class Each>
__device__ void each_dominator(std::int64_t further, OfMine of_mine, OfOther of_other, int from,
                               int n, Each each) {
  unsigned long long above = 0;  // bit i: greater in some objective
  const unsigned long long all = ~0ull >> (64 - n);
  for (std::int64_t k = 0; k < further && above != all; ++k) {
    const std::uint64_t x = of_mine(k);
    for (int i = 0; i < n; ++i) {
      if (of_other(k, from + i) > x) above |= 1ull << i;
    }
  }
  for (int i = 0; i < n; ++i) {
    if ((above >> i & 1) == 0) each(from + i);
  }
}

/// The longest chains within a tile: chain[j][i] is one more than the number of steps from place i
/// to place j, or 0 if i is not above j. They do not depend on earlier tiles.
struct TileChains {
  static constexpr int stride = rank_tile + 4;  // so that rows begin in different banks
  unsigned below[rank_tile][rank_tile / 32];    // bit i of row j: place i dominates place j
  __align__(16) std::uint8_t chain[rank_tile][stride];

  /// Notes that the i < j of `mask`, counted from half * 64, dominate j.
  __device__ void set_dominators(int j, int half, unsigned long long mask) {
    below[j][2 * half] = static_cast<unsigned>(mask);
    below[j][2 * half + 1] = static_cast<unsigned>(mask >> 32);
  }
  /// Called by all threads after a barrier. Thread i follows the chains from place i, which only it
  /// accesses.
  __device__ void follow(int live) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= rank_tile) return;
    for (int j = 0; j < live; ++j) {
      unsigned longest = 0;
      for (int word = 0; word <= j / 32; ++word) {
        for (unsigned bits = below[j][word]; bits != 0; bits &= bits - 1) {
          const unsigned through = chain[word * 32 + __ffs(static_cast<int>(bits)) - 1][i];
          longest = through > longest ? through : longest;
        }
      }
      chain[j][i] = static_cast<std::uint8_t>(i == j ? 1 : longest > 0 ? longest + 1 : 0);
    }
  }
};

/// The rank of place j through 4 places of its tile, whose ranks without the tile are `base`;
/// `steps` holds their four chains.
__device__ inline int rank_through(unsigned steps, const int* base, int rank) {
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int chain = static_cast<int>(steps >> (8 * b) & 255u);
    const int through = base[b] + chain - 1;
    if (chain > 0 && through > rank) rank = through;
  }
  return rank;
}

/// A tile of a group and the two threads of each of its places.
struct RankTile {
  __device__ RankTile(const RankScratch& scratch, const PointGroups& groups, std::int64_t group_,
                      std::int64_t index_)
      : group(group_),
        index(index_),
        group_begin(groups.begin(group_)),
        begin(group_begin + index_ * rank_tile) {
    const std::int64_t left = scratch.groups[group].feasible - index * rank_tile;
    live = left < rank_tile ? static_cast<int>(left > 0 ? left : 0) : rank_tile;
    j = static_cast<int>(threadIdx.x) % rank_tile;
    half = static_cast<int>(threadIdx.x) / rank_tile;
    // A repeated point has ~0, as has what lies beyond the feasible ones.
    counts = j < live && scratch.further[begin + j] != ~0ull;
  }
  std::int64_t group, index, group_begin, begin;
  int live;  // feasible places of the tile
  int j, half;
  bool counts;  // whether there is a point at place j, not seen before
};

template <int further>
struct TileMemory {
  static constexpr int kept = further > 0 ? further : 1;
  std::uint64_t other[kept][rank_tile];
  int other_rank[rank_tile];
  int base[rank_tile];
  int of_half[2][rank_tile];
  TileChains chains;
  unsigned ticket;
};

/// The values that one place is compared by.
template <int further>
class TilePoint {
 public:
  __device__ TilePoint(const RankScratch& scratch, const RankTile& tile, std::int64_t n_further)
      : scratch_(scratch), place_(tile.begin + tile.j), counts_(tile.counts), n_(n_further) {
    if constexpr (further > 0) {
#pragma unroll
      for (int k = 0; k < further; ++k) {
        mine_[k] = counts_ ? scratch.further[k * scratch.columns + place_] : 0;  // 0: below all
      }
    }
  }
  /// Values of a tile, into shared memory; by the first threads of the block.
  __device__ void load(std::int64_t begin, int live, TileMemory<further>& memory) const {
    if constexpr (further > 0) {
      const int i = static_cast<int>(threadIdx.x);
      if (i >= rank_tile) return;
#pragma unroll
      for (int k = 0; k < further; ++k) {
        memory.other[k][i] = i < live ? scratch_.further[k * scratch_.columns + begin + i] : ~0ull;
      }
    }
  }
  /// Calls each(i) for the places of this thread's half of a tile that dominate its point.
  template <class Each>
  __device__ void each(std::int64_t begin, int live, int half, const TileMemory<further>& memory,
                       Each each_one) const {
    const int from = half * tile_half;
    if constexpr (further > 0) {
      each_dominator(mine_, &memory.other[0][0], rank_tile, from, tile_half, each_one);
    } else {
      const int n = live - from < tile_half ? live - from : tile_half;
      if (!counts_ || n <= 0) return;
      each_dominator(
          n_, [&](std::int64_t k) { return scratch_.further[k * scratch_.columns + place_]; },
          [&](std::int64_t k, int i) { return scratch_.further[k * scratch_.columns + begin + i]; },
          from, n, each_one);
    }
  }

 private:
  const RankScratch& scratch_;
  std::int64_t place_;
  bool counts_;
  std::int64_t n_;
  std::uint64_t mine_[TileMemory<further>::kept];
};

/// Chains of a tile, by all threads of a block; ends with a barrier.
template <int further>
__device__ void find_chains(const TilePoint<further>& point, const RankTile& tile,
                            TileMemory<further>& memory) {
  point.load(tile.begin, tile.live, memory);
  __syncthreads();
  unsigned long long mask = 0;
  point.each(tile.begin, tile.live, tile.half, memory, [&](int i) {
    if (i < tile.j) mask |= 1ull << (i - tile.half * tile_half);
  });
  memory.chains.set_dominators(tile.j, tile.half, mask);
  __syncthreads();
  memory.chains.follow(tile.live);
  __syncthreads();
}

namespace detail {

/// Settles the ranks of a tile once those of all earlier tiles are known. A rank is its own flag:
/// readers poll it until it is set, and blocks exchange nothing else.
template <int further>
__device__ void settle_tile(const RankScratch& scratch, const RankTile& tile,
                            std::int64_t n_further, TileMemory<further>& memory) {
  const TilePoint<further> point(scratch, tile, n_further);
  find_chains(point, tile, memory);
  int best = 0;
  for (std::int64_t before = 0; before < tile.index; ++before) {
    const std::int64_t begin = tile.group_begin + before * rank_tile;
    point.load(begin, rank_tile, memory);
    if (threadIdx.x < rank_tile) {
      const volatile int* const rank = scratch.rank + begin + threadIdx.x;
      int known = *rank;
      while (known < 0) known = *rank;
      memory.other_rank[threadIdx.x] = known;
    }
    __syncthreads();
    point.each(begin, rank_tile, tile.half, memory, [&](int i) {
      const int through = memory.other_rank[i] + 1;
      best = through > best ? through : best;
    });
    __syncthreads();
  }
  memory.of_half[tile.half][tile.j] = best;
  __syncthreads();
  if (tile.half == 0) {
    memory.base[tile.j] = best > memory.of_half[1][tile.j] ? best : memory.of_half[1][tile.j];
  }
  __syncthreads();
  int rank = 0;
  for (int i = tile.half * tile_half; i < (tile.half + 1) * tile_half; i += 4) {
    const auto steps = *reinterpret_cast<const unsigned*>(&memory.chains.chain[tile.j][i]);
    rank = rank_through(steps, memory.base + i, rank);
  }
  memory.of_half[tile.half][tile.j] = rank;
  __syncthreads();
  if (tile.half != 0) return;
  rank = rank > memory.of_half[1][tile.j] ? rank : memory.of_half[1][tile.j];
  if (tile.counts) *static_cast<volatile int*>(scratch.rank + tile.begin + tile.j) = rank;
  const int greatest = __reduce_max_sync(full_warp, tile.counts ? rank + 1 : 0);
  if (threadIdx.x % warp_size == 0) atomicMax(&scratch.groups[tile.group].fronts, greatest);
}

/// Blocks take tiles in order, so that the tiles that one waits for are always in progress.
template <int further>
__global__ void __launch_bounds__(block_size)
    rank_tiles(const __grid_constant__ NondominatedRanks kernel,
               const __grid_constant__ RankScratch scratch) {
  if (!kernel.active()) return;
  __shared__ TileMemory<further> memory;
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t tiles = (groups.size + rank_tile - 1) / rank_tile * groups.groups;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) memory.ticket = atomicAdd(scratch.ticket, 1u);
    __syncthreads();
    const std::int64_t ticket = memory.ticket;
    if (ticket >= tiles) return;
    // Groups take turns: while one waits for its ranks, others go on.
    const RankTile tile(scratch, groups, ticket % groups.groups, ticket / groups.groups);
    if (tile.live == 0) continue;
    settle_tile<further>(scratch, tile, kernel.points.objectives() - 1, memory);
  }
}

}  // namespace detail

/// Enqueues the ranks of the feasible points of all groups.
template <int further>
void rank_by_tiles(const NondominatedRanks& kernel, const RankScratch& scratch,
                   cudaStream_t stream) {
  const PointGroups& groups = kernel.points.groups;
  const std::int64_t tiles = (groups.size + rank_tile - 1) / rank_tile * groups.groups;
  // Two blocks of a multiprocessor keep it busy; more would only wait, and slow down the block that
  // the others wait for.
  const std::int64_t blocks = std::min<std::int64_t>(tiles, filling_blocks / 4);
  detail::rank_tiles<further>
      <<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(kernel, scratch);
  check_launch(NondominatedRanks::name);
}

}  // namespace kiln::cuda
