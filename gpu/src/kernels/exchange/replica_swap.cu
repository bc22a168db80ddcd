// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int max_ladders = 64;  // of a block
constexpr int max_rungs = static_cast<int>(ReplicaSwap::max_rungs);

// What a block adds up before it touches the counts of all. A pair gets at most max_ladders chances
// of up to 2^24, so 32 bits hold the sum.
struct BlockCounts {
  unsigned attempts[max_rungs], accepted[max_rungs], chance[max_rungs];
  unsigned phases, trips;
};
static_assert(ReplicaSwap::chance_bits + 6 < 32 && max_ladders == 1 << 6);

struct BlockLadders {
  int first[max_ladders], size[max_ladders], due[max_ladders];  // SwapPhase
  unsigned accepted[max_ladders];
};

// Ladders first .. first + count - 1 belong to a block. With all_pairs their rungs are ordered by
// counting how many words of the ladder are smaller: no serial shuffle, the same order as sorting.
__device__ void order_rungs(const ReplicaSwap& kernel, std::int64_t first, int count,
                            unsigned* words, unsigned short* order) {
  const int rungs = static_cast<int>(kernel.rungs);
  const int n = count * rungs, me = static_cast<int>(threadIdx.x);
  for (int i = me; i < n; i += block_size) {
    words[i] = kernel.matching_word(first + i / rungs, i % rungs);
  }
  __syncthreads();
  for (int i = me; i < n; i += block_size) {
    const int begin = i / rungs * rungs;
    int rank = 0;
    for (int k = begin; k < begin + rungs; ++k) {
      rank += words[k] < words[i] || (words[k] == words[i] && k < i) ? 1 : 0;
    }
    order[begin + rank] = static_cast<unsigned short>(i - begin);
  }
  __syncthreads();
}

__device__ void add(std::uint64_t& total, unsigned value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&total), value);
}

__device__ void flush(const SwapCounts& counts, const BlockCounts& block) {
  for (std::int64_t r = threadIdx.x; r < counts.attempts.size; r += block_size) {
    add(counts.attempts[r], block.attempts[r]);
    add(counts.accepted[r], block.accepted[r]);
    add(counts.chance[r], block.chance[r]);
  }
  if (threadIdx.x == 0) {
    add(counts.totals[0], block.phases);
    add(counts.totals[1], block.trips);
  }
}

// One launch for all ladders. A block has some whole ladders, a thread one of their pairs; pairs of
// a phase are disjoint, so they swap side by side. What passes between threads (phases, matching,
// slot_of at the ends) passes at barriers of the block.
__global__ void __launch_bounds__(block_size)
    swap_rungs(const __grid_constant__ ReplicaSwap kernel, int ladders_per_block) {
  if (!kernel.control->active(kernel.last_sweep())) return;
  __shared__ BlockCounts counts;
  __shared__ BlockLadders mine;
  __shared__ unsigned words[max_rungs];
  __shared__ unsigned short order[max_rungs];
  const int me = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * ladders_per_block;
  const std::int64_t left = kernel.ladders.size - first;
  const int count = left < ladders_per_block ? static_cast<int>(left) : ladders_per_block;

  for (int r = me; r < kernel.rungs; r += block_size) {
    counts.attempts[r] = counts.accepted[r] = counts.chance[r] = 0;
  }
  if (me == 0) counts.phases = counts.trips = 0;
  if (me < count) {
    const SwapPhase phase = kernel.begin(first + me);
    mine.first[me] = phase.first;
    mine.size[me] = phase.size;
    mine.due[me] = phase.due ? 1 : 0;
    mine.accepted[me] = 0;
  }
  __syncthreads();

  const bool matched = kernel.mode == PairMode::all_pairs;
  if (matched) order_rungs(kernel, first, count, words, order);
  const int rungs = static_cast<int>(kernel.rungs);
  const int pairs = rungs / 2;  // of a ladder, at most
  for (int i = me; i < count * pairs; i += block_size) {
    const int ladder = i / pairs, p = i % pairs;
    if (p >= mine.size[ladder]) continue;
    const int at = mine.first[ladder] + 2 * p;
    const int a = matched ? order[ladder * rungs + at] : at;
    const int b = matched ? order[ladder * rungs + at + 1] : at + 1;
    bool swapped = false;
    const std::uint64_t threshold = kernel.try_pair(first + ladder, a, b, swapped);
    if (swapped) atomicAdd(&mine.accepted[ladder], 1u);
    if (a - b != 1 && b - a != 1) continue;
    const int lower = a < b ? a : b;
    atomicAdd(&counts.attempts[lower], 1u);
    if (swapped) atomicAdd(&counts.accepted[lower], 1u);
    atomicAdd(&counts.chance[lower],
              static_cast<unsigned>(threshold >> (32 - ReplicaSwap::chance_bits)));
  }
  __syncthreads();

  if (me < count && mine.due[me] != 0) {
    const auto attempts = static_cast<std::uint32_t>(mine.size[me]);
    const std::uint32_t trips = kernel.end(first + me, attempts, mine.accepted[me]);
    atomicAdd(&counts.phases, 1u);
    if (trips != 0) atomicAdd(&counts.trips, trips);
  }
  __syncthreads();
  flush(kernel.counts, counts);
}

// Enough ladders for a thread per pair; 1024 rungs at most, as the shared arrays have it.
int ladders_of_block(const ReplicaSwap& kernel) {
  const std::int64_t pairs = std::max<std::int64_t>(1, kernel.rungs / 2);
  return static_cast<int>(std::clamp<std::int64_t>(block_size / pairs, 1, max_ladders));
}

}  // namespace

template <>
void launch(const ReplicaSwap& kernel, Queue& queue) {
  const std::int64_t ladders = kernel.ladders.size;
  if (ladders <= 0) return;
  const int per_block = ladders_of_block(kernel);
  const auto blocks = static_cast<unsigned>((ladders + per_block - 1) / per_block);
  swap_rungs<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, per_block);
  check_launch(ReplicaSwap::name);
}

}  // namespace kiln::cuda
