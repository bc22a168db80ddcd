// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cluster_words.hpp"
#include "kernels/grid.cuh"

// A block moves the clusters of 32 pairs, a bit each in words of sites. A warp has a stretch of
// sites, a lane of it is one of the pairs where pairs differ and a site where clusters grow.
namespace kiln::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;

// The pair of a lane.
struct Pair {
  std::int64_t number = 0, rung = 0;  // of two ladders, within them
  std::int64_t a = 0, b = 0;          // their rung numbers
  std::int32_t s = 0, t = 0;          // slots
  bool open = false;

  __device__ Pair(const ClusterMove& kernel, std::int64_t index) {
    const std::int64_t rungs = kernel.rungs();
    if (index >= kernel.ladders() / 2 * rungs) return;
    if (kernel.in_blocks) {  // side by side in a word
      constexpr std::int64_t of_word = ladders_of_block / 2;
      const std::int64_t word = index / of_word;
      number = word / rungs * of_word + index % of_word;
      rung = word % rungs;
    } else {
      number = index / rungs;
      rung = index % rungs;
    }
    a = kernel.number_at(2 * number, rung);
    b = kernel.number_at(2 * number + 1, rung);
    s = kernel.slot_at(2 * number, rung);
    t = kernel.slot_at(2 * number + 1, rung);
    open = kernel.open[rung] != 0;
  }
};

struct Sets {
  std::uint32_t* candidates;        // [n_sites]
  volatile std::uint32_t* cluster;  // [n_sites]
  unsigned (*counts)[warp_size];    // [warps], of a stretch by pair
};

struct Stretch {
  int begin, end;  // sites
  __device__ Stretch(int n_sites, int warp) {
    const int length = (n_sites + warps - 1) / warps;
    begin = min(warp * length, n_sites);
    end = min(begin + length, n_sites);
  }
};

__device__ std::uint32_t bit_of(const ClusterMove& kernel, std::int32_t variable,
                                std::int32_t slot) {
  return kernel.state(variable, slot / warp_size) >> (slot % warp_size) & 1u;
}

// Sums the counts of all stretches; `before` are those of earlier stretches.
__device__ unsigned total_of(const Sets& sets, int warp, int lane, unsigned& before) {
  unsigned total = before = 0;
  for (int w = 0; w < warps; ++w) {
    if (w == warp) before = total;
    total += sets.counts[w][lane];
  }
  return total;
}

// Which sites differ. Other blocks may change the other bits of a word meanwhile.
__device__ unsigned mark_differing(const ClusterMove& kernel, const Pair& pair,
                                   const Stretch& stretch, const Sets& sets) {
  unsigned count = 0;
  for (int site = stretch.begin; site < stretch.end; ++site) {
    const std::int32_t v = kernel.model.variable[site];
    const bool differs =
        pair.open && v >= 0 && bit_of(kernel, v, pair.s) != bit_of(kernel, v, pair.t);
    count += differs ? 1u : 0u;
    const unsigned mask = __ballot_sync(full_warp, differs);
    if (threadIdx.x % warp_size == 0) sets.candidates[site] = mask;
  }
  return count;
}

// Turns the sites of `other` pairs into those that agree, and counts them again.
__device__ unsigned choose_candidates(const ClusterMove& kernel, const Stretch& stretch,
                                      unsigned others, unsigned open, const Sets& sets) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  unsigned count = 0;
  for (int site = stretch.begin; site < stretch.end; ++site) {
    const bool real = kernel.model.variable[site] >= 0;
    const unsigned mask = real ? (sets.candidates[site] ^ others) & open : 0u;
    count += mask >> lane & 1u;
    __syncwarp();
    if (lane == 0) {
      sets.candidates[site] = mask;
      sets.cluster[site] = 0;
    }
  }
  return count;
}

// Puts the candidate with number `left` of the stretch into the pair's cluster.
__device__ void plant(const Stretch& stretch, unsigned left, bool mine, const Sets& sets) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int site = stretch.begin; site < stretch.end; ++site) {
    const bool here = mine && (sets.candidates[site] >> lane & 1u) != 0;
    const unsigned seeds = __ballot_sync(full_warp, here && left == 0);
    if (here) --left;
    if (lane == 0 && seeds != 0) sets.cluster[site] = sets.cluster[site] | seeds;
  }
}

