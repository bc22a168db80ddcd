// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/cuda/queue.cuh"
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "families/categorical_bytes.hpp"
#include "families/categorical_estimates.cuh"
#include "launch.hpp"
#include "sweep_shape.hpp"

// One block holds 32 slots, a lane of each of its warps is one slot. The warps share the quads of a
// class; a barrier follows each class. A lane touches the values of its own slot alone, so within a
// warp nothing needs to be ordered, and lanes beyond the last slot only take part in barriers.
namespace kiln::cuda {
namespace {

constexpr std::int64_t max_warps = 32;

/// The values of one slot: by site in shared memory, or by variable in the batch itself.
template <bool kShared>
struct Column {
  std::int8_t* values;           // already moved to the slot
  const std::int32_t* variable;  // of sites
  std::int64_t stride;           // of the batch

  __device__ std::int8_t& at(std::uint32_t site) const {
    if constexpr (kShared) return values[site * 32];
    return values[variable[site] * stride];
  }
};

/// What a lane carries through a sweep for its slot.
struct Lane {
  std::int64_t slot;
  CategoricalEstimate estimate;
  double change;  // of the energy; exact for integral models
  std::uint32_t changed;
};

// Calls take(value of the neighbour, weight) for the neighbours of a site, in the order of the row.
template <class Sum, bool kShared, class Take>
__device__ inline void for_row(const CategoricalView& model, const Column<kShared>& column,
                               std::uint32_t site, Take take) {
  const uint4* const pairs = reinterpret_cast<const uint4*>(model.entries.data);
  const std::int64_t end = model.row_begin[site + 1] / 2;
#pragma unroll 2
  for (std::int64_t pair = model.row_begin[site] / 2; pair < end; ++pair) {
    const uint4 two = __ldg(pairs + pair);  // site, weight, site, weight
    const std::int32_t a = column.at(two.x), b = column.at(two.z);
    Sum weight_a, weight_b;
    if constexpr (sizeof(Sum) == 8) {
      const double2 w = __ldg(reinterpret_cast<const double2*>(model.weights_f64.data) + pair);
      weight_a = w.x, weight_b = w.y;
    } else {
      weight_a = __uint_as_float(two.y), weight_b = __uint_as_float(two.w);
    }
    take(a, weight_a);
    take(b, weight_b);
  }
}

template <class Sum, bool kShared>
__device__ inline void metropolis(const CategoricalSweep& kernel, const Column<kShared>& column,
                                  std::uint32_t site, std::uint32_t decide, std::uint32_t propose,
                                  Lane& lane) {
  const CategoricalView& model = kernel.model;
  const std::int32_t here = column.at(site);
  const std::int32_t there = other_value(here, model.values, propose);
  Sum sum_here = 0, sum_there = 0;
  for_row<Sum>(model, column, site, [&](std::int32_t value, Sum weight) {
    if (value == here) sum_here += weight;
    if (value == there) sum_there += weight;
  });
  const auto site_index = static_cast<std::int32_t>(site);
  const double before = exact::add(static_cast<double>(sum_here), model.field_of(site_index, here));
  const double after =
      exact::add(static_cast<double>(sum_there), model.field_of(site_index, there));
  const double delta = exact::sub(after, before);
  if (!lane.estimate.accepts(kernel, lane.slot, delta, decide)) return;
  column.at(site) = static_cast<std::int8_t>(there);
  lane.change += delta;
  ++lane.changed;
}

// `local` is the lane's column of [values][32] doubles in shared memory.
template <class Sum, bool kShared>
__device__ inline void heat_bath(const CategoricalSweep& kernel, const Column<kShared>& column,
                                 std::uint32_t site, std::uint32_t decide, double* local,
                                 Lane& lane) {
  const CategoricalView& model = kernel.model;
  const auto site_index = static_cast<std::int32_t>(site);
  for (std::int32_t v = 0; v < model.values; ++v) local[v * 32] = 0;
  for_row<Sum>(model, column, site, [&](std::int32_t value, Sum weight) {
    local[value * 32] += static_cast<double>(weight);
  });
  if (model.field) {
    for (std::int32_t v = 0; v < model.values; ++v) {
      local[v * 32] = exact::add(local[v * 32], model.field_of(site_index, v));
    }
  }
  const std::int32_t here = column.at(site);
  const std::int32_t drawn = lane.estimate.value(kernel, lane.slot, local, decide);
  if (drawn == here) return;
  column.at(site) = static_cast<std::int8_t>(drawn);
  lane.change += exact::sub(local[drawn * 32], local[here * 32]);
  ++lane.changed;
}

template <class Sum, bool kShared, SweepRule kRule>
__device__ inline void sweep_quad(const CategoricalSweep& kernel, const Column<kShared>& column,
                                  std::uint32_t quad, double* local, Lane& lane) {
  const Words4 decide = draw_quad(kernel.draws(lane.slot, CategoricalSweep::decide_block), quad);
  Words4 propose{};
  if constexpr (kRule == SweepRule::metropolis) {
    propose = draw_quad(kernel.draws(lane.slot, CategoricalSweep::propose_block), quad);
  }
#pragma unroll 1
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t site = 4 * quad + i;
    if (kernel.model.variable[site] < 0) continue;
    // Selected without an index, so that the words stay in registers.
    const auto pick = [i](const Words4& words) {
      const std::uint32_t low = i == 0 ? words.word[0] : words.word[1];
      const std::uint32_t high = i == 2 ? words.word[2] : words.word[3];
      return i < 2 ? low : high;
    };
    if constexpr (kRule == SweepRule::metropolis) {
      metropolis<Sum>(kernel, column, site, pick(decide), pick(propose), lane);
    } else {
      heat_bath<Sum>(kernel, column, site, pick(decide), local, lane);
    }
  }
}

// Adds up what the warps of a block did. The changes are integers wherever they are used, so the
// order of the additions does not matter.
__device__ inline void add_totals(const CategoricalSweep& kernel, const Lane& lane, bool live) {
  __shared__ double change[32];
  __shared__ std::uint32_t changed[32];
  const unsigned at = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    change[at] = 0;
    changed[at] = 0;
  }
  __syncthreads();
  atomicAdd(&change[at], lane.change);
  atomicAdd(&changed[at], lane.changed);
  __syncthreads();
  if (threadIdx.x >= 32 || !live) return;
  if (kernel.model.integral) kernel.energy[lane.slot] += change[at];
  if (kernel.accepted) kernel.accepted[lane.slot] += changed[at];
}

