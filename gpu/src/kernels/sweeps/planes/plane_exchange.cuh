// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/exchange/ladder_tick.hpp"

#include "kernels/exchange/phase_block.cuh"
#include "kernels/exchange/swap_block.cuh"
#include "kernels/run/best_slots.cuh"
#include "kernels/run/control_block.cuh"
#include "plane_sweep.cuh"

/// The exchange phase of a window of rungs, by the thread block that has swept their words.
///
/// A window has W rungs of a block of 32 ladders. In phases of odd pairs (1, 2), (3, 4), ...
/// windows begin one rung later, the last one with the hottest rung behind the coldest. So words 2
/// p and 2 p + 1 of a window are a pair of each phase, and no thread block waits for another. A
/// window of all rungs stays where it is, and its pairs begin one word later.
namespace kiln::cuda {
namespace {

template <int W>
struct TickWindow {
  BlockWords words;           // word numbers are rung numbers
  std::int64_t first_ladder;  // of the block
  bool due;                   // whether its ladders exchange
  int first = 0;              // word of the first pair

  __device__ TickWindow(const ReplicaSwap& swap, bool phase) {
    const auto rungs = static_cast<std::int32_t>(swap.rungs);
    const std::int32_t windows = rungs / W;
    const std::int64_t group = blockIdx.x / windows;
    first_ladder = group * ladders_of_block;
    SwapLadder state = swap.ladders[first_ladder];
    const SwapPhase next = swap.begin(first_ladder, state);
    due = phase && next.due;
    const auto number = static_cast<std::int32_t>(blockIdx.x % windows);
    words = {group * rungs, number * W + (due ? next.first : 0), rungs};
  }
  /// All rungs of the ladders of a block; begin_phase() follows.
  __device__ TickWindow()
      : words{std::int64_t{blockIdx.x} * W, 0, W},
        first_ladder(std::int64_t{blockIdx.x} * ladders_of_block),
        due(false) {}
  __device__ void begin_phase(const ReplicaSwap& swap, bool phase) {
    SwapLadder state = swap.ladders[first_ladder];
    const SwapPhase next = swap.begin(first_ladder, state);
    due = phase && next.due;
    first = due ? next.first : 0;
  }
  /// Words 2 p and 2 p + 1 in the order of pairs, and the other word of a word's pair.
  __device__ int paired(int i) const { return (i + first) % W; }
  __device__ int partner_of(int w) const { return paired((w - first + W) % W ^ 1); }
  __device__ std::int32_t rung_of(int w) const {
    return static_cast<std::int32_t>(words.at(w) - words.first);
  }
  __device__ std::int64_t slot_of(int i) const { return words.at(i / 32) * 32 + i % 32; }
};

/// By one warp, after its block has read the state of the ladders of its window: the last window of
/// a block of ladders to do so counts the call in them.
template <int W>
__device__ inline void count_call(const LadderTick& kernel, const TickWindow<W>& window) {
  const ReplicaSwap& swap = kernel.phase.swap;
  const auto lane = static_cast<std::int64_t>(threadIdx.x % warp_size);
  std::uint32_t& readers = kernel.readers[window.first_ladder / ladders_of_block];
  const auto windows = static_cast<std::uint32_t>(swap.rungs / W);
  std::uint32_t before = 0;
  if (lane == 0) {
    __threadfence();
    before = atomicAdd(&readers, 1u);
  }
  if (__shfl_sync(full_warp, before, 0) + 1 != windows) return;
  __threadfence();
  swap.begin(window.first_ladder + lane);
  if (lane == 0) readers = 0;
}

/// What a block keeps of the slots of its window meanwhile.
template <int W>
struct TickStage {
  double energy[32 * W], best[32 * W];
  LadderEnd last_end[32 * W];
  std::uint32_t round_trips[32 * W];
  double beta[W];
  std::uint32_t swaps[W];     // the ladders in which a word exchanges with its partner
  std::uint32_t improved[W];  // the slots whose best state the block copies
  int last;
};

/// What a thread keeps of its slot until all loads are under way; blocks have a thread for each.
struct SlotOfWindow {
  double energy, best;
  LadderEnd last_end;
  std::uint32_t round_trips, pair_word;
};

/// Draws for the pair of a thread: that of its warp, which has the lower rung, and its ladder.
template <int W>
__device__ inline std::uint32_t draw_for_pair(const ReplicaSwap& swap,
                                              const TickWindow<W>& window) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= 32 * W || i / 32 % 2 != 0) return 0;
  const auto lower = static_cast<std::uint32_t>(window.rung_of(window.paired(i / 32)));
  return swap.pair_word(window.first_ladder + i % 32, lower);
}

