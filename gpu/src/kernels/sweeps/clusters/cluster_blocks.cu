// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cluster_blocks.hpp"
#include "kernels/grid.cuh"

// A thread block has eight words of rungs, each with 16 pairs of replicas side by side. Two words
// make a column of 32 pairs: bit 2 p + h of column c is pair p of word 2 c + h. Sites lie in shared
// memory, four columns each, and clusters of all pairs grow at once.
namespace kiln::cuda {
namespace {

constexpr int threads = 1024;
constexpr int columns = 4;
constexpr int words = 2 * columns;
constexpr int stretches = threads / columns;          // of sites, for counts
constexpr int parts = threads / warp_size / columns;  // of the stretches, a warp each
constexpr int of_part = stretches / parts;            // stretches
constexpr int planes = 6;                             // of counters: 63 sites of a stretch
constexpr std::uint32_t first_word = 0x55555555u, second_word = ~first_word;

// Sets of sites, and the neighbours of each site.
struct Sites {
  uint4* candidates;          // [n_sites], columns
  uint4* cluster;             // [n_sites]
  std::uint32_t* counts;      // [planes][columns][stretches]
  std::uint32_t* begin;       // [n_sites + 1], of neighbours
  std::uint16_t* neighbours;  // sites
  int n_sites;

  __device__ Sites(unsigned char* memory, int n)
      : candidates(reinterpret_cast<uint4*>(memory)),
        cluster(candidates + n),
        counts(reinterpret_cast<std::uint32_t*>(cluster + n)),
        begin(counts + planes * columns * stretches),
        neighbours(reinterpret_cast<std::uint16_t*>(begin + n + 1)),
        n_sites(n) {}
  __device__ static std::uint32_t* columns_of(uint4* set) {
    return reinterpret_cast<std::uint32_t*>(set);
  }
  // Sites of a stretch: odd numbers, so that stretches begin in different banks.
  __device__ int length() const { return (n_sites + stretches - 1) / stretches | 1; }
};

std::int64_t bytes_for(const PairwiseView& model) {
  const std::int64_t n = model.n_sites;
  return 32 * n + 4 * planes * columns * stretches + 4 * (n + 1) + 2 * model.entries.size;
}

// What the threads of a block tell each other.
struct Masks {
  std::uint32_t open[columns];  // pairs that may move, by column
  std::uint32_t others[columns], moving[columns], flipping[columns];
  unsigned sums[parts][columns][warp_size];
};

// The pair of a lane: of warp `warp`, which has column warp % 4.
struct Pair {
  std::int64_t number, rung, pair;  // of the rung, in the ladder, of two ladders
  bool open;

