// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "family_decision.cuh"
#include "kernels/sweeps/slice_places.cuh"
#include "kernels/sweeps/sweep_shape.hpp"
#include "launch.hpp"

/// The sweep of a block over a family, by patterns of neighbours or by counting them: the shape of
/// the launch and all but the work of a warp.
namespace kiln::cuda {
namespace {

// A warp makes the tables of its sites for every task, so blocks of fewer words cost more.
constexpr int block_words = 8;
constexpr std::int64_t slot_bytes = 32 * block_words * (sizeof(SlotEntry) + sizeof(MemberEstimate));
constexpr std::int64_t other_bytes = 32 * block_words * 4 + block_words * sizeof(WordKeys);

template <int W, bool kShared, class Warp>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_family(const __grid_constant__ PairwiseFamilySweep kernel, ClassRange classes) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ std::uint32_t flips[32 * W];
  __shared__ WordKeys word_keys[W];
  if (!kernel.control->active(kernel.step_offset)) return;
  auto* const slots = reinterpret_cast<SlotEntry*>(shared_bytes);
  auto* const members = reinterpret_cast<MemberEstimate*>(slots + 32 * W);
  auto* const tables = reinterpret_cast<unsigned char*>(members + 32 * W);
  auto* const states =
      reinterpret_cast<std::uint32_t*>(tables + blockDim.x / 32 * Warp::table_bytes);
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const std::int64_t first_slot = first_word * 32, end_slot = kernel.state.columns * 32;
  const int n_words = static_cast<int>(min(kernel.state.columns - first_word, std::int64_t{W}));
  const std::int32_t n = kernel.model.n_variables;
  const View2<std::uint32_t>& state = kernel.state;
  const StepDraws step(kernel.control->step + kernel.step_offset);
  if constexpr (kShared) {
    load_words<W>(state.data + first_word, state.stride, n, n_words, states);
  }
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    flips[i] = 0;
    members[i] = MemberEstimate::of(kernel, min(first_slot + i, end_slot - 1));
  }
  const SharedKeys keys = describe_slots<W>(
      kernel, step, first_word, [](int) { return 0u; }, slots, word_keys);
  __syncthreads();

  const Places<W, PairwiseFamilySweep> places(
      kernel, slots, 0, step, kernel.draw_ids.key[first_slot], word_keys, first_word);
  Warp warp(places, states, members, tables + threadIdx.x / 32 * Warp::table_bytes);
  sweep_by_rule(kernel.rule, keys.of_words, warp, classes);
  warp.add_to(flips);
  __syncthreads();
  if constexpr (kShared) {
    store_words<W>(states, state.stride, n, n_words, state.data + first_word);
  }
  for (int i = threadIdx.x; kernel.accepted && i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = first_slot + i;
    if (slot >= end_slot || kernel.rests(slot)) continue;
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    // Other blocks may sweep other sites of the slot.
    atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.accepted[slot]), flips[i]);
  }
}

std::int64_t family_block_bytes(const SweepShape& shape, std::int64_t variables,
                                std::int64_t warp_bytes) {
  return slot_bytes + shape.warps * warp_bytes +
         (shape.in_shared ? (variables + 1) * block_words * 4 : 0);
}

// States in shared memory need one launch for all classes. They pay if the blocks fill the device,
// or if a class is so small that more blocks could not share it. None: the general sweep, with a
// block for each word, is faster for few replicas of such a model.
std::optional<SweepShape> choose_family_shape(std::int64_t words, const PairwiseFamilyView& model,
                                              std::int64_t warp_bytes, const SweepLimits& limits) {
  const std::int64_t quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
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
    const std::int64_t bytes =
        family_block_bytes(shape, model.n_variables, warp_bytes) + other_bytes;
    if ((fills || (small && blocks == 1)) && blocks * bytes <= limits.shared_bytes) return shape;
  }
  shape.in_shared = false;
  return shape;
}

std::optional<SweepShape> family_shape_for(const PairwiseFamilySweep& kernel,
                                           std::int64_t warp_bytes, Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (wanted.empty()) {
    return choose_family_shape(kernel.state.columns, kernel.model, warp_bytes, limits);
  }
  std::optional<SweepShape> shape = parse_sweep_shape(wanted);
  if (!shape || !shape->in_slices) return std::nullopt;
  shape->words_per_block = block_words;
  const std::int64_t bytes =
      family_block_bytes(*shape, kernel.model.n_variables, warp_bytes) + other_bytes;
  if (bytes > limits.shared_bytes) shape->in_shared = false;
  return shape;
}

template <bool kShared, class Warp>
void enqueue_family(const PairwiseFamilySweep& kernel, const SweepShape& shape, Queue& queue) {
  constexpr int W = block_words;
  const auto bytes = static_cast<std::size_t>(
      family_block_bytes(shape, kernel.model.n_variables, Warp::table_bytes));
  const auto function = sweep_family<W, kShared, Warp>;
  reserve_shared(queue, function, bytes, PairwiseFamilySweep::name);
  const auto threads = static_cast<unsigned>(32 * shape.warps);
  enqueue_classes<W, kShared>(
      kernel, shape, sweep_limits_of(queue), [&](dim3 grid, const ClassRange& classes) {
        function<<<grid, threads, bytes, stream_of(queue)>>>(kernel, classes);
        check_launch(PairwiseFamilySweep::name);
      });
}

}  // namespace
}  // namespace kiln::cuda