/// Reads a thread's slot, and draws for its pair.
template <int W>
__device__ inline SlotOfWindow load_slot(const LadderTick& kernel, const TickWindow<W>& window) {
  const ReplicaSwap& swap = kernel.phase.swap;
  const int i = static_cast<int>(threadIdx.x);
  SlotOfWindow mine{};
  if (i >= 32 * W) return mine;
  const std::int64_t slot = window.slot_of(i);
  mine.energy = swap.blocks.energy[slot];
  mine.best = kernel.end.best.best_energy[slot];
  mine.last_end = swap.last_end[slot];
  mine.round_trips = swap.round_trips[slot];
  mine.pair_word = draw_for_pair(swap, window);
  return mine;
}

/// Fills the stage. `improved` has the states that are best before the sweep.
template <int W>
__device__ inline void fill_stage(const LadderTick& kernel, const TickWindow<W>& window,
                                  const SlotOfWindow& mine, TickStage<W>& stage) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= 32 * W) return;
  const TrackBest& best = kernel.end.best;
  const unsigned improved = kernel.best_first
                                ? note_best(best, window.slot_of(i), mine.energy, mine.best,
                                            tick_start(kernel.sweep.control))
                                : 0u;
  stage.energy[i] = mine.energy;
  stage.best[i] = (improved >> (i % 32) & 1u) != 0 ? mine.energy : mine.best;
  stage.last_end[i] = mine.last_end;
  stage.round_trips[i] = mine.round_trips;
  if (i % 32 != 0) return;
  stage.improved[i / 32] = improved;
  stage.swaps[i / 32] = 0;
  stage.beta[i / 32] = kernel.phase.swap.beta[window.words.at(i / 32)];
}

/// Takes the energies of the sweep, and records those of the phase.
template <int W, PlaneRows kRows>
__device__ inline void end_sweep(const LadderTick& kernel, const TickWindow<W>& window, bool phase,
                                 std::int64_t place, const PlaneBlock<W>& block,
                                 TickStage<W>& stage) {
  const LadderRecord& record = kernel.phase.record;
  for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += static_cast<int>(blockDim.x)) {
    const double energy = energy_of<W, kRows>(kernel.sweep.model, block, i);
    stage.energy[i] = energy;
    if (phase) {
      const std::int64_t first = record.at(place, window.rung_of(i / 32), kernel.phase.statistics);
      record.energy[first + window.first_ladder + i % 32] = energy;
    }
  }
}

template <int W>
__device__ inline void add_accepted(const MetropolisSweep& kernel, const TickWindow<W>& window,
                                    const PlaneBlock<W>& block) {
  if (!kernel.accepted) return;
  for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += static_cast<int>(blockDim.x)) {
    kernel.accepted[window.slot_of(i)] += flips_of(block, i);
  }
}