  __device__ Pair(const ClusterMove& kernel, std::int64_t first, int column, int lane)
      : number(first + 2 * column + lane % 2) {
    const bool there = number < kernel.moved.size;
    rung = there ? number % kernel.rungs() : 0;
    pair = there ? number / kernel.rungs() * (ladders_of_block / 2) + lane / 2 : 0;
    open = there && kernel.open[rung] != 0;
  }
};

__device__ void load_neighbours(const PairwiseView& model, const Sites& sites) {
  for (int i = static_cast<int>(threadIdx.x); i <= sites.n_sites; i += threads) {
    sites.begin[i] = static_cast<std::uint32_t>(model.row_begin[i]);
  }
  for (std::int64_t e = threadIdx.x; e < model.entries.size; e += threads) {
    sites.neighbours[e] = static_cast<std::uint16_t>(model.entries[e].site);
  }
}

// Where the replicas of the pairs differ.
__device__ void mark_differing(const ClusterMove& kernel, std::int64_t first, const Masks& masks,
                               const Sites& sites) {
  const int column = static_cast<int>(threadIdx.x) % columns;
  const std::int64_t word = first + 2 * column;
  const bool one = word < kernel.moved.size, two = word + 1 < kernel.moved.size;
#pragma unroll 4
  for (int site = static_cast<int>(threadIdx.x) / columns; site < sites.n_sites;
       site += stretches) {
    const std::int32_t v = kernel.model.variable[site];
    const std::uint32_t a = one && v >= 0 ? kernel.state(v, word) : 0u;
    const std::uint32_t b = two && v >= 0 ? kernel.state(v, word + 1) : 0u;
    const std::uint32_t of_a = (a ^ a >> 1) & first_word, of_b = (b ^ b << 1) & second_word;
    Sites::columns_of(sites.candidates)[site * columns + column] =
        (of_a | of_b) & masks.open[column];
  }
}

// Counts a set by pair and stretch.
__device__ void count_stretches(uint4* set, const Sites& sites) {
  const int column = static_cast<int>(threadIdx.x) % columns;
  const int stretch = static_cast<int>(threadIdx.x) / columns;
  const int begin = min(stretch * sites.length(), sites.n_sites);
  const int end = min(begin + sites.length(), sites.n_sites);
  std::uint32_t counter[planes] = {};
  for (int site = begin; site < end; ++site) {
    std::uint32_t carry = Sites::columns_of(set)[site * columns + column];
#pragma unroll
    for (int k = 0; k < planes; ++k) {
      const std::uint32_t both = counter[k] & carry;
      counter[k] ^= carry;
      carry = both;
    }
  }
#pragma unroll
  for (int k = 0; k < planes; ++k) {
    sites.counts[(k * columns + column) * stretches + stretch] = counter[k];
  }
}

__device__ unsigned count_of(const Sites& sites, int column, int stretch, int lane) {
  unsigned count = 0;
#pragma unroll
  for (int k = 0; k < planes; ++k) {
    count += (sites.counts[(k * columns + column) * stretches + stretch] >> lane & 1u) << k;
  }
  return count;
}

// By all threads: the size of a set for the pair of each lane, and of the parts before its own.
__device__ unsigned total_of(uint4* set, const Sites& sites, Masks& masks, unsigned& before) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int column = warp % columns, part = warp / columns;
  count_stretches(set, sites);
  __syncthreads();
  unsigned mine = 0;
#pragma unroll 4
  for (int i = 0; i < of_part; ++i) {
    mine += count_of(sites, column, part * of_part + i, lane);
  }
  masks.sums[part][column][lane] = mine;
  __syncthreads();
  unsigned total = before = 0;
  for (int q = 0; q < parts; ++q) {
    if (q == part) before = total;
    total += masks.sums[q][column][lane];
  }
  return total;
}

// Turns the sets of some pairs into the sites that agree.
__device__ void choose_candidates(const PairwiseView& model, const Masks& masks,
                                  const Sites& sites) {
  const int column = static_cast<int>(threadIdx.x) % columns;
  for (int site = static_cast<int>(threadIdx.x) / columns; site < sites.n_sites;
       site += stretches) {
    std::uint32_t& set = Sites::columns_of(sites.candidates)[site * columns + column];
    set = model.variable[site] >= 0 ? (set ^ masks.others[column]) & masks.moving[column] : 0u;
    Sites::columns_of(sites.cluster)[site * columns + column] = 0;
  }
}

// Puts candidate `left` of the part into the cluster of the pair.
__device__ void plant(const Sites& sites, int column, int part, int lane, unsigned left) {
  int stretch = part * of_part;
  for (unsigned here = count_of(sites, column, stretch, lane); left >= here;
       here = count_of(sites, column, stretch, lane)) {
    left -= here;
    ++stretch;
  }
  int site = stretch * sites.length();
  for (;; ++site) {
    const std::uint32_t set = Sites::columns_of(sites.candidates)[site * columns + column];
    if ((set >> lane & 1u) != 0 && left-- == 0) break;
  }
  atomicOr(&Sites::columns_of(sites.cluster)[site * columns + column], 1u << lane);
}

__device__ uint4 operator|(const uint4& a, const uint4& b) {
  return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}
__device__ uint4 both(const uint4& a, const uint4& b) {
  return make_uint4(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w);
}
__device__ uint4 without(const uint4& a, const uint4& b) {
  return make_uint4(a.x & ~b.x, a.y & ~b.y, a.z & ~b.z, a.w & ~b.w);
}
__device__ bool any(const uint4& a) { return (a.x | a.y | a.z | a.w) != 0; }

// The sites of a thread, where all fit: what does not change is in registers.
constexpr int own_sites = 2, own_neighbours = 6;
// A cluster grows by one neighbour in a step, and steps need no barrier.
constexpr int steps_of_pass = 8;

// For each 32 sites, whether a cluster has grown beside one of them since their warp has looked.
using Notes = volatile unsigned char[own_sites * threads / warp_size];

struct Own {
  uint4 open = make_uint4(0, 0, 0, 0), cluster = open;
  int site, degree = 0;
  std::uint16_t neighbours[own_neighbours];

