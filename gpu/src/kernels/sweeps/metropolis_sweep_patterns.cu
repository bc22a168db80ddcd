// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"
#include "metropolis_sweep_patterns.hpp"
#include "slice_pattern_warp.cuh"
#include "sweep_shape.hpp"

namespace kiln::cuda {
namespace {

// A warp makes the tables of its sites for every task, so blocks of fewer words cost more.
constexpr int block_words = 8;
constexpr std::int64_t slot_bytes = 32 * block_words * sizeof(SlotEntry);
constexpr std::int64_t other_bytes = 32 * block_words * 12 + block_words * sizeof(WordKeys);

// Copies the words of a block from the batch to shared memory, where they lie by site, or back.
// Words from n_words on are 0.
template <int W, bool kBack>
__device__ void copy_words(const MetropolisSweep& kernel, std::int64_t first_word, int n_words,
                           std::uint32_t* states) {
  const int w = static_cast<int>(threadIdx.x) % W;
  const auto rows = static_cast<std::int32_t>(blockDim.x / W);
  const View2<std::uint32_t>& state = kernel.state;
#pragma unroll 8
  for (auto site = static_cast<std::int32_t>(threadIdx.x / W); site < kernel.model.n_sites;
       site += rows) {
    const std::int32_t variable = __ldg(kernel.model.variable.data + site);
    const bool has_word = variable >= 0 && w < n_words;
    std::uint32_t* const of_batch = state.data + variable * state.stride + first_word + w;
    if constexpr (kBack) {
      if (has_word) *of_batch = states[site * W + w];
    } else {
      states[site * W + w] = has_word ? __ldg(of_batch) : 0u;
    }
  }
}

// Whether all slots of a block have one temperature.
template <int W>
__device__ bool have_one_beta(const MetropolisSweep& kernel, std::int64_t first_word) {
  const std::int64_t first = first_word * 32, end = min(first + 32 * W, kernel.state.columns * 32);
  const auto bits_of = [&](std::int64_t slot) {
    return exact::double_to_bits(kernel.beta[kernel.rung_of[slot]]);
  };
  bool one = true;
  for (std::int64_t slot = first + threadIdx.x; slot < end; slot += blockDim.x) {
    one = one && bits_of(slot) == bits_of(first);
  }
  return __syncthreads_and(one) != 0;
}

template <int W, int P, bool kShared>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_patterns(const __grid_constant__ MetropolisSweep kernel, ClassRange classes) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ double changes[32 * W];
  __shared__ std::uint32_t flips[32 * W];
  __shared__ WordKeys word_keys[W];
  if (!kernel.control->active(kernel.step_offset)) return;
  const std::uint32_t warps = blockDim.x / 32;
  auto* const slots = reinterpret_cast<SlotEntry*>(shared_bytes);
  unsigned char* const tables = shared_bytes + 32 * W * sizeof(SlotEntry);
  auto* const states =
      reinterpret_cast<std::uint32_t*>(tables + warps * PatternTables<W, P>::bytes);
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const std::int64_t first_slot = first_word * 32, end_slot = kernel.state.columns * 32;
  const int n_words = static_cast<int>(min(kernel.state.columns - first_word, std::int64_t{W}));
  const StepDraws step(kernel.control->step + kernel.step_offset);
  if constexpr (kShared) copy_words<W, false>(kernel, first_word, n_words, states);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) changes[i] = 0, flips[i] = 0;
  const bool one_beta = have_one_beta<W>(kernel, first_word);
  const auto beta_of = [&](int i) {
    return __float_as_uint(beta_log2e_of(kernel, min(first_slot + i, end_slot - 1)));
  };
  const SharedKeys keys = describe_slots<W>(kernel, step, first_word, beta_of, slots, word_keys);
  __syncthreads();

  const Places<W> places(kernel, slots, 0, step, kernel.draw_ids.key[first_slot], word_keys,
                         first_word);
  const PatternTables<W, P> of_warp{tables + threadIdx.x / 32 * PatternTables<W, P>::bytes};
  PatternWarp<W, P, kShared> warp(places, of_warp, states, kernel.beta[kernel.rung_of[first_slot]]);
  if (keys.of_block && one_beta) {
    // Thresholds of any rule.
    sweep_classes<Draws::one_table, SweepRule::metropolis>(warp, classes);
  } else {
    sweep_by_rule(kernel.rule, keys.of_words, warp, classes);
  }
  warp.add_to(changes, flips);
  __syncthreads();
  if constexpr (kShared) copy_words<W, true>(kernel, first_word, n_words, states);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = first_slot + i;
    if (slot >= end_slot || kernel.rests(slot)) continue;
    // Other blocks may sweep other sites of the slot. Changes are integers where they are used.
    if (kernel.model.integral) atomicAdd(&kernel.energy[slot], changes[i]);
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    if (kernel.accepted) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.accepted[slot]), flips[i]);
    }
  }
}

