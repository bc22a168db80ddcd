// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/replica_swap.hpp"

/// The swap phase of the ladders of a thread block. A thread has one of their pairs; pairs of a
/// phase are disjoint, so they swap side by side. Of a block of 32 ladders (LadderPlaces) a lane
/// has one ladder and a warp some pairs of rungs.
namespace kiln::cuda {
namespace {

constexpr int max_block_ladders = 64;
static_assert(ladders_of_block == warp_size && ladders_of_block <= max_block_ladders);
constexpr int max_block_rungs = 1024;  // of all ladders of a block together, to match all pairs

// Ladders first, first + step, ... belong to a block.
struct BlockLadders {
  std::int64_t first, step;
  int count;

  __device__ std::int64_t number(int i) const { return first + i * step; }
};

// What a block adds up before it touches the counts of all, and what passes between its threads. A
// pair gets at most max_block_ladders chances of up to 2^24, so 32 bits hold the sum.
template <int kMaxRungs>
struct SwapMemory {
  unsigned attempts[kMaxRungs], accepted[kMaxRungs], chance[kMaxRungs];
  unsigned phases, trips;
  int first[max_block_ladders], size[max_block_ladders], due[max_block_ladders];  // SwapPhase
  unsigned swapped[max_block_ladders];
  unsigned words[max_block_rungs];
  unsigned short order[max_block_rungs];
};
static_assert(ReplicaSwap::chance_bits + 6 < 32 && max_block_ladders == 1 << 6);

// With all_pairs the rungs of a ladder are ordered by counting how many of its words are smaller:
// no serial shuffle, the same order as sorting.
template <int kMaxRungs>
__device__ void order_rungs(const ReplicaSwap& kernel, const BlockLadders& mine,
                            SwapMemory<kMaxRungs>& shared) {
  const int rungs = static_cast<int>(kernel.rungs), threads = static_cast<int>(blockDim.x);
  const int n = mine.count * rungs, me = static_cast<int>(threadIdx.x);
  for (int i = me; i < n; i += threads) {
    shared.words[i] = kernel.matching_word(mine.number(i / rungs), i % rungs);
  }
  __syncthreads();
  for (int i = me; i < n; i += threads) {
    const int begin = i / rungs * rungs;
    const unsigned word = shared.words[i];
    int rank = 0;
    for (int k = begin; k < begin + rungs; ++k) {
      rank += shared.words[k] < word || (shared.words[k] == word && k < i) ? 1 : 0;
    }
    shared.order[begin + rank] = static_cast<unsigned short>(i - begin);
  }
  __syncthreads();
}

template <int kMaxRungs>
__device__ void begin_phases(const ReplicaSwap& kernel, const BlockLadders& mine,
                             SwapMemory<kMaxRungs>& shared) {
  const int me = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int r = me; r < kernel.rungs; r += threads) {
    shared.attempts[r] = shared.accepted[r] = shared.chance[r] = 0;
    if (kernel.in_blocks()) kernel.blocks.swapping[kernel.places().number_at(mine.first, r)] = 0;
  }
  if (me == 0) shared.phases = shared.trips = 0;
  if (me >= mine.count) return;
  const SwapPhase phase = kernel.begin(mine.number(me));
  shared.first[me] = phase.first;
  shared.size[me] = phase.size;
  shared.due[me] = phase.due ? 1 : 0;
  shared.swapped[me] = 0;
}

template <int kMaxRungs>
__device__ void try_pairs(const ReplicaSwap& kernel, const BlockLadders& mine,
                          SwapMemory<kMaxRungs>& shared) {
  const bool matched = kernel.mode == PairMode::all_pairs;
  const int rungs = static_cast<int>(kernel.rungs);
  const int pairs = rungs / 2;  // of a ladder, at most
  const int threads = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < mine.count * pairs; i += threads) {
    const int ladder = i / pairs, p = i % pairs;
    if (p >= shared.size[ladder]) continue;
    const int at = shared.first[ladder] + 2 * p;
    const int a = matched ? shared.order[ladder * rungs + at] : at;
    const int b = matched ? shared.order[ladder * rungs + at + 1] : at + 1;
    bool swapped = false;
    const std::uint64_t threshold = kernel.try_pair(mine.number(ladder), a, b, swapped);
    if (swapped) atomicAdd(&shared.swapped[ladder], 1u);
    if (a - b != 1 && b - a != 1) continue;
    const int lower = a < b ? a : b;
    atomicAdd(&shared.attempts[lower], 1u);
    if (swapped) atomicAdd(&shared.accepted[lower], 1u);
    atomicAdd(&shared.chance[lower],
              static_cast<unsigned>(threshold >> (32 - ReplicaSwap::chance_bits)));
  }
}

