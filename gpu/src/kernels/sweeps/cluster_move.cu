// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/cluster_move.hpp"

#include "kernels/grid.cuh"
#include "kernels/sweeps/cluster_words.hpp"
#include "kernels/sweeps/clusters/cluster_blocks.hpp"

namespace kiln::cuda {
namespace {

constexpr int threads = 128;

// Sets of sites, a bit each, in shared memory.
struct SiteSets {
  unsigned* candidates;  // may join the cluster
  unsigned* cluster;
  unsigned* front;  // joined in the last pass: their neighbours are looked at
  unsigned* next;
  int words;
};

__device__ unsigned bit_of(const ClusterMove& kernel, std::int32_t variable, std::int32_t slot) {
  return (kernel.state(variable, slot / warp_size) >> (slot % warp_size)) & 1u;
}

// Which sites differ between two replicas, and in `cluster`, for the while, which have a variable.
// A warp takes a word of sites at a time. The other bits of the words of the state may change under
// it: they belong to pairs that other blocks move.
__device__ void mark_candidates(const ClusterMove& kernel, std::int32_t s, std::int32_t t,
                                const SiteSets& sets, unsigned& differing) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int w = static_cast<int>(threadIdx.x) / warp_size; w < sets.words;
       w += threads / warp_size) {
    const int site = w * warp_size + lane;
    const std::int32_t v = site < kernel.model.n_sites ? kernel.model.variable[site] : -1;
    const bool differs = v >= 0 && bit_of(kernel, v, s) != bit_of(kernel, v, t);
    const unsigned mask = __ballot_sync(full_warp, differs);
    const unsigned real = __ballot_sync(full_warp, v >= 0);
    if (lane == 0) {
      sets.candidates[w] = mask;
      sets.cluster[w] = real;
      if (mask != 0) atomicAdd(&differing, static_cast<unsigned>(__popc(mask)));
    }
  }
}

// Puts the candidate with number `left`, in the order of sites, into cluster and front.
__device__ void plant(const SiteSets& sets, unsigned left) {
  int w = 0;
  for (unsigned here = __popc(sets.candidates[0]); left >= here;
       here = __popc(sets.candidates[w])) {
    left -= here;
    ++w;
  }
  unsigned bits = sets.candidates[w];
  for (; left > 0; --left) bits &= bits - 1;
  const unsigned bit = bits & (~bits + 1u);
  sets.candidates[w] &= ~bit;
  sets.cluster[w] = sets.front[w] = bit;
}

// Lets the candidates beside the front join. A thread owns words threadIdx.x, threadIdx.x +
// threads,
// ... of front and cluster; candidates and next are shared and changed atomically.
__device__ bool advance_front(const PairwiseView& model, const SiteSets& sets) {
  bool grew = false;
  for (int w = static_cast<int>(threadIdx.x); w < sets.words; w += threads) {
    unsigned bits = sets.front[w];
    sets.front[w] = 0;
    for (; bits != 0; bits &= bits - 1) {
      const int site = w * warp_size + __ffs(static_cast<int>(bits)) - 1;
      for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
        const unsigned neighbor = model.entries[e].site;
        const unsigned bit = 1u << (neighbor % warp_size);
        const unsigned before = atomicAnd(&sets.candidates[neighbor / warp_size], ~bit);
        if ((before & bit) == 0) continue;
        atomicOr(&sets.next[neighbor / warp_size], bit);
        grew = true;
      }
    }
  }
  return grew;
}

__device__ void flip(const ClusterMove& kernel, std::int32_t variable, std::int32_t slot) {
  atomicXor(&kernel.state(variable, slot / warp_size), 1u << (slot % warp_size));
}

__device__ void add(std::uint64_t& total, unsigned value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), value);
}

