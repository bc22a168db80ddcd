// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "kernels/grid.cuh"
#include "phase_block.cuh"
#include "swap_block.cuh"

// A block has all rungs of some ladders: records their energies, then swaps them. What is recorded
// is added to the sums of the rungs every few calls, at the beginning of a launch: that takes
// longer than the swaps. The last block to finish ends the round when it is due.
namespace kiln::cuda {
namespace {

constexpr int max_rungs = static_cast<int>(ReplicaSwap::max_rungs);
constexpr std::int64_t blocks_to_add = 264;

union Memory {
  AddMemory add;
  SwapMemory<max_rungs> swap;
};

// Of a block of 32 ladders a lane has a ladder, and a warp some rungs. What their swaps change is
// kept in shared memory meanwhile: otherwise each step of a swap waits for device memory.
struct Stage {
  static constexpr int max_rungs = 32;
  static constexpr int warps = block_size / warp_size, of_warp = max_rungs / warps;

  double energy[max_rungs * warp_size], beta[max_rungs];
  LadderEnd last_end[max_rungs * warp_size];
  std::uint32_t round_trips[max_rungs * warp_size];
  std::uint64_t key;
};

// What a thread has of a stage: its rungs warp, warp + warps, ...
struct Staged {
  double energy[Stage::of_warp], beta = 0;
  LadderEnd last_end[Stage::of_warp];
  std::uint32_t round_trips[Stage::of_warp];
  std::uint64_t key = 0;
  int me = static_cast<int>(threadIdx.x), rungs;
  std::int64_t first_slot, first_number;

  __device__ Staged(const ReplicaSwap& swap, std::int64_t first_ladder)
      : rungs(static_cast<int>(swap.rungs)),
        first_slot(swap.places().home_of(first_ladder, 0)),
        first_number(swap.places().number_at(first_ladder, 0)) {
    if (me < rungs) beta = swap.beta[first_number + me];
    if (me == 0) key = swap.draw_ids.key[first_slot];
#pragma unroll
    for (int i = 0; i < Stage::of_warp; ++i) {
      const int at = me + i * block_size;
      if (at >= rungs * warp_size) continue;
      energy[i] = swap.energy[first_slot + at];
      last_end[i] = swap.last_end[first_slot + at];
      round_trips[i] = swap.round_trips[first_slot + at];
    }
  }
  // Fills the stage and records the energies.
  __device__ void put(const LadderPhase& kernel, std::int64_t first_ladder, std::int64_t place,
                      Stage& stage) const {
    const LadderRecord& record = kernel.record;
    if (me < rungs) stage.beta[me] = beta;
    if (me == 0) stage.key = key;
#pragma unroll
    for (int i = 0; i < Stage::of_warp; ++i) {
      const int at = me + i * block_size;
      if (at >= rungs * warp_size) continue;
      stage.energy[at] = energy[i];
      stage.last_end[at] = last_end[i];
      stage.round_trips[at] = round_trips[i];
      const int rung = at / warp_size;
      record.energy[record.at(place, rung, kernel.statistics) + first_ladder + at % warp_size] =
          energy[i];
    }
  }
  // The swaps on the stage: indices of slots and numbers stay.
  __device__ ReplicaSwap on(const ReplicaSwap& swap, Stage& stage) const {
    ReplicaSwap local = swap;
    local.energy.data = local.blocks.energy.data = stage.energy - first_slot;
    local.beta.data = stage.beta - first_number;
    local.last_end.data = stage.last_end - first_slot;
    local.round_trips.data = stage.round_trips - first_slot;
    local.draw_ids.key.data = &stage.key - first_slot;
    return local;
  }
  __device__ void take(const ReplicaSwap& swap, const Stage& stage) const {
    for (int at = me; at < rungs * warp_size; at += block_size) {
      swap.blocks.energy[first_slot + at] = stage.energy[at];
      swap.last_end[first_slot + at] = stage.last_end[at];
      swap.round_trips[first_slot + at] = stage.round_trips[at];
    }
  }
};

__device__ void record_energies(const LadderPhase& kernel, const BlockLadders& mine,
                                const Found& found) {
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

__global__ void __launch_bounds__(block_size)
    make_phase(const __grid_constant__ LadderPhase kernel, int ladders_per_block) {
  __shared__ Memory shared;
  __shared__ int last;
  const LadderStatistics& statistics = kernel.statistics;
  if (!statistics.active()) return;
  const LadderRecord& record = kernel.record;
  const Found found(record);
  if (found.full) add_records<WholeBlock>({statistics, record}, found.waiting, shared.add);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * ladders_per_block;
  const std::int64_t left = statistics.ladders - first;
  if (left > 0) {
    const int count = left < ladders_per_block ? static_cast<int>(left) : ladders_per_block;
    record_energies(kernel, {first, 1, count}, found);
    swap_ladders(kernel.swap, {first, 1, count}, shared.swap);
  }
  if (is_last_block(record, last)) end_phase(kernel, found);
}

// The same for blocks of ladders with few rungs.
__global__ void __launch_bounds__(block_size)
    make_block_phase(const __grid_constant__ LadderPhase kernel) {
  __shared__ Memory shared;
  __shared__ Stage stage;
  __shared__ int last;
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * ladders_of_block;
  const bool swaps = first < statistics.ladders;
  const Staged mine(kernel.swap, swaps ? first : 0);
  const Found found(record);
  if (!statistics.active()) return;
  if (found.full) add_records<WholeBlock>({statistics, record}, found.waiting, shared.add);
  if (swaps) {
    mine.put(kernel, first, found.place, stage);
    const ReplicaSwap local = mine.on(kernel.swap, stage);
    swap_ladders(local, {first, 1, static_cast<int>(ladders_of_block)}, shared.swap);
    mine.take(kernel.swap, stage);
  }
  if (is_last_block(record, last)) end_phase(kernel, found);
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
  const auto grid = static_cast<unsigned>(blocks);
  if (kernel.swap.in_blocks() && rungs <= Stage::max_rungs) {
    make_block_phase<<<grid, block_size, 0, stream_of(queue)>>>(kernel);
  } else {
    make_phase<<<grid, block_size, 0, stream_of(queue)>>>(kernel, per_block);
  }
  check_launch(LadderPhase::name);
}

}  // namespace kiln::cuda