// Copies the values of a lane's slot to shared memory, or back; many of them are in flight.
template <bool kBack>
__device__ void copy_column(const CategoricalSweep& kernel, std::int64_t slot, bool live,
                            std::int8_t* tile) {
  const auto warps = static_cast<std::int32_t>(blockDim.x / 32);
  const View2<std::int8_t>& state = kernel.state;
#pragma unroll 8
  for (auto site = static_cast<std::int32_t>(threadIdx.x / 32); site < kernel.model.n_sites;
       site += warps) {
    const std::int32_t variable = __ldg(kernel.model.variable.data + site);
    const bool real = live && variable >= 0;
    std::int8_t* const of_batch = state.data + variable * state.stride + slot;
    if constexpr (kBack) {
      if (real) *of_batch = tile[site * 32];
    } else {
      tile[site * 32] = real ? static_cast<std::int8_t>(__ldg(of_batch)) : std::int8_t{0};
    }
  }
}

// Shared memory: [warps][values][32] local energies for the heat bath, then [n_sites][32] values.
template <class Sum, bool kShared, SweepRule kRule>
__global__ void __launch_bounds__(1024, 1) sweep(const __grid_constant__ CategoricalSweep kernel) {
  extern __shared__ __align__(16) double shared[];
  if (!kernel.control->active(kernel.step_offset)) return;
  const CategoricalView& model = kernel.model;
  const std::int32_t in_warp = threadIdx.x % 32;
  const std::int32_t warp = threadIdx.x / 32;
  const std::int32_t warps = blockDim.x / 32;
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * 32 + in_warp;
  const bool live = slot < kernel.state.columns && !kernel.rests(slot);
  constexpr bool has_locals = kRule == SweepRule::heat_bath;
  double* const local = has_locals ? shared + warp * model.values * 32 + in_warp : nullptr;
  double* const after_locals = has_locals ? shared + warps * model.values * 32 : shared;
  std::int8_t* const tile = reinterpret_cast<std::int8_t*>(after_locals) + in_warp;
  const Column<kShared> column{kShared ? tile : kernel.state.data + slot, model.variable.data,
                               kernel.state.stride};
  if constexpr (kShared) copy_column<false>(kernel, slot, live, tile);
  Lane lane{slot, CategoricalEstimate(live ? kernel.beta_of(slot) : 0.0), 0.0, 0u};
  __syncthreads();
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const std::int32_t end = model.class_begin[c + 1];
    for (std::int32_t quad = model.class_begin[c] + warp; live && quad < end; quad += warps) {
      sweep_quad<Sum, kShared, kRule>(kernel, column, static_cast<std::uint32_t>(quad), local,
                                      lane);
    }
    __syncthreads();
  }
  if constexpr (kShared) copy_column<true>(kernel, slot, live, tile);
  add_totals(kernel, lane, live);
}

