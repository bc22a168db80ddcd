// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "ladder_tick_planes.hpp"
#include "plane_demand.hpp"
#include "plane_repeat.cuh"
#include "plane_warp.cuh"
#include "repeated_tick.hpp"

namespace kiln::cuda {
namespace {

constexpr int repeat_threads = max_slice_threads, repeat_warps = repeat_threads / 32;

// All sweeps of a tick. Tables stay as long as temperatures do: to the next tick, unless its sweeps
// have different ones.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void sweep_ladders(const MetropolisSweep& kernel, const BlockWords& words,
                                     std::uint32_t capacity, bool prepared) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const ClassRange classes = {0, kernel.model.n_classes};
  for (std::uint32_t s = 0; s < kernel.sweeps && kernel.control->active(kernel.number_of(s)); ++s) {
    if (!prepared || (kernel.sweeps > 1 && kernel.beta_stride != 0)) {
      prepare_tables<W, V, P, kRows>(kernel, capacity, s);
    }
    prepared = true;
    PlaneWarp<W, V, P, kRows, false> warp(kernel, words.first, memory);
    warp.sweep_classes(PlaneStep(kernel.control->step + kernel.number_of(s)), classes, 0, capacity);
    warp.finish();
    __syncthreads();
  }
}

// The betas of the stage, after a round of adaptation.
template <int W>
__device__ inline void load_betas(const ReplicaSwap& swap, const TickWindow<W>& window,
                                  TickStage<W>& stage) {
  const int w = static_cast<int>(threadIdx.x);
  if (w < W) stage.beta[w] = swap.beta[window.words.at(w)];
}

// What a block has of shared memory for states, rows and ties; sums of records follow.
template <int W, int V, int P, PlaneRows kRows>
__host__ __device__ inline std::uint32_t end_of_planes(const PairwiseView& model) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  return Memory::before_states(W) + Memory::bytes_of_model(model) +
         repeat_warps * Memory::queue_bytes;
}

// Room for the sums of records, by teams of either kind.
constexpr std::int64_t bytes_of_records =
    std::max(repeat_threads / PartOfBlock::size * sizeof(AddMemory),
             repeat_warps * sizeof(AddMemoryOf<PartOfWarp::size>));

// Adds the recorded energies that wait.
__device__ inline void add_waiting(const LadderFlush& kernel, std::int64_t calls,
                                   unsigned char* memory) {
  if (gridDim.x == 1) {
    add_records_of_few(kernel, calls, reinterpret_cast<AddMemoryOf<PartOfWarp::size>*>(memory));
  } else {
    add_records<PartOfBlock>(kernel, calls,
                             reinterpret_cast<AddMemory*>(memory)[PartOfBlock::number()]);
  }
}

// One tick of ladders that are in shared memory. Returns whether temperatures may have changed.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline bool make_tick(const LadderTick& kernel, TickWindow<W>& window,
                                 TickStage<W>& stage, std::uint32_t capacity, bool prepared) {
  const MetropolisSweep& sweep = kernel.sweep;
  const LadderPhase& of_phase = kernel.phase;
  const PlaneMemory<W, V, P, kRows> memory(capacity, sweep.model);
  const std::uint64_t tick = sweep.control->tick;
  const bool phase = of_phase.statistics.active();
  const Found found(of_phase.record);
  window.begin_phase(of_phase.swap, phase);
  const std::uint32_t pair_word = draw_for_pair(of_phase.swap, window);
  if (phase && found.full) {
    add_waiting({of_phase.statistics, of_phase.record}, found.waiting,
                PlaneMemory<W, V, P, kRows>::begin() + end_of_planes<W, V, P, kRows>(sweep.model));
  }
  if (static_cast<int>(threadIdx.x) < W) stage.swaps[threadIdx.x] = 0;
  sweep_ladders<W, V, P, kRows>(sweep, window.words, capacity, prepared);
  if (phase && threadIdx.x / warp_size == repeat_warps - 1) {
    of_phase.swap.begin(window.first_ladder + threadIdx.x % warp_size);
  }
  add_numbers<W, V, P, kRows>(sweep, capacity, false);
  end_sweep<W, kRows>(kernel, window, phase, found.place, memory.block, stage);
  for (int i = static_cast<int>(threadIdx.x); i < 32 * W; i += repeat_threads) {
    memory.block.numbers[i] = 0;
  }
  __syncthreads();
  if (phase) try_pairs_of(of_phase.swap, window, pair_word, stage);
  __syncthreads();
  note_ends(of_phase.swap, window, stage);
  note_improved(kernel, window, stage);
  __syncthreads();
  copy_improved<W, kRows>(kernel, window, stage, memory.states);
  __syncthreads();
  exchange_states<W, kRows>(sweep, window, stage, memory.states);
  return end_repeated_tick(kernel, phase, found, tick, stage.last);
}