__global__ void __launch_bounds__(block_size)
    prepare_moves(const __grid_constant__ ClusterMove kernel) {
  // How many ticks follow a stop depends on the clock, so they must leave no trace.
  if (kernel.control->stop != DeviceStop::none) return;
  for (std::int64_t i = thread_index(); i < kernel.moved.size; i += thread_count()) {
    kernel.moved[i] = 0;
  }
  if (!kernel.due()) return;
  for (std::int64_t r = thread_index(); r < kernel.rungs(); r += thread_count()) kernel.decide(r);
}

// A block per pair of replicas.
__global__ void __launch_bounds__(threads)
    move_clusters(const __grid_constant__ ClusterMove kernel, int words) {
  const std::int64_t rungs = kernel.rungs();
  const std::int64_t pair = blockIdx.x / rungs, rung = blockIdx.x % rungs;
  if (!kernel.due() || kernel.open[rung] == 0) return;
  extern __shared__ unsigned bits[];
  __shared__ unsigned differing, size;
  SiteSets sets{bits, bits + words, bits + 2 * words, bits + 3 * words, words};
  const int me = static_cast<int>(threadIdx.x);
  const std::int64_t a = kernel.number_at(2 * pair, rung), b = kernel.number_at(2 * pair + 1, rung);
  const std::int32_t s = kernel.slot_at(2 * pair, rung), t = kernel.slot_at(2 * pair + 1, rung);

  if (me == 0) differing = size = 0;
  __syncthreads();
  mark_candidates(kernel, s, t, sets, differing);
  __syncthreads();
  const auto n = static_cast<unsigned>(kernel.model.n_variables);
  const bool other = kernel.symmetric && 2 * differing > n;
  const unsigned count = other ? n - differing : differing;
  if (count == 0) return;
  for (int w = me; w < words; w += threads) {
    if (other) sets.candidates[w] = sets.cluster[w] & ~sets.candidates[w];
    sets.cluster[w] = sets.front[w] = sets.next[w] = 0;
  }
  __syncthreads();
  if (me == 0) plant(sets, kernel.seed_of(pair, rung, count));
  __syncthreads();
  while (__syncthreads_or(advance_front(kernel.model, sets) ? 1 : 0) != 0) {
    unsigned* const emptied = sets.front;
    sets.front = sets.next;
    sets.next = emptied;
    for (int w = me; w < words; w += threads) sets.cluster[w] |= sets.front[w];
  }

  unsigned mine = 0;
  for (int w = me; w < words; w += threads) mine += __popc(sets.cluster[w]);
  if (mine != 0) atomicAdd(&size, mine);
  __syncthreads();
  if (me == 0) {
    add(kernel.moves[rung], 1);
    add(kernel.sizes[rung], size);
  }
  if (size == n) return;
  if (me == 0) kernel.moved[a] = kernel.moved[b] = 1;
  for (int w = me; w < words; w += threads) {
    for (unsigned left = sets.cluster[w]; left != 0; left &= left - 1) {
      const int site = w * warp_size + __ffs(static_cast<int>(left)) - 1;
      const std::int32_t v = kernel.model.variable[site];
      flip(kernel, v, s);
      flip(kernel, v, t);
    }
  }
}

}  // namespace

template <>
void launch(const ClusterMove& kernel, Queue& queue) {
  if (kernel.moved.size <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  prepare_moves<<<blocks_for(kernel.moved.size), block_size, 0, stream>>>(kernel);
  check_launch(ClusterMove::name);
  const auto blocks = static_cast<unsigned>(kernel.ladders() / 2 * kernel.rungs());
  if (blocks == 0 || launch_cluster_blocks(kernel, queue)) return;
  if (launch_cluster_words(kernel, queue)) return;
  const int words = (kernel.model.n_sites + warp_size - 1) / warp_size;
  // Four sets of max_sites bits are 32 KiB: every device has that.
  const std::size_t bytes = 4 * sizeof(unsigned) * static_cast<std::size_t>(words);
  move_clusters<<<blocks, threads, bytes, stream>>>(kernel, words);
  check_launch(ClusterMove::name);
}

}  // namespace kiln::cuda