  __device__ Own(const Sites& sites, int at) : site(at) {
    if (site >= sites.n_sites) return;
    cluster = sites.cluster[site];
    open = without(sites.candidates[site], cluster);
    const std::uint32_t begin = sites.begin[site];
    degree = static_cast<int>(sites.begin[site + 1] - begin);
#pragma unroll
    for (int e = 0; e < own_neighbours; ++e) {
      neighbours[e] = e < degree ? sites.neighbours[begin + e] : std::uint16_t{0};
    }
  }
  // Lets candidates beside a cluster join it, and notes it for the neighbours.
  __device__ bool join(const Sites& sites, Notes& notes) {
    if (!any(open)) return false;
    uint4 beside = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int e = 0; e < own_neighbours; ++e) {
      if (e < degree) beside = beside | sites.cluster[neighbours[e]];
    }
    const uint4 fresh = both(open, beside);
    if (!any(fresh)) return false;
    cluster = cluster | fresh;
    open = without(open, fresh);
    sites.cluster[site] = cluster;
    __threadfence_block();  // who reads the note reads the cluster
#pragma unroll
    for (int e = 0; e < own_neighbours; ++e) {
      if (e < degree) notes[neighbours[e] / warp_size] = 1;
    }
    return true;
  }
};

// Lets candidates beside a cluster join it until none is left. A warp looks at its sites where that
// was noted. What it reads may be changed by others meanwhile, who then note it again.
__device__ void grow_own(const Sites& sites) {
  __shared__ Notes notes;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  Own own[own_sites] = {Own(sites, static_cast<int>(threadIdx.x)),
                        Own(sites, static_cast<int>(threadIdx.x) + threads)};
  if (threadIdx.x < own_sites * threads / warp_size) notes[threadIdx.x] = 1;
  __syncthreads();
  bool grew;
  do {
    grew = false;
#pragma unroll 1
    for (int step = 0; step < steps_of_pass; ++step) {
#pragma unroll
      for (int i = 0; i < own_sites; ++i) {
        volatile unsigned char& note = notes[i * (threads / warp_size) + warp];
        if (__shfl_sync(full_warp, static_cast<int>(note), 0) == 0) continue;
        if (threadIdx.x % warp_size == 0) note = 0;
        __threadfence_block();
        __syncwarp();
        grew |= own[i].join(sites, notes);
        __syncwarp();
      }
    }
  } while (__syncthreads_or(grew ? 1 : 0) != 0);
}

// The same for more sites, or more neighbours.
__device__ void grow_all(const Sites& sites) {
  bool grew;
  do {
    grew = false;
    for (int site = static_cast<int>(threadIdx.x); site < sites.n_sites; site += threads) {
      const uint4 cluster = sites.cluster[site];
      const uint4 open = without(sites.candidates[site], cluster);
      if (!any(open)) continue;
      uint4 beside = make_uint4(0, 0, 0, 0);
      for (std::uint32_t e = sites.begin[site]; e < sites.begin[site + 1]; ++e) {
        beside = beside | sites.cluster[sites.neighbours[e]];
      }
      const uint4 fresh = both(open, beside);
      if (!any(fresh)) continue;
      sites.cluster[site] = cluster | fresh;
      grew = true;
    }
  } while (__syncthreads_or(grew ? 1 : 0) != 0);
}

__device__ void grow(const Sites& sites) {
  bool many = sites.n_sites > own_sites * threads;
  for (int site = static_cast<int>(threadIdx.x); site < sites.n_sites; site += threads) {
    many |= sites.begin[site + 1] - sites.begin[site] > own_neighbours;
  }
  if (__syncthreads_or(many ? 1 : 0) != 0) {
    grow_all(sites);
  } else {
    grow_own(sites);
  }
}

