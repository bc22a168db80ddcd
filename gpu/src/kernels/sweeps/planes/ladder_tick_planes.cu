// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "kernels/run/control_block.cuh"
#include "kernels/sweeps/sweep_shape.hpp"
#include "ladder_tick_planes.hpp"
#include "launch.hpp"
#include "plane_demand.hpp"
#include "plane_exchange.cuh"
#include "plane_warp.cuh"
#include "tuned.hpp"

namespace kiln::cuda {
namespace {

constexpr int tick_warps = max_slice_threads / 32;
constexpr int tick_teams = max_slice_threads / PartOfBlock::size;

// All sweeps of a tick. Words of a window have one key, and a table each.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void sweep_window(const MetropolisSweep& kernel, const BlockWords& words,
                                    std::uint32_t capacity) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const ClassRange classes = {0, kernel.model.n_classes};
  for (std::uint32_t s = 0; s < kernel.sweeps && kernel.control->active(kernel.number_of(s)); ++s) {
    if (s > 0) prepare_tables<W, V, P, kRows>(kernel, capacity, s);
    PlaneWarp<W, V, P, kRows, false> warp(kernel, words.first, memory);
    warp.sweep_classes(PlaneStep(kernel.control->step + kernel.number_of(s)), classes, 0, capacity);
    warp.finish();
    __syncthreads();
  }
}

template <int W, int V, int P, PlaneRows kRows>
__global__ void __launch_bounds__(max_slice_threads)
    make_tick(const __grid_constant__ LadderTick kernel, std::uint32_t capacity) {
  __shared__ TickStage<W> stage;
  const MetropolisSweep& sweep = kernel.sweep;
  const LadderPhase& of_phase = kernel.phase;
  // The next tick may have its blocks ready when this one ends.
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  if (sweep.control->stop != DeviceStop::none) return;
  const bool phase = of_phase.statistics.active();
  const Found found(of_phase.record);
  const TickWindow<W> window(of_phase.swap, phase);
  if (phase && found.full) {
    auto* const memory = reinterpret_cast<AddMemory*>(PlaneMemory<W, V, P, kRows>::begin());
    add_records<PartOfBlock>({of_phase.statistics, of_phase.record}, found.waiting,
                             memory[PartOfBlock::number()]);
    __syncthreads();
  }
  static_assert(32 * W <= max_slice_threads);
  const SlotOfWindow mine = load_slot(kernel, window);
  begin_launch<W, V, P, kRows>(sweep, window.words, capacity);
  if (phase && threadIdx.x / warp_size == tick_warps - 1) count_call(kernel, window);
  prepare_tables<W, V, P, kRows>(sweep, capacity, 0);
  fill_stage(kernel, window, mine, stage);
  end_loading();
  const PlaneMemory<W, V, P, kRows> memory(capacity, sweep.model);
  if (kernel.best_first) {
    copy_improved<W, kRows>(kernel, window, stage, memory.states);
    __syncthreads();
  }
  sweep_window<W, V, P, kRows>(sweep, window.words, capacity);
  add_constant<W, V, P, kRows>(sweep, memory);
  add_numbers<W, V, P, kRows>(sweep, capacity, false);
  end_sweep<W, kRows>(kernel, window, phase, found.place, memory.block, stage);
  add_accepted(sweep, window, memory.block);
  __syncthreads();
  if (phase) try_pairs_of(of_phase.swap, window, mine.pair_word, stage);
  __syncthreads();
  note_ends(of_phase.swap, window, stage);
  __syncthreads();
  note_improved(kernel, window, stage);
  store_stage(of_phase.swap, window, stage);
  __syncthreads();
  copy_improved<W, kRows>(kernel, window, stage, memory.states);
  store_exchanged<W, kRows>(sweep, window, stage, memory.states);
  end_ladder_tick(kernel, phase, found, stage.last);
}

// Each word of a window has a table.
template <int W, int V, int P, PlaneRows kRows>
bool enqueue_tick(const LadderTick& kernel, Queue& queue) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  constexpr std::uint32_t capacity = W;
  const std::int64_t bytes = std::max<std::int64_t>(std::int64_t{Memory::before_states(capacity)} +
                                                        Memory::bytes_of_model(kernel.sweep.model) +
                                                        tick_warps * Memory::queue_bytes,
                                                    tick_teams * sizeof(AddMemory));
  const std::int64_t own_bytes = sizeof(TickStage<W>) + 128;
  if (bytes + own_bytes > limits_of(queue).shared_bytes) return false;
  const auto function = make_tick<W, V, P, kRows>;
  reserve_shared(queue, function, static_cast<std::size_t>(bytes), LadderTick::name);
  const auto blocks = static_cast<unsigned>(kernel.sweep.state.columns / W);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = 32 * tick_warps;
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream_of(queue);
  config.attrs = &early;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, function, kernel, capacity), "launch ladder_tick");
  return true;
}