/// Tries the pairs of the window: the warp of the lower rung, and a lane has a ladder.
template <int W>
__device__ inline void try_pairs_of(const ReplicaSwap& swap, const TickWindow<W>& window,
                                    std::uint32_t pair_word, TickStage<W>& stage) {
  const int place = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  if (place >= W || place % 2 != 0) return;
  const int w = window.paired(place), other = window.paired(place + 1);
  const std::int32_t lower = window.rung_of(w);
  const bool pair = window.due && lower + 1 < swap.rungs;  // else the coldest and the hottest rung
  std::uint32_t mask = 0;
  if (pair) {
    const int a = w * warp_size + lane, b = other * warp_size + lane;
    const double energy_a = stage.energy[a], energy_b = stage.energy[b];
    const std::uint64_t threshold =
        swap_threshold(stage.beta[w], stage.beta[other], energy_a, energy_b, swap.inverse_scale);
    const bool swapped = pair_word < threshold;
    mask = __ballot_sync(full_warp, swapped);
    const unsigned chance = __reduce_add_sync(
        full_warp, static_cast<unsigned>(threshold >> (32 - ReplicaSwap::chance_bits)));
    if (swapped) {
      stage.energy[a] = energy_b, stage.energy[b] = energy_a;
      const LadderEnd end = stage.last_end[a];
      stage.last_end[a] = stage.last_end[b], stage.last_end[b] = end;
      const std::uint32_t trips = stage.round_trips[a];
      stage.round_trips[a] = stage.round_trips[b], stage.round_trips[b] = trips;
    }
    if (lane == 0) {
      add_count(swap.counts.attempts[lower], ladders_of_block);
      add_count(swap.counts.accepted[lower], static_cast<unsigned>(__popc(mask)));
      add_count(swap.counts.chance[lower], chance);
    }
  }
  if (lane != 0) return;
  stage.swaps[w] = stage.swaps[other] = mask;
  swap.blocks.swapping[window.words.at(w)] = mask;
  swap.blocks.swapping[window.words.at(other)] = 0;
}

/// Notes which replicas are at the ends of their ladders: a warp for the word of an end.
template <int W>
__device__ inline void note_ends(const ReplicaSwap& swap, const TickWindow<W>& window,
                                 TickStage<W>& stage) {
  const int w = static_cast<int>(threadIdx.x) / warp_size;
  if (w >= W || !window.due) return;
  const int i = static_cast<int>(threadIdx.x);
  const std::int32_t rung = window.rung_of(w);
  if (rung == swap.rungs - 1) ReplicaSwap::reach_cold(stage.last_end[i]);
  if (rung != 0) return;
  const std::uint32_t trips = ReplicaSwap::reach_hot(stage.last_end[i]);
  stage.round_trips[i] += trips;
  const unsigned all = __reduce_add_sync(full_warp, trips);
  if (i % warp_size != 0) return;
  add_count(swap.counts.totals[0], ladders_of_block);
  add_count(swap.counts.totals[1], all);
}

/// Decides which best states are to be copied.
template <int W>
__device__ inline void note_improved(const LadderTick& kernel, const TickWindow<W>& window,
                                     TickStage<W>& stage) {
  const TickStart start = tick_start(kernel.sweep.control);
  for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += static_cast<int>(blockDim.x)) {
    const double energy = stage.energy[i];
    const unsigned improved =
        note_best(kernel.end.best, window.slot_of(i), energy, stage.best[i], start);
    if ((improved >> (i % 32) & 1u) != 0) stage.best[i] = energy;
    if (i % 32 == 0) stage.improved[i / 32] = improved;
  }
}

/// Writes what the stage has changed.
template <int W>
__device__ inline void store_stage(const ReplicaSwap& swap, const TickWindow<W>& window,
                                   const TickStage<W>& stage) {
  for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += static_cast<int>(blockDim.x)) {
    const std::int64_t slot = window.slot_of(i);
    swap.blocks.energy[slot] = stage.energy[i];
    swap.last_end[slot] = stage.last_end[i];
    swap.round_trips[slot] = stage.round_trips[i];
  }
}