__device__ void flip(const ClusterMove& kernel, std::int64_t first, const Masks& masks,
                     const Sites& sites) {
  const int column = static_cast<int>(threadIdx.x) % columns;
  const std::int64_t word = first + 2 * column;
  if (masks.flipping[column] == 0) return;
#pragma unroll 4
  for (int site = static_cast<int>(threadIdx.x) / columns; site < sites.n_sites;
       site += stretches) {
    const std::uint32_t set =
        Sites::columns_of(sites.cluster)[site * columns + column] & masks.flipping[column];
    const std::uint32_t of_a = set & first_word, of_b = set & second_word;
    if (set == 0) continue;
    const std::int32_t v = kernel.model.variable[site];
    if (of_a != 0) kernel.state(v, word) ^= of_a | of_a << 1;
    if (of_b != 0) kernel.state(v, word + 1) ^= of_b | of_b >> 1;
  }
}

// By a warp: counts the moves of its column.
__device__ void add_moves(const ClusterMove& kernel, const Pair& pair, bool moves, unsigned size) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const unsigned moving = __ballot_sync(full_warp, moves);
  const std::uint32_t mine = lane % 2 == 0 ? first_word : second_word;
  const unsigned sites = __reduce_add_sync(mine, moves ? size : 0u);
  const unsigned count = static_cast<unsigned>(__popc(moving & mine));
  if (lane >= 2 || count == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.moves[pair.rung]), count);
  atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.sizes[pair.rung]), sites);
}

__global__ void __launch_bounds__(threads) move_blocks(const __grid_constant__ ClusterMove kernel) {
  if (!kernel.due()) return;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Masks masks;
  const Sites sites(memory, kernel.model.n_sites);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int column = warp % columns, part = warp / columns;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * words;
  const Pair pair(kernel, first, column, lane);
  const unsigned open = __ballot_sync(full_warp, pair.open);
  if (part == 0 && lane == 0) masks.open[column] = open;
  if (__syncthreads_or(open != 0 ? 1 : 0) == 0) return;
  load_neighbours(kernel.model, sites);
  mark_differing(kernel, first, masks, sites);
  __syncthreads();

  unsigned before;
  const auto n = static_cast<unsigned>(kernel.model.n_variables);
  const unsigned differing = total_of(sites.candidates, sites, masks, before);
  const bool other = kernel.symmetric && 2 * differing > n;
  const unsigned count = other ? n - differing : differing;
  const bool moves = pair.open && count > 0;
  const unsigned others = __ballot_sync(full_warp, other), moving = __ballot_sync(full_warp, moves);
  if (part == 0 && lane == 0) {
    masks.others[column] = others;
    masks.moving[column] = moving;
  }
  __syncthreads();
  choose_candidates(kernel.model, masks, sites);
  __syncthreads();
  total_of(sites.candidates, sites, masks, before);
  const unsigned seed = moves ? kernel.seed_of(pair.pair, pair.rung, count) : 0;
  if (moves && seed >= before && seed - before < masks.sums[part][column][lane]) {
    plant(sites, column, part, lane, seed - before);
  }
  __syncthreads();
  grow(sites);

  const unsigned size = total_of(sites.cluster, sites, masks, before);
  const unsigned flipping = __ballot_sync(full_warp, moves && size != n);
  if (part == 0) {
    if (lane == 0) masks.flipping[column] = flipping;
    add_moves(kernel, pair, moves, size);
    if (lane < 2 && (flipping & (lane == 0 ? first_word : second_word)) != 0) {
      kernel.moved[pair.number] = 1;
    }
  }
  __syncthreads();
  flip(kernel, first, masks, sites);
}

}  // namespace

bool launch_cluster_blocks(const ClusterMove& kernel, Queue& queue) {
  const PairwiseView& model = kernel.model;
  if (!kernel.in_blocks || model.n_sites >= stretches * (1 << planes) - stretches) return false;
  const std::int64_t bytes = bytes_for(model);
  constexpr auto fixed = static_cast<std::int64_t>(sizeof(Masks) + sizeof(Notes));
  if (bytes > limits_of(queue).shared_bytes - fixed) return false;
  const auto blocks = static_cast<unsigned>((kernel.moved.size + words - 1) / words);
  reserve_shared(queue, move_blocks, static_cast<std::size_t>(bytes), ClusterMove::name);
  move_blocks<<<blocks, threads, static_cast<std::size_t>(bytes), stream_of(queue)>>>(kernel);
  check_launch(ClusterMove::name);
  return true;
}

}  // namespace kiln::cuda