template <int W, int V, int P, PlaneRows kRows>
__global__ void __launch_bounds__(repeat_threads)
    repeat_tick(const __grid_constant__ LadderTick kernel, std::uint32_t capacity) {
  __shared__ TickStage<W> stage;
  const MetropolisSweep& sweep = kernel.sweep;
  if (sweep.control->stop != DeviceStop::none) return;
  TickWindow<W> window;
  const SlotOfWindow mine = load_slot(kernel, window);
  begin_launch<W, V, P, kRows>(sweep, window.words, capacity);
  fill_stage(kernel, window, mine, stage);
  end_loading();
  const PlaneMemory<W, V, P, kRows> memory(capacity, sweep.model);
  add_constant<W, V, P, kRows>(sweep, memory);
  if (kernel.best_first) {
    copy_improved<W, kRows>(kernel, window, stage, memory.states);
    __syncthreads();
  }
  bool prepared = false;
  for (std::uint32_t t = 0; t < kernel.ticks; ++t) {
    const bool others = make_tick<W, V, P, kRows>(kernel, window, stage, capacity, prepared);
    if (__ldcg(reinterpret_cast<const std::uint32_t*>(&sweep.control->stop)) !=
        static_cast<std::uint32_t>(DeviceStop::none)) {
      break;
    }
    if (others) load_betas(kernel.phase.swap, window, stage);
    prepared = !others;
  }
  store_stage(kernel.phase.swap, window, stage);
  add_accepted(sweep, window, memory.block);
  store_states<W, kRows>(sweep, window.words.first, memory.states);
}

// An instance of the kernel, and what a block of it takes.
struct Instance {
  void (*function)(LadderTick, std::uint32_t) = nullptr;
  std::int64_t bytes = 0, own_bytes = 0;
  std::uint32_t capacity = 0;
};

template <int W, int V, int P, PlaneRows kRows>
Instance instance_of(const PairwiseView& model) {
  return {repeat_tick<W, V, P, kRows>,
          std::int64_t{end_of_planes<W, V, P, kRows>(model)} + bytes_of_records,
          static_cast<std::int64_t>(sizeof(TickStage<W>)) + 128, W};
}

template <int P, PlaneRows kRows>
Instance instance_of_ladders(const LadderTick& kernel) {
  const PairwiseView& model = kernel.sweep.model;
  switch (kernel.phase.swap.rungs) {
    case 16:
      return instance_of<16, 2, P, kRows>(model);
    case 8:
      if constexpr (P > 3) {
        if (has_few_sites(model, 8, repeat_warps)) return instance_of<8, 1, P, kRows>(model);
      }
      return instance_of<8, 2, P, kRows>(model);
    case 4:
      return instance_of<4, 1, P, kRows>(model);
    default:
      return {};
  }
}

