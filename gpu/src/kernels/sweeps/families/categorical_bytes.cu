// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "categorical_bytes.hpp"
#include "categorical_heat_quads.cuh"
#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "kernels/sweeps/sweep_shape.hpp"
#include "launch.hpp"

// A block holds 32 or 64 slots of all sites in shared memory. A lane has four slots, so a warp
// works on four or two quads of a class at a time; a barrier follows each class.
namespace kiln::cuda {
namespace {

constexpr int max_threads = 512;
constexpr std::int64_t busy_warps = 16;  // of 128 registers each, on a multiprocessor
constexpr int max_heat_values = 8;
constexpr double largest_sum = 127;  // of the sizes of couplings: changes of a site fill a byte

// Copies the values of a block to its tile, or back, sixteen slots at a time and many rows in
// flight. @pre All slots of the block exist, and rows of the batch begin at multiples of sixteen.
template <int kWords, bool kBack>
__device__ void copy_rows(const CategoricalSweep& kernel, std::int64_t first, uint4* tile) {
  constexpr std::uint32_t parts = 2 * kWords;
  const std::uint32_t part = threadIdx.x % parts;
  const auto sites = static_cast<std::uint32_t>(kernel.model.n_sites);
  std::int8_t* const batch = kernel.state.data + first + 16 * part;
#pragma unroll 8
  for (std::uint32_t site = threadIdx.x / parts; site < sites; site += blockDim.x / parts) {
    const std::int32_t variable = __ldg(kernel.model.variable.data + site);
    auto* const row = reinterpret_cast<uint4*>(batch + variable * kernel.state.stride);
    uint4& values = tile[CategoricalTile<kWords>::row(site) * parts + part];
    if constexpr (kBack) {
      if (variable >= 0) *row = values;
    } else {
      values = variable >= 0 ? __ldg(row) : uint4{};
    }
  }
}

// The same for any rows, byte by byte.
template <int kWords, bool kBack>
__device__ void copy_bytes(const CategoricalSweep& kernel, std::int64_t first, std::int8_t* tile) {
  constexpr std::uint32_t slots = 32 * kWords;
  const auto sites = static_cast<std::uint32_t>(kernel.model.n_sites);
  // A block may have fewer threads than slots.
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < sites * slots; i += blockDim.x) {
    const std::uint32_t site = i / slots, of_block = i % slots;
    const std::int64_t slot = first + of_block;
    const std::int32_t variable = __ldg(kernel.model.variable.data + site);
    const bool real = variable >= 0 && slot < kernel.state.columns;
    std::int8_t& value = tile[CategoricalTile<kWords>::row(site) * slots + of_block];
    if constexpr (kBack) {
      if (real) kernel.state(variable, slot) = value;
    } else {
      value = real ? kernel.state(variable, slot) : std::int8_t{0};
    }
  }
}

template <int kWords, bool kBack>
__device__ void copy_values(const CategoricalSweep& kernel, std::uint32_t* tile) {
  const View2<std::int8_t>& state = kernel.state;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 32 * kWords;
  const auto address =
      reinterpret_cast<std::uintptr_t>(state.data) | static_cast<std::uintptr_t>(state.stride);
  if (first + 32 * kWords <= state.columns && address % 16 == 0) {
    copy_rows<kWords, kBack>(kernel, first, reinterpret_cast<uint4*>(tile));
  } else {
    copy_bytes<kWords, kBack>(kernel, first, reinterpret_cast<std::int8_t*>(tile));
  }
}

template <bool kFields>
__device__ CategoricalLane<kFields> make_lane(const CategoricalSweep& kernel, std::int64_t slot,
                                              const StepDraws& step, std::uint64_t key) {
  CategoricalLane<kFields> lane;
  lane.first = slot;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const std::int64_t of_batch = min(slot + r, kernel.state.columns - 1);
    const double beta = kernel.beta_of(of_batch);
    const std::uint64_t product = step.of_replica(kernel.draw_ids.replica[of_batch], key);
    lane.beta[r] = static_cast<float>((beta < 1e25 ? beta : 1e25) * 1.4426950408889634);
    lane.product[r][0] = high_word(product), lane.product[r][1] = low_word(product);
    if (slot + r < kernel.state.columns && !kernel.rests(of_batch)) lane.moves |= 255u << (8 * r);
  }
  return lane;
}