// Ladders of a block may try different pairs. A lower rung occurs in one round of one warp only, so
// its first lane writes what the lanes with this rung have in common.
template <int kMaxRungs>
__device__ void try_block_pairs(const ReplicaSwap& kernel, const BlockLadders& mine,
                                SwapMemory<kMaxRungs>& shared) {
  const bool matched = kernel.mode == PairMode::all_pairs;
  const int pairs = static_cast<int>(kernel.rungs) / 2;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int size = shared.size[lane], first = shared.first[lane];
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  for (int p = static_cast<int>(threadIdx.x) / warp_size; p < pairs; p += warps) {
    const unsigned trying = __ballot_sync(full_warp, p < size);
    if (p >= size) continue;
    const int at = first + 2 * p;
    const int a = matched ? shared.order[at] : at, b = matched ? shared.order[at + 1] : at + 1;
    bool swapped = false;
    const std::uint64_t threshold = kernel.try_pair(mine.number(lane), a, b, swapped);
    if (swapped) atomicAdd(&shared.swapped[lane], 1u);
    const int lower = min(a, b);
    const unsigned peers = __match_any_sync(trying, lower);
    const unsigned mask = __ballot_sync(trying, swapped) & peers;
    const unsigned chance = __reduce_add_sync(
        peers, static_cast<unsigned>(threshold >> (32 - ReplicaSwap::chance_bits)));
    if (lane != __ffs(static_cast<int>(peers)) - 1) continue;
    const std::int64_t number = kernel.places().number_at(mine.first, lower);
    kernel.blocks.swapping[number] = mask;
    if (mask != 0 && kernel.blocks.partner) kernel.blocks.partner[number] = max(a, b);
    if (a - b != 1 && b - a != 1) continue;
    shared.attempts[lower] = static_cast<unsigned>(__popc(peers));
    shared.accepted[lower] = static_cast<unsigned>(__popc(mask));
    shared.chance[lower] = chance;
  }
}

__device__ inline void add_count(std::uint64_t& total, unsigned value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&total), value);
}

template <int kMaxRungs>
__device__ void add_counts(const SwapCounts& counts, const SwapMemory<kMaxRungs>& shared) {
  for (std::int64_t r = threadIdx.x; r < counts.attempts.size; r += blockDim.x) {
    add_count(counts.attempts[r], shared.attempts[r]);
    add_count(counts.accepted[r], shared.accepted[r]);
    add_count(counts.chance[r], shared.chance[r]);
  }
  if (threadIdx.x == 0) {
    add_count(counts.totals[0], shared.phases);
    add_count(counts.totals[1], shared.trips);
  }
}

// One phase of the ladders of a thread block: some whole ladders, or a block of 32. What passes
// between threads (phases, matching, slot_of at the ends) passes at barriers of the block.
template <int kMaxRungs>
__device__ void swap_ladders(const ReplicaSwap& kernel, const BlockLadders& mine,
                             SwapMemory<kMaxRungs>& shared) {
  const int me = static_cast<int>(threadIdx.x);
  begin_phases(kernel, mine, shared);
  __syncthreads();
  const bool in_blocks = kernel.in_blocks();
  if (kernel.mode == PairMode::all_pairs) {  // all ladders of a block have one matching
    order_rungs(kernel, in_blocks ? BlockLadders{mine.first, 1, 1} : mine, shared);
  }
  if (in_blocks) {
    try_block_pairs(kernel, mine, shared);
  } else {
    try_pairs(kernel, mine, shared);
  }
  __syncthreads();
  if (me < mine.count && shared.due[me] != 0) {
    const auto attempts = static_cast<std::uint32_t>(shared.size[me]);
    const std::uint32_t trips = kernel.end(mine.number(me), attempts, shared.swapped[me]);
    atomicAdd(&shared.phases, 1u);
    if (trips != 0) atomicAdd(&shared.trips, trips);
  }
  __syncthreads();
  add_counts(kernel.counts, shared);
}

}  // namespace
}  // namespace kiln::cuda
