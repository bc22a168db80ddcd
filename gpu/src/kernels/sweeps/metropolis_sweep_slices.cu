// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"
#include "metropolis_sweep_slices.hpp"
#include "slice_tables.cuh"
#include "slice_warp.cuh"
#include "sweep_shape.hpp"
#include "tuned.hpp"

namespace kiln::cuda {
namespace {

constexpr std::int64_t usual_temperatures = 40;  // of the replicas of a block

// Describes the block's slots and keys; returns how it can draw and decide.
template <int W, int P>
__device__ Draws describe_block(const MetropolisSweep& kernel, const StepDraws& step,
                                std::int64_t first_word, const Temperatures<W>& temperatures,
                                std::uint32_t capacity, const Memory<W, P>& memory,
                                WordKeys* word_keys) {
  const auto table_of = [&](int i) -> std::uint32_t {  // in bytes from the first one
    return temperatures.table[temperatures.first[i]] * Memory<W, P>::table_bytes;
  };
  const SharedKeys keys =
      describe_slots<W>(kernel, step, first_word, table_of, memory.slots, word_keys);
  if (temperatures.n_tables > capacity) return Draws::plain;
  if (!keys.of_words) return Draws::key_of_slot;
  return keys.of_block && temperatures.n_tables == 1 ? Draws::one_table : Draws::key_of_word;
}

template <int W>
union SliceMemory {
  Temperatures<W> temperatures;
  std::uint32_t totals[2][32 * W];
};

// Adds the changes and flips of a sweep to the slots of the block.
template <int W, int P, bool kShared>
__device__ void add_totals(const MetropolisSweep& kernel, std::int64_t first_word,
                           const std::uint32_t (&totals)[2][32 * W]) {
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = first_word * 32 + i;
    if (slot >= kernel.state.columns * 32 || kernel.rests(slot)) continue;
    const std::uint32_t flips = totals[1][i];
    // Twice the half changes: of an index u or 2 u + m, less the center. They fit into 32 bits.
    const auto half = static_cast<std::int32_t>(totals[0][i] - ((1u << P) - 1) * flips);
    const double change = 2.0 * half;
    if constexpr (kShared) {
      kernel.energy[slot] += change;
      if (kernel.accepted) kernel.accepted[slot] += flips;
    } else {  // other blocks sweep other sites of the slot
      atomicAdd(&kernel.energy[slot], change);
      static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
      if (kernel.accepted) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.accepted[slot]), flips);
      }
    }
  }
}

// One of the sweeps in a row; the states are at hand.
template <int W, int P, bool kShared, bool kHubs>
__device__ void sweep_block(const MetropolisSweep& kernel, std::uint32_t sweep,
                            std::uint32_t capacity, const ClassRange& classes,
                            const Memory<W, P>& memory, SliceMemory<W>& shared,
                            WordKeys* word_keys) {
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const StepDraws step(kernel.control->step + kernel.number_of(sweep));
  share_tables(kernel, sweep, first_word, shared.temperatures);
  fill_tables(kernel, shared.temperatures, capacity, memory);
  const Draws draws =
      describe_block(kernel, step, first_word, shared.temperatures, capacity, memory, word_keys);
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    shared.totals[0][i] = shared.totals[1][i] = 0;
  }
  if constexpr (kHubs) __syncthreads();
  Warp<W, P, kShared, kHubs> warp(
      Places<W>(kernel, memory.slots, sweep, step, kernel.draw_ids.key[first_word * 32], word_keys,
                first_word),
      memory, shared.totals);
  if (draws == Draws::one_table) {
    warp.template sweep<Draws::one_table>(classes);
  } else if (draws == Draws::key_of_word) {
    warp.template sweep<Draws::key_of_word>(classes);
  } else if (draws == Draws::key_of_slot) {
    warp.template sweep<Draws::key_of_slot>(classes);
  } else {
    warp.template sweep<Draws::plain>(classes);
  }
  __syncthreads();
  warp.add_to_totals();
  __syncthreads();
  add_totals<W, P, kShared>(kernel, first_word, shared.totals);
}

template <int W, int P, bool kShared, bool kHubs>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_slices(const __grid_constant__ MetropolisSweep kernel, std::uint32_t capacity,
                 ClassRange classes) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SliceMemory<W> shared;
  __shared__ WordKeys word_keys[W];
  if (!kernel.control->active(kernel.step_offset)) return;
  const Memory<W, P> memory(shared_bytes, capacity);
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const View2<std::uint32_t>& state = kernel.state;
  const std::int32_t n = kernel.model.n_variables;
  const int n_words = static_cast<int>(min(state.columns - first_word, std::int64_t{W}));
  if constexpr (kShared) {
    load_words<W>(state.data + first_word, state.stride, n, n_words, memory.states);
  }
  for (std::uint32_t s = 0; s < kernel.sweeps && kernel.control->active(kernel.number_of(s)); ++s) {
    __syncthreads();  // the totals of the sweep before are no longer read
    sweep_block<W, P, kShared, kHubs>(kernel, s, capacity, classes, memory, shared, word_keys);
  }
  if constexpr (kShared) {
    __syncthreads();
    store_words<W>(memory.states, state.stride, n, n_words, state.data + first_word);
  }
}