// What all lanes of a slot did.
template <int kWords, bool kFields>
struct Totals {
  typename CategoricalLane<kFields>::Change change[32 * kWords];
  std::uint32_t changed[32 * kWords];
};

template <int kWords, bool kSharedKeys, bool kFields, int kValues>
__device__ void sweep_block(const CategoricalSweep& kernel, std::uint32_t* tile,
                            Totals<kWords, kFields>& totals) {
  constexpr int lanes = 8 * kWords, quads = 4 / kWords;  // of a warp
  const CategoricalView& model = kernel.model;
  const std::uint64_t number = kernel.control->step + kernel.step_offset;
  StepDraws decide(number), propose(number);
  propose.counter3 = counter_word3(RngDomain::metropolis, CategoricalSweep::propose_block, number);
  const int of_block = 4 * (static_cast<int>(threadIdx.x) % lanes);
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * 32 * kWords + of_block;
  const std::uint64_t key = kernel.draw_ids.key[min(slot, kernel.state.columns - 1)];
  CategoricalLane<kFields> lane = make_lane<kFields>(kernel, slot, decide, key);
  const CategoricalTile<kWords> of_lane{tile + of_block / 4};
  const ComputedKeys keys{low_word(key), high_word(key)};
  const auto first = static_cast<std::int32_t>(threadIdx.x / lanes);
  const auto stride = static_cast<std::int32_t>(blockDim.x / 32 * quads);
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const std::int32_t end = model.class_begin[c + 1];
    for (std::int32_t quad = model.class_begin[c] + first; quad < end; quad += stride) {
      const auto at = static_cast<std::uint32_t>(quad);
      if constexpr (kValues == 0) {
        sweep_categorical_quad<kSharedKeys, kFields>(kernel, of_lane, decide, propose, keys, at,
                                                     lane);
      } else {
        heat_categorical_quad<kSharedKeys, kFields, kValues>(kernel, of_lane, decide, keys, at,
                                                             lane);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    atomicAdd(&totals.change[of_block + r], lane.change[r]);
    atomicAdd(&totals.changed[of_block + r], lane.changed[r]);
  }
}

// kValues is 0 for the Metropolis rule, for the heat bath a limit of the number of values.
template <int kWords, bool kFields, int kValues>
__global__ void __launch_bounds__(max_threads)
    sweep_bytes(const __grid_constant__ CategoricalSweep kernel) {
  extern __shared__ __align__(16) std::uint32_t tile[];
  __shared__ Totals<kWords, kFields> totals;
  if (!kernel.control->active(kernel.step_offset)) return;
  constexpr int slots = 32 * kWords;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * slots;
  const int live = static_cast<int>(min(kernel.state.columns - first, std::int64_t{slots}));
  const View1<const std::uint64_t>& keys = kernel.draw_ids.key;
  copy_values<kWords, false>(kernel, tile);
  bool shared_keys = true;  // by the four slots of each lane
  for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
    totals.change[i] = 0, totals.changed[i] = 0;
    if (i < live) shared_keys = shared_keys && keys[first + i] == keys[first + i / 4 * 4];
  }
  if (__syncthreads_and(shared_keys) != 0) {
    sweep_block<kWords, true, kFields, kValues>(kernel, tile, totals);
  } else {
    sweep_block<kWords, false, kFields, kValues>(kernel, tile, totals);
  }
  __syncthreads();
  copy_values<kWords, true>(kernel, tile);
  for (int i = static_cast<int>(threadIdx.x); i < live; i += static_cast<int>(blockDim.x)) {
    if (kernel.rests(first + i)) continue;
    kernel.energy[first + i] += static_cast<double>(totals.change[i]);
    if (kernel.accepted) kernel.accepted[first + i] += totals.changed[i];
  }
}