template <int P, PlaneRows kRows>
bool enqueue_window(const LadderTick& kernel, int words, Queue& queue) {
  switch (words) {
    case 8:
      if constexpr (P > 3) {
        if (has_few_sites(kernel.sweep.model, words, tick_warps)) {
          return enqueue_tick<8, 1, P, kRows>(kernel, queue);
        }
      }
      return enqueue_tick<8, 2, P, kRows>(kernel, queue);
    case 4:
      return enqueue_tick<4, 1, P, kRows>(kernel, queue);
    default:
      return enqueue_tick<2, 2, P, kRows>(kernel, queue);
  }
}

bool enqueue_rows(const LadderTick& kernel, int words, Queue& queue) {
  if (has_short_rows(kernel.sweep.model)) {
    return enqueue_window<3, PlaneRows::short_on_chip>(kernel, words, queue);
  }
  if (kernel.sweep.model.staged.sites.size == 0) return false;
  switch (planes_of_numbers(kernel.sweep.model)) {
    case 3:
      return enqueue_window<3, PlaneRows::on_chip>(kernel, words, queue);
    case 6:
      return enqueue_window<6, PlaneRows::on_chip>(kernel, words, queue);
    case 7:
      return enqueue_window<7, PlaneRows::on_chip>(kernel, words, queue);
    default:
      return enqueue_window<8, PlaneRows::on_chip>(kernel, words, queue);
  }
}

// Whether the ladders of a block exchange the same pairs, with what a block of threads knows.
bool exchanges_in_windows(const LadderPhase& phase) {
  const ReplicaSwap& swap = phase.swap;
  if (!phase.records() || phase.record.term || phase.statistics.parameter) return false;
  return swap.in_blocks() && !swap.family && swap.rungs % 2 == 0 && swap.places().walkers == 0 &&
         swap.mode == PairMode::even_odd && swap.cadence.kind == CadenceKind::fixed;
}

}  // namespace

bool takes_one_launch(const LadderTick& kernel) {
  const MetropolisSweep& sweep = kernel.sweep;
  const TrackBest& best = kernel.end.best;
  if (!exchanges_in_windows(kernel.phase) || !takes_planes(sweep)) return false;
  if (sweep.naming != DrawNaming::planes || sweep.active_rungs.size > 0) return false;
  if (!sweep.energies_hold) return false;  // new ones are evaluated
  if (kernel.readers.size < kernel.phase.swap.places().groups) return false;
  return sweep.state.columns == kernel.phase.swap.places().size() && best.n_blocks == 1 &&
         best.best[0].layout == Layout::packed32;
}

namespace {

// A multiprocessor makes its windows one after the other. What a window takes whatever its number
// of words is the time of so many words: of G1 and G11 12, of a torus of 100 sites 37 (H200).
constexpr std::int64_t words_of_start = 12;

std::int64_t time_of_windows(const LadderTick& kernel, int words, std::int64_t multiprocessors) {
  const std::int64_t windows = kernel.sweep.state.columns / words;
  return (windows + multiprocessors - 1) / multiprocessors * (words + words_of_start);
}

const Tunable ladder_tick_words(tunable_of("ladder_tick", "ladder_tick", "words of 32 replicas",
                                           {{"words", {2, 4, 8}}}));

// A window of the tuned number of words, where the ladders can be divided so and it fits.
bool enqueue_tuned(const LadderTick& kernel, Queue& queue) {
  const LaunchShape* const shape = tuned(ladder_tick_words, queue, kernel.sweep.state.columns);
  if (shape == nullptr) return false;
  const int words = (*shape)[0];
  if (kernel.phase.swap.rungs % words == 0 && enqueue_rows(kernel, words, queue)) return true;
  decline(ladder_tick_words, queue);
  return false;
}

}  // namespace

bool launch_plane_tick(const LadderTick& kernel, Queue& queue) {
  if (!takes_one_launch(kernel)) return false;
  if (enqueue_tuned(kernel, queue)) return true;
  const int multiprocessors = limits_of(queue).multiprocessors;
  int best = 2;
  for (const int words : {4, 8}) {
    if (kernel.phase.swap.rungs % words != 0) break;
    if (time_of_windows(kernel, words, multiprocessors) <=
        time_of_windows(kernel, best, multiprocessors)) {
      best = words;
    }
  }
  for (int words = best; words >= 2; words /= 2) {
    if (enqueue_rows(kernel, words, queue)) return true;
  }
  return false;
}

}  // namespace kiln::cuda