// A block has a table for each temperature that it can meet, as far as they fit.
template <int W, int P, bool kShared, bool kHubs>
bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape, const SweepLimits& limits,
             Queue& queue) {
  const std::int64_t variables = kernel.model.n_variables;
  const std::int64_t others = sizeof(Temperatures<W>) + 32 * W * sizeof(SlotEntry) +
                              W * TabulatedKeys::quads * sizeof(uint4) + 16 +
                              (kShared ? (variables + 1) * W * 4 : 0);
  const std::int64_t room = limits.shared_bytes / std::max(1, shape.blocks) - others;
  const std::int64_t capacity =
      std::min<std::int64_t>({kernel.beta.size, 32 * W, room / Memory<W, P>::table_bytes});
  if (capacity < 1) return false;
  const auto n_tables = static_cast<std::uint32_t>(capacity);
  const std::size_t bytes = Memory<W, P>::bytes_of_tables(n_tables) + 32 * W * sizeof(SlotEntry) +
                            (kShared ? static_cast<std::size_t>(variables + 1) * W * 4 : 0);
  const auto function = sweep_slices<W, P, kShared, kHubs>;
  reserve_shared(queue, function, bytes, MetropolisSweep::name);
  const auto threads = static_cast<unsigned>(32 * shape.warps);
  enqueue_classes<W, kShared>(kernel, shape, limits, [&](dim3 grid, const ClassRange& classes) {
    function<<<grid, threads, bytes, stream_of(queue)>>>(kernel, n_tables, classes);
    check_launch(MetropolisSweep::name);
  });
  return true;
}

template <int P, bool kHubs = false>
bool enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape,
                    const SweepLimits& limits, Queue& queue) {
  if (!shape.in_shared) return enqueue<8, P, false, kHubs>(kernel, shape, limits, queue);
  switch (shape.words_per_block) {
    case 8:
      return enqueue<8, P, true, kHubs>(kernel, shape, limits, queue);
    case 4:
      return enqueue<4, P, true, kHubs>(kernel, shape, limits, queue);
    default:
      return enqueue<2, P, true, kHubs>(kernel, shape, limits, queue);
  }
}

std::optional<SweepShape> shape_for(const MetropolisSweep& kernel, int planes, Queue& queue) {
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (!wanted.empty()) {
    const std::optional<SweepShape> shape = parse_sweep_shape(wanted);
    return shape && shape->in_slices && !shape->by_planes ? shape : std::nullopt;
  }
  const PairwiseView& model = kernel.model;
  SliceDemand demand;
  demand.words = kernel.state.columns;
  demand.variables = model.n_variables;
  demand.quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
  demand.table_bytes =
      std::min<std::int64_t>(kernel.beta.size, usual_temperatures) * (std::int64_t{8} << planes);
  return choose_slice_shape(demand, sweep_limits_of(queue));
}

bool enqueue_planes(const MetropolisSweep& kernel, const SweepShape& shape, int planes, bool hubs,
                    Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  if (hubs) return enqueue_placed<8, true>(kernel, shape, limits, queue);
  switch (planes) {
    case 3:
      return enqueue_placed<3>(kernel, shape, limits, queue);
    case 6:
      return enqueue_placed<6>(kernel, shape, limits, queue);
    case 7:
      return enqueue_placed<7>(kernel, shape, limits, queue);
    default:
      return enqueue_placed<8>(kernel, shape, limits, queue);
  }
}

const Tunable sliced_sweep(tunable_of("metropolis_sweep_slices", "metropolis_sweep",
                                      "words of 32 replicas",
                                      {{"words", {2, 4, 8}}, {"warps", {4, 8, 16}}}));

// The tuned shape, for a sweep whose states stay on chip by the rule.
bool enqueue_tuned(const MetropolisSweep& kernel, const SweepShape& rule, int planes, bool hubs,
                   Queue& queue) {
  if (*wanted_sweep_shape(queue) != '\0') return false;
  const LaunchShape* const found = tuned(sliced_sweep, queue, kernel.state.columns);
  if (found == nullptr) return false;
  const SweepShape shape = rule.with((*found)[0], (*found)[1]);
  if (rule.in_shared && enqueue_planes(kernel, shape, planes, hubs, queue)) return true;
  decline(sliced_sweep, queue);
  return false;
}

// Whether sites of more neighbours than eight planes count are few. Their number of groups tells
// such sites only where couplings have one bit and there are no fields.
bool has_few_hubs(const PairwiseView& model) {
  const GroupView& rows = model.groups;
  return rows.one_plane && !model.has_fields && rows.max_sum < 0x10000 &&
         std::int64_t{64} * rows.n_hubs <= model.n_sites;
}

}  // namespace

bool launch_sliced_sweep(const MetropolisSweep& kernel, Queue& queue) {
  const GroupView& rows = kernel.model.groups;
  if (rows.sites.size == 0 || kernel.model.sequential) return false;
  const int planes = rows.max_sum < 8 ? 3 : rows.max_sum < 64 ? 6 : rows.max_sum < 128 ? 7 : 8;
  // Sums of a lane have 32 bits, those of a block 31.
  const bool fits =
      (std::int64_t{kernel.model.n_sites} << (planes + 3)) < (std::int64_t{1} << 32) &&
      kernel.model.total_sum < 0x1p30;
  const bool hubs = rows.max_sum >= 256;
  if (!fits || (hubs && !has_few_hubs(kernel.model))) return false;
  const std::optional<SweepShape> shape = shape_for(kernel, planes, queue);
  if (!shape) return false;
  // Where states do not stay on chip nothing is gained, and classes are launched one by one.
  if (kernel.sweeps > 1 && !shape->in_shared) return false;
  return enqueue_tuned(kernel, *shape, planes, hubs, queue) ||
         enqueue_planes(kernel, *shape, planes, hubs, queue);
}

}  // namespace kiln::cuda