// Lets candidates beside a cluster join it until none is left. What a thread reads of the others
// may be of this pass or of the last one: clusters only grow.
__device__ void grow(const PairwiseView& model, const Sets& sets) {
  bool grew;
  do {
    grew = false;
    for (int site = static_cast<int>(threadIdx.x); site < model.n_sites; site += threads) {
      const std::uint32_t cluster = sets.cluster[site];
      const std::uint32_t open = sets.candidates[site] & ~cluster;
      if (open == 0) continue;
      std::uint32_t beside = 0;
      for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
        beside |= sets.cluster[model.entries[e].site];
      }
      if ((open & beside) == 0) continue;
      sets.cluster[site] = cluster | (open & beside);
      grew = true;
    }
  } while (__syncthreads_or(grew ? 1 : 0) != 0);
}

__device__ unsigned size_of(const Stretch& stretch, const Sets& sets) {
  unsigned size = 0;
  for (int site = stretch.begin; site < stretch.end; ++site) {
    size += sets.cluster[site] >> (threadIdx.x % warp_size) & 1u;
  }
  return size;
}

// Flips the cluster in one replica of each pair. Lanes whose replicas share a word change it once.
__device__ void flip(const ClusterMove& kernel, const Stretch& stretch, std::int32_t slot,
                     unsigned moving, const Sets& sets) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int32_t word = slot / warp_size;
  const unsigned peers = __match_any_sync(full_warp, word);
  const bool leads = lane == __ffs(static_cast<int>(peers)) - 1;
  for (int site = stretch.begin; site < stretch.end; ++site) {
    const unsigned flipped = sets.cluster[site] & moving;
    if (flipped == 0) continue;
    const std::uint32_t bit = (flipped >> lane & 1u) << (slot % warp_size);
    const std::uint32_t bits = __reduce_or_sync(peers, bit);
    if (leads && bits != 0) atomicXor(&kernel.state(kernel.model.variable[site], word), bits);
  }
}

__device__ void add(std::uint64_t& total, unsigned value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), value);
}

__global__ void __launch_bounds__(threads) move_words(const __grid_constant__ ClusterMove kernel) {
  if (!kernel.due()) return;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const Pair pair(kernel, static_cast<std::int64_t>(blockIdx.x) * warp_size + lane);
  if (__any_sync(full_warp, pair.open) == 0) return;  // all warps have the same pairs
  extern __shared__ std::uint32_t words[];
  __shared__ unsigned counts[warps][warp_size];
  const int n_sites = kernel.model.n_sites;
  const Sets sets{words, words + n_sites, counts};
  const Stretch stretch(n_sites, warp);
  const auto n = static_cast<unsigned>(kernel.model.n_variables);

  unsigned before;
  counts[warp][lane] = mark_differing(kernel, pair, stretch, sets);
  __syncthreads();
  const unsigned differing = total_of(sets, warp, lane, before);
  const bool other = kernel.symmetric && 2 * differing > n;
  const unsigned count = other ? n - differing : differing;
  const bool moves = pair.open && count > 0;
  const unsigned moving = __ballot_sync(full_warp, moves);
  __syncthreads();
  counts[warp][lane] =
      choose_candidates(kernel, stretch, __ballot_sync(full_warp, other), moving, sets);
  __syncthreads();
  total_of(sets, warp, lane, before);
  const unsigned seed = moves ? kernel.seed_of(pair.number, pair.rung, count) : 0;
  const bool mine = moves && seed >= before && seed - before < counts[warp][lane];
  plant(stretch, seed - before, mine, sets);
  __syncthreads();
  grow(kernel.model, sets);

  counts[warp][lane] = size_of(stretch, sets);
  __syncthreads();
  const unsigned size = total_of(sets, warp, lane, before);
  const unsigned flipping = __ballot_sync(full_warp, moves && size != n);
  if (warp == 0 && moves) {
    add(kernel.moves[pair.rung], 1);
    add(kernel.sizes[pair.rung], size);
    if (size != n) kernel.moved[pair.a] = kernel.moved[pair.b] = 1;
  }
  flip(kernel, stretch, pair.s, flipping, sets);
  flip(kernel, stretch, pair.t, flipping, sets);
}

}  // namespace

bool launch_cluster_words(const ClusterMove& kernel, Queue& queue) {
  const std::int64_t bytes = std::int64_t{kernel.model.n_sites} * 8;
  if (bytes > limits_of(queue).shared_bytes - 2048) return false;
  const std::int64_t pairs = kernel.ladders() / 2 * kernel.rungs();
  const auto blocks = static_cast<unsigned>((pairs + warp_size - 1) / warp_size);
  reserve_shared(queue, move_words, static_cast<std::size_t>(bytes), ClusterMove::name);
  move_words<<<blocks, threads, static_cast<std::size_t>(bytes), stream_of(queue)>>>(kernel);
  check_launch(ClusterMove::name);
  return true;
}

}  // namespace kiln::cuda