std::int64_t tile_bytes(const CategoricalSweep& kernel, int words) {
  return std::int64_t{kernel.model.n_sites} * 32 * words;
}

// Two words of slots read the rows of the model half as often; one leaves more blocks. None: the
// states do not fit.
std::optional<SweepShape> shape_for(const CategoricalSweep& kernel, Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  const std::optional<SweepShape> wanted = parse_sweep_shape(wanted_sweep_shape(queue));
  if (wanted && (wanted->in_slices || !wanted->in_shared)) return std::nullopt;
  const auto blocks_of = [&](int words) {
    return (kernel.state.columns + 32 * words - 1) / (32 * words);
  };
  SweepShape shape;
  const bool two = tile_bytes(kernel, 2) <= limits.shared_bytes &&
                   blocks_of(2) >= std::int64_t{limits.multiprocessors};
  shape.words_per_block = wanted ? wanted->words_per_block : two ? 2 : 1;
  const std::int64_t bytes = std::max<std::int64_t>(1, tile_bytes(kernel, shape.words_per_block));
  if (bytes > limits.shared_bytes) return std::nullopt;
  const std::int64_t per_device =
      (blocks_of(shape.words_per_block) + limits.multiprocessors - 1) / limits.multiprocessors;
  const std::int64_t resident =
      std::clamp<std::int64_t>(std::min(limits.shared_bytes / bytes, per_device), 1, busy_warps);
  const std::int64_t quads = kernel.model.n_sites / 4 / std::max(1, kernel.model.n_classes);
  const std::int64_t useful = std::max<std::int64_t>(1, quads * shape.words_per_block / 4);
  const std::int64_t warps = wanted ? wanted->warps : std::min(busy_warps / resident, useful);
  shape.warps = static_cast<int>(std::clamp<std::int64_t>(warps, 1, max_threads / 32));
  return shape;
}

template <int kWords, bool kFields, int kValues>
void enqueue(const CategoricalSweep& kernel, const SweepShape& shape, Queue& queue) {
  const auto bytes = static_cast<std::size_t>(tile_bytes(kernel, kWords));
  const auto function = sweep_bytes<kWords, kFields, kValues>;
  reserve_shared(queue, function, bytes, CategoricalSweep::name);
  const auto blocks =
      static_cast<unsigned>((kernel.state.columns + 32 * kWords - 1) / (32 * kWords));
  function<<<blocks, static_cast<unsigned>(32 * shape.warps), bytes, stream_of(queue)>>>(kernel);
  check_launch(CategoricalSweep::name);
}

template <int kWords, bool kFields>
void enqueue_rule(const CategoricalSweep& kernel, const SweepShape& shape, Queue& queue) {
  if (kernel.rule == SweepRule::metropolis) {
    enqueue<kWords, kFields, 0>(kernel, shape, queue);
  } else if (kernel.model.values <= 4) {
    enqueue<kWords, kFields, 4>(kernel, shape, queue);
  } else {
    enqueue<kWords, kFields, max_heat_values>(kernel, shape, queue);
  }
}

}  // namespace

bool launch_categorical_bytes(const CategoricalSweep& kernel, Queue& queue) {
  const CategoricalView& model = kernel.model;
  const bool rule = kernel.rule == SweepRule::metropolis || model.values <= max_heat_values;
  if (!rule || !model.integral || model.sequential || model.max_coupling_sum > largest_sum) {
    return false;
  }
  const std::optional<SweepShape> shape = shape_for(kernel, queue);
  if (!shape) return false;
  const bool fields = model.field.size > 0;
  if (shape->words_per_block == 2) {
    fields ? enqueue_rule<2, true>(kernel, *shape, queue)
           : enqueue_rule<2, false>(kernel, *shape, queue);
  } else {
    fields ? enqueue_rule<1, true>(kernel, *shape, queue)
           : enqueue_rule<1, false>(kernel, *shape, queue);
  }
  return true;
}

}  // namespace kiln::cuda
