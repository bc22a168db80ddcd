// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "kernels/grid.cuh"
#include "record_block.cuh"
#include "swap_block.cuh"
#include "update_block.cuh"

// A block has all rungs of some ladders: records their energies, then swaps them. What is recorded
// is added to the sums of the rungs every few calls, at the beginning of a launch: that takes
// longer than the swaps. The last block to finish ends the round when it is due.
namespace kiln::cuda {
namespace {

constexpr int max_rungs = static_cast<int>(ReplicaSwap::max_rungs);
constexpr std::int64_t blocks_to_add = 132;

union Memory {
  AddMemory add;
  SwapMemory<max_rungs> swap;
};

// What a launch finds in the record: calls that wait, and the place of its own call.
struct Found {
  std::int64_t waiting, place;
  bool full;  // those that wait are added by this launch

  __device__ explicit Found(const LadderRecord& record)
      : waiting(record.waiting()), place(record.next()), full(waiting >= record.calls) {}
  // Calls that wait when the launch ends, its own among them.
  __device__ std::int64_t left() const { return full ? 1 : waiting + 1; }
};

// Of a block of 32 ladders: a lane has a ladder.
__device__ void record_block(const LadderPhase& kernel, std::int64_t first_ladder,
                             const Found& found) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const int rungs = static_cast<int>(statistics.sums.size);
  constexpr int warps = block_size / warp_size, at_once = 4;
  const std::int64_t ladder = first_ladder + threadIdx.x % warp_size;
  for (int begin = static_cast<int>(threadIdx.x) / warp_size; begin < rungs;
       begin += at_once * warps) {
    double e[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int rung = begin + i * warps;
      if (rung < rungs) e[i] = statistics.energy[statistics.slot_at(ladder, rung)];
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int rung = begin + i * warps;
      if (rung < rungs) record.energy[record.at(found.place, rung, statistics) + ladder] = e[i];
    }
  }
}

__device__ void record_energies(const LadderPhase& kernel, const BlockLadders& mine,
                                const Found& found) {
  if (kernel.statistics.in_blocks) return record_block(kernel, mine.first, found);
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const int rungs = static_cast<int>(statistics.sums.size);
  for (int i = static_cast<int>(threadIdx.x); i < mine.count * rungs; i += block_size) {
    const std::int64_t ladder = mine.number(i / rungs);
    const int rung = i % rungs;
    const std::int32_t slot = statistics.slot_at(ladder, rung);
    const double e = statistics.energy[slot], v = statistics.weighed(slot);
    const bool better = statistics.improves(slot, e, v);
    const std::int64_t at = record.at(found.place, rung, statistics) + ladder;
    record.energy[at] = e;
    if (record.term) record.term[at] = v;
    if (better) statistics.best_rung[slot] = rung;
  }
}

// By the last block, where a round ends whose sums are dropped: only the lowest energies of what is
// recorded stay, a warp for each rung.
__device__ void keep_bests(const LadderPhase& kernel, const Found& found) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t rung = threadIdx.x / warp_size; rung < statistics.sums.size;
       rung += block_size / warp_size) {
    double best = __ldcg(&statistics.sums[rung].best);
    for (std::int64_t back = 0; back < found.left(); ++back) {
      const std::int64_t place = (found.place + record.places() - back) % record.places();
      const std::int64_t first = record.at(place, rung, statistics);
      for (std::int64_t ladder = lane; ladder < statistics.ladders; ladder += warp_size) {
        const double e = __ldcg(&record.energy[first + ladder]);
        const double v = record.term ? __ldcg(&record.term[first + ladder]) : e;
        if (LadderStatistics::finite(e) && LadderStatistics::finite(v) && e < best) best = e;
      }
    }
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
      const double other = __shfl_down_sync(full_warp, best, offset);
      best = other < best ? other : best;
    }
    if (lane == 0) statistics.sums[rung].best = best;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(block_size)
    make_phase(const __grid_constant__ LadderPhase kernel, int ladders_per_block) {
  __shared__ Memory shared;
  __shared__ int last;
  const LadderStatistics& statistics = kernel.statistics;
  if (!statistics.active()) return;
  const LadderRecord& record = kernel.record;
  const Found found(record);
  if (found.full) add_records({statistics, record}, found.waiting, shared.add);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * ladders_per_block;
  const std::int64_t left = statistics.ladders - first;
  if (left > 0) {
    const int count = left < ladders_per_block ? static_cast<int>(left) : ladders_per_block;
    record_energies(kernel, {first, 1, count}, found);
    swap_ladders(kernel.swap, {first, 1, count}, shared.swap);
  }
  if (!is_last_block(record, last)) return;
  const bool ended = end_round(kernel.update, [&] { keep_bests(kernel, found); });
  if (ended || found.full) note_references({statistics, record});
  if (threadIdx.x != 0) return;
  const std::int64_t next = ended ? 0 : (found.place + 1) % record.places();
  record.state[LadderRecord::next_at] = static_cast<std::uint32_t>(next);
  record.state[LadderRecord::waiting_at] = ended ? 0 : static_cast<std::uint32_t>(found.left());
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
  const std::int64_t ladders = kernel.statistics.ladders, rungs = kernel.swap.rungs;
  if (ladders <= 0 || rungs <= 0) return;
  if (!kernel.records()) {
    launch(kernel.statistics, queue);
    launch(kernel.swap, queue);
    return launch(kernel.update, queue);
  }
  const auto per_block = static_cast<int>(
      kernel.swap.in_blocks() ? ladders_of_block
                              : std::clamp<std::int64_t>(block_size / rungs, 1, max_block_ladders));
  const std::int64_t tasks = std::min(rungs * kernel.record.calls, blocks_to_add);
  const std::int64_t blocks = std::max((ladders + per_block - 1) / per_block, tasks);
  make_phase<<<static_cast<unsigned>(blocks), block_size, 0, stream_of(queue)>>>(kernel, per_block);
  check_launch(LadderPhase::name);
}

}  // namespace kiln::cuda