struct Shape {
  std::int64_t warps = 1;
  bool in_shared = true;
  std::int64_t bytes = 0;  // of dynamic shared memory
};

std::int64_t local_bytes(const CategoricalSweep& kernel) {
  return kernel.rule == SweepRule::heat_bath ? std::int64_t{kernel.model.values} * 32 * 8 : 0;
}

// As many warps and as much shared memory of a wish as the device has.
Shape fitting(const CategoricalSweep& kernel, std::int64_t warps, bool in_shared,
              const SweepLimits& limits) {
  const std::int64_t each = local_bytes(kernel);
  const std::int64_t tile = std::int64_t{kernel.model.n_sites} * 32;
  Shape shape;
  shape.in_shared = in_shared && tile + each <= limits.shared_bytes;
  const std::int64_t room = limits.shared_bytes - (shape.in_shared ? tile : 0);
  const std::int64_t most = each == 0 ? max_warps : std::min(max_warps, room / each);
  shape.warps = kernel.model.sequential ? 1 : std::clamp<std::int64_t>(warps, 1, most);
  shape.bytes = shape.warps * each + (shape.in_shared ? tile : 0);
  return shape;
}

Shape shape_for(const CategoricalSweep& kernel, Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  const std::optional<SweepShape> wanted = parse_sweep_shape(wanted_sweep_shape(queue));
  if (wanted && !wanted->in_slices)
    return fitting(kernel, wanted->warps, wanted->in_shared, limits);
  // 32 warps hide the latency of a multiprocessor; they come from several blocks where those exist.
  const std::int64_t blocks = (kernel.state.columns + 31) / 32;
  const std::int64_t per_device = (blocks + limits.multiprocessors - 1) / limits.multiprocessors;
  const std::int64_t quads =
      kernel.model.n_sites / 4 / std::max<std::int64_t>(1, kernel.model.n_classes);
  const std::int64_t tile = std::max<std::int64_t>(1, std::int64_t{kernel.model.n_sites} * 32);
  const std::int64_t by_memory = std::max<std::int64_t>(1, limits.shared_bytes / tile);
  const std::int64_t resident = std::clamp<std::int64_t>(std::min(by_memory, per_device), 1, 32);
  const std::int64_t useful = std::clamp<std::int64_t>(quads, 1, max_warps);
  return fitting(kernel, std::clamp<std::int64_t>(32 / resident, 1, useful), true, limits);
}

template <class Sum, bool kShared, SweepRule kRule>
void enqueue(const CategoricalSweep& kernel, const Shape& shape, Queue& queue) {
  const auto function = sweep<Sum, kShared, kRule>;
  if (shape.bytes > 32 * 1024) {  // beside the totals, more than the default needs an opt-in
    reserve_shared(queue, function, static_cast<std::size_t>(shape.bytes), CategoricalSweep::name);
  }
  const auto blocks = static_cast<unsigned>((kernel.state.columns + 31) / 32);
  function<<<blocks, static_cast<unsigned>(32 * shape.warps), static_cast<std::size_t>(shape.bytes),
             stream_of(queue)>>>(kernel);
  check_launch(CategoricalSweep::name);
}

template <class Sum, bool kShared>
void enqueue_rule(const CategoricalSweep& kernel, const Shape& shape, Queue& queue) {
  if (kernel.rule == SweepRule::heat_bath) {
    enqueue<Sum, kShared, SweepRule::heat_bath>(kernel, shape, queue);
  } else {
    enqueue<Sum, kShared, SweepRule::metropolis>(kernel, shape, queue);
  }
}

template <class Sum>
void enqueue_placed(const CategoricalSweep& kernel, const Shape& shape, Queue& queue) {
  if (shape.in_shared) {
    enqueue_rule<Sum, true>(kernel, shape, queue);
  } else {
    enqueue_rule<Sum, false>(kernel, shape, queue);
  }
}

}  // namespace

template <>
void launch(const CategoricalSweep& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  if (launch_categorical_bytes(kernel, queue)) return;
  const Shape shape = shape_for(kernel, queue);
  if (kernel.model.arithmetic == Arithmetic::wide) {
    enqueue_placed<double>(kernel, shape, queue);
  } else {
    enqueue_placed<float>(kernel, shape, queue);
  }
}

}  // namespace kiln::cuda