std::int64_t block_bytes(const SweepShape& shape, std::int64_t sites, std::int64_t warp_bytes) {
  return slot_bytes + shape.warps * warp_bytes + (shape.in_shared ? sites * block_words * 4 : 0);
}

// States in shared memory need one launch for all classes. They pay if the blocks fill the device,
// or if a class is so small that more blocks could not share it. None: the general sweep, with a
// block for each word, is faster for few replicas of such a model.
std::optional<SweepShape> choose_shape(std::int64_t words, std::int64_t sites,
                                       std::int64_t quads_per_class, std::int64_t warp_bytes,
                                       const SweepLimits& limits) {
  const std::int64_t groups = (words + block_words - 1) / block_words;
  SweepShape shape;
  shape.in_slices = true;
  shape.words_per_block = block_words;
  const bool small = quads_per_class <= 2 * (max_slice_threads / 32);
  if (small && 4 * groups < limits.multiprocessors) return std::nullopt;
  for (const int blocks : {2, 1}) {
    shape.blocks = blocks;
    shape.warps = max_slice_threads / 32 / blocks;
    const bool fills = groups >= std::int64_t{blocks} * limits.multiprocessors;
    const std::int64_t bytes = block_bytes(shape, sites, warp_bytes) + other_bytes;
    if ((fills || (small && blocks == 1)) && blocks * bytes <= limits.shared_bytes) return shape;
  }
  shape.in_shared = false;
  return shape;
}

std::optional<SweepShape> shape_for(const MetropolisSweep& kernel, std::int64_t warp_bytes,
                                    Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  const PairwiseView& model = kernel.model;
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (wanted.empty()) {
    const std::int64_t quads = model.n_sites / 4 / std::max(1, model.n_classes);
    return choose_shape(kernel.state.columns, model.n_sites, quads, warp_bytes, limits);
  }
  std::optional<SweepShape> shape = parse_sweep_shape(wanted);
  if (!shape || !shape->in_slices) return std::nullopt;
  shape->words_per_block = block_words;
  const std::int64_t bytes = block_bytes(*shape, model.n_sites, warp_bytes) + other_bytes;
  if (bytes > limits.shared_bytes) shape->in_shared = false;
  return shape;
}

template <int P, bool kShared>
void enqueue(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  constexpr int W = block_words;
  const auto bytes = static_cast<std::size_t>(
      block_bytes(shape, kernel.model.n_sites, PatternTables<W, P>::bytes));
  const auto function = sweep_patterns<W, P, kShared>;
  reserve_shared(queue, function, bytes, MetropolisSweep::name);
  const auto threads = static_cast<unsigned>(32 * shape.warps);
  enqueue_classes<W, kShared>(
      kernel, shape, sweep_limits_of(queue), [&](dim3 grid, const ClassRange& classes) {
        function<<<grid, threads, bytes, stream_of(queue)>>>(kernel, classes);
        check_launch(MetropolisSweep::name);
      });
}

template <int P>
bool enqueue_placed(const MetropolisSweep& kernel, Queue& queue) {
  const std::optional<SweepShape> shape =
      shape_for(kernel, PatternTables<block_words, P>::bytes, queue);
  if (!shape) return false;
  if (shape->in_shared) {
    enqueue<P, true>(kernel, *shape, queue);
  } else {
    enqueue<P, false>(kernel, *shape, queue);
  }
  return true;
}

}  // namespace

bool launch_pattern_sweep(const MetropolisSweep& kernel, Queue& queue) {
  const PairwiseView& model = kernel.model;
  if (model.sequential || model.max_neighbors == 0) return false;
  const int bits = model.max_neighbors + (model.integral && !model.has_fields ? 0 : 1);
  if (bits > 6) return false;
  return bits <= 4 ? enqueue_placed<4>(kernel, queue) : enqueue_placed<6>(kernel, queue);
}

}  // namespace kiln::cuda