/// Calls visit(place in the batch, word) for the states of a thread's word, after the exchange.
template <int W, PlaneRows kRows, class Visit>
__device__ inline void for_exchanged(const MetropolisSweep& kernel, const TickWindow<W>& window,
                                     const std::uint32_t* from, std::uint32_t swaps,
                                     const Visit& visit) {
  const int w = static_cast<int>(threadIdx.x) % W, partner = window.partner_of(w);
  const auto stride = static_cast<std::int32_t>(blockDim.x / W);
  const std::int32_t n = rows_in_memory<kRows>(kernel.model);
#pragma unroll 8
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) / W; i < n; i += stride) {
    const std::int32_t v = variable_of<kRows>(kernel.model, i);
    const std::uint32_t own = from[i * W + w], other = from[i * W + partner];
    if (v >= 0) visit(v, own ^ ((own ^ other) & swaps));
  }
}

/// Copies states to the best states of the slots that have improved.
template <int W, PlaneRows kRows>
__device__ inline void copy_improved(const LadderTick& kernel, const TickWindow<W>& window,
                                     const TickStage<W>& stage, const std::uint32_t* from) {
  const int w = static_cast<int>(threadIdx.x) % W;
  const std::uint32_t mask = stage.improved[w];
  if (mask == 0) return;
  const StateBlock& best = kernel.end.best.best[0];
  std::uint32_t* const to = best.as<std::uint32_t>() + window.words.at(w);
  const std::int64_t row = best.words();
  for_exchanged<W, kRows>(kernel.sweep, window, from, stage.swaps[w],
                          [&](std::int64_t v, std::uint32_t now) {
                            const std::uint32_t before = mask != ~0u ? to[v * row] : 0u;
                            to[v * row] = (before & ~mask) | (now & mask);
                          });
}

/// Writes the states to the batch.
template <int W, PlaneRows kRows>
__device__ inline void store_exchanged(const MetropolisSweep& kernel, const TickWindow<W>& window,
                                       const TickStage<W>& stage, const std::uint32_t* from) {
  const int w = static_cast<int>(threadIdx.x) % W;
  std::uint32_t* const to = kernel.state.data + window.words.at(w);
  const std::int64_t row = kernel.state.stride;
  for_exchanged<W, kRows>(kernel, window, from, stage.swaps[w],
                          [&](std::int64_t v, std::uint32_t now) { to[v * row] = now; });
}

/// Ends nearly every tick, by a thread of each block: only the last block writes. A multiprocessor
/// fetches code that it has not run before in about 10 us, so it runs this in each tick.
__device__ inline void end_usual_tick(const LadderTick& kernel, bool phase, const Found& found,
                                      bool last) {
  const LadderRecord& record = kernel.phase.record;
  const LadderUpdate& update = kernel.phase.update;
  RunControl* const control = kernel.end.best.control;
  const bool counts = phase && update.counts_call();
  const std::int64_t calls = update.plan[0].calls + 1;
  const std::int64_t next = found.place + 1 == record.places() ? 0 : found.place + 1;
  RunControl after = read_control(control);
  const AdvanceTick& advance = kernel.end.advance;
  AdvanceTick{&after, advance.sweeps, last ? advance.log : BestLog{}, advance.hold}();
  after.ticket = 0;
  if (!last) return;
  if (counts) update.plan[0].calls = calls;
  if (phase) {
    record.state[LadderRecord::next_at] = static_cast<std::uint32_t>(next);
    record.state[LadderRecord::waiting_at] = static_cast<std::uint32_t>(found.left());
  }
  *control = after;
}

/// Ends a tick, by all blocks: the last one to come here writes.
__device__ inline void end_ladder_tick(const LadderTick& kernel, bool phase, const Found& found,
                                       int& shared_last) {
  // Before the last block may write: all threads of all blocks read the same.
  const bool rare = phase && (found.full || kernel.phase.update.ends_round());
  const bool last = is_last_block(kernel.phase.record, shared_last);
  if (!rare) {
    if (threadIdx.x == 0) end_usual_tick(kernel, phase, found, last);
  } else if (last) {
    end_phase(kernel.phase, found);
    __syncthreads();
    if (threadIdx.x == 0) advance(kernel.end.best.control, kernel.end.advance);
  }
}

}  // namespace
}  // namespace kiln::cuda