Instance choose_instance(const LadderTick& kernel) {
  const PairwiseView& model = kernel.sweep.model;
  if (has_short_rows(model)) return instance_of_ladders<3, PlaneRows::short_on_chip>(kernel);
  if (model.staged.sites.size == 0) return {};
  switch (planes_of_numbers(model)) {
    case 3:
      return instance_of_ladders<3, PlaneRows::on_chip>(kernel);
    case 6:
      return instance_of_ladders<6, PlaneRows::on_chip>(kernel);
    default:
      return {};
  }
}

// Of a block of ladders for each multiprocessor at a time: two would share what makes them quick.
std::string refusal_of(const LadderTick& kernel, const Instance& instance, Queue& queue) {
  const ReplicaSwap& swap = kernel.phase.swap;
  if (!takes_one_launch(kernel)) {
    return "a tick of its ladders is several launches: it needs states of one block of spins swept "
           "by planes, pairs=even_odd, a fixed cadence and an even number of rungs";
  }
  if (swap.rungs != 4 && swap.rungs != 8 && swap.rungs != 16) {
    return "a multiprocessor keeps ladders of 4, 8 or 16 rungs, and these have " +
           std::to_string(swap.rungs);
  }
  const DeviceLimits& limits = limits_of(queue);
  const PairwiseView& model = kernel.sweep.model;
  const bool staged = has_short_rows(model) || model.staged.sites.size > 0;
  // Bytes are counted in 32 bits.
  if (!staged || std::int64_t{model.n_sites} * 4 * swap.rungs > limits.shared_bytes) {
    return "32 ladders of " + std::to_string(swap.rungs) + " rungs of " +
           std::to_string(model.n_variables) +
           " variables do not fit into the shared memory of a multiprocessor, which has " +
           std::to_string(limits.shared_bytes) + " bytes";
  }
  if (instance.function == nullptr) {
    return "|h| + sum |J| of a variable is 64 or more, in units of the smallest step";
  }
  const std::int64_t bytes = instance.bytes + instance.own_bytes;
  if (bytes > limits.shared_bytes) {
    return "32 ladders of " + std::to_string(swap.rungs) + " rungs take " + std::to_string(bytes) +
           " bytes of shared memory, and a multiprocessor has " +
           std::to_string(limits.shared_bytes);
  }
  const std::int64_t blocks = swap.places().groups;
  if (blocks > limits.multiprocessors) {
    return std::to_string(32 * blocks) + " ladders take " + std::to_string(blocks) +
           " multiprocessors, and the device has " + std::to_string(limits.multiprocessors);
  }
  // Some of the memory may be the driver's, and a client may have a part of the device.
  reserve_shared(queue, instance.function, static_cast<std::size_t>(instance.bytes),
                 LadderTick::name);
  int of_multiprocessor = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                 &of_multiprocessor, instance.function, repeat_threads,
                 static_cast<std::size_t>(instance.bytes)),
             "count the blocks of ladder_tick that a multiprocessor has");
  if (of_multiprocessor == 0) return "a multiprocessor has no room for 32 of its ladders";
  return {};
}

}  // namespace

bool can_repeat_tick(const LadderTick& kernel, Queue& queue, std::string& refusal) {
  refusal = refusal_of(kernel, choose_instance(kernel), queue);
  return refusal.empty();
}

bool launch_repeated_tick(const LadderTick& kernel, Queue& queue) {
  const Instance instance = choose_instance(kernel);
  if (!refusal_of(kernel, instance, queue).empty()) return false;
  const auto bytes = static_cast<std::size_t>(instance.bytes);
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(kernel.phase.swap.places().groups);
  config.blockDim = repeat_threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream_of(queue);
  config.attrs = &together;
  config.numAttrs = config.gridDim.x > 1 ? 1 : 0;  // blocks wait for one another
  cuda_check(cudaLaunchKernelEx(&config, instance.function, kernel, instance.capacity),
             "launch ladder_tick");
  return true;
}

}  // namespace kiln::cuda
