// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include "kernels/bifurcation/bifurcation_tiles.hpp"
#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A thread has four slots of a site, whose shown values are one word. Slots are a multiple of 32.
constexpr int slots_of_thread = 4;

// Shown values of four slots, a byte each.
union ShownWord {
  std::uint32_t word;
  std::int8_t at[slots_of_thread];
};

// The shown values [sites][slots] before step s of a launch, or after it.
__device__ std::uint32_t* shown_of(const BifurcationSteps& kernel, std::uint32_t s) {
  const std::int64_t cells = kernel.position.rows * kernel.position.columns;
  return reinterpret_cast<std::uint32_t*>(kernel.scratch.data + s % 2 * cells);
}

__global__ void __launch_bounds__(block_size)
    show_positions(const __grid_constant__ BifurcationSteps kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  const std::int64_t slots = kernel.position.columns, quads = slots / slots_of_thread;
  std::uint32_t* const shown = shown_of(kernel, 0);
  for (std::int64_t i = thread_index(); i < kernel.position.rows * quads; i += thread_count()) {
    const float* const position = &kernel.position(i / quads, i % quads * slots_of_thread);
    ShownWord values;
#pragma unroll
    for (int l = 0; l < slots_of_thread; ++l) {
      values.at[l] = static_cast<std::int8_t>(bifurcation::shown(position[l], kernel.variant));
    }
    shown[i] = values.word;
  }
}

// Sums are integers of 32 bits, or added in double precision in the order of the row.
template <class Sum>
__device__ void add_forces(const BifurcationSteps& kernel, const std::uint32_t* shown,
                           std::int64_t site, std::int64_t quad, Sum* force) {
  const PairwiseView& model = kernel.model;
  const std::int64_t quads = kernel.position.columns / slots_of_thread;
  const auto own = static_cast<Sum>(
      exact::mul(model.field[site], static_cast<double>(bifurcation::unit_of(kernel.variant))));
#pragma unroll
  for (int l = 0; l < slots_of_thread; ++l) force[l] = own;
  const std::int64_t end = model.row_begin[site + 1];
  for (std::int64_t e = model.row_begin[site]; e < end; ++e) {
    const PairEntry entry = model.entries[e];
    ShownWord q;
    q.word = shown[entry.site * quads + quad];
#pragma unroll
    for (int l = 0; l < slots_of_thread; ++l) {
      if constexpr (sizeof(Sum) == 4) {
        force[l] += static_cast<Sum>(entry.weight) * q.at[l];
      } else {
        const double weight = model.arithmetic == Arithmetic::wide
                                  ? model.weights_f64[e]
                                  : static_cast<double>(entry.weight);
        force[l] = exact::add(force[l], exact::mul(weight, static_cast<double>(q.at[l])));
      }
    }
  }
}

__device__ float rounded(std::int32_t force) { return __int2float_rn(force); }
__device__ float rounded(double force) { return __double2float_rn(force); }

template <class Sum>
__global__ void __launch_bounds__(block_size)
    move_oscillators(const __grid_constant__ BifurcationSteps kernel, std::uint32_t s) {
  if (!kernel.control->active(std::uint64_t{kernel.step_offset} + s)) return;
  __shared__ BifurcationRounds::Place place;
  if (threadIdx.x == 0) place = kernel.place_of(s);
  __syncthreads();
  const std::int64_t slots = kernel.position.columns, quads = slots / slots_of_thread;
  const std::uint32_t* const shown = shown_of(kernel, s);
  std::uint32_t* const next = shown_of(kernel, s + 1);
  for (std::int64_t i = thread_index(); i < kernel.position.rows * quads; i += thread_count()) {
    const std::int64_t site = i / quads, quad = i % quads;
    Sum force[slots_of_thread];
    add_forces(kernel, shown, site, quad, force);
    ShownWord values;
#pragma unroll
    for (int l = 0; l < slots_of_thread; ++l) {
      const std::int64_t slot = quad * slots_of_thread + l;
      const BifurcationTuning tuning = kernel.tuning[kernel.rung_of[slot]];
      const float d = bifurcation::detuning(tuning.step, place.step, place.length);
      const Oscillator now = bifurcation::moved(
          {kernel.position(site, slot), kernel.momentum(site, slot)}, rounded(force[l]), d, tuning);
      kernel.position(site, slot) = now.position;
      kernel.momentum(site, slot) = now.momentum;
      values.at[l] = static_cast<std::int8_t>(bifurcation::shown(now.position, kernel.variant));
    }
    next[i] = values.word;
  }
}

}  // namespace

template <>
void launch(const BifurcationSteps& kernel, Queue& queue) {
  if (launch_tiles(kernel, queue)) return;
  const std::int64_t threads = kernel.position.rows * kernel.position.columns / slots_of_thread;
  if (threads <= 0) return;
  const unsigned blocks = blocks_for(threads, INT32_MAX);
  const cudaStream_t stream = stream_of(queue);
  show_positions<<<blocks, block_size, 0, stream>>>(kernel);
  for (std::uint32_t s = 0; s < kernel.steps; ++s) {
    if (kernel.forces_fit_int32()) {
      move_oscillators<std::int32_t><<<blocks, block_size, 0, stream>>>(kernel, s);
    } else {
      move_oscillators<double><<<blocks, block_size, 0, stream>>>(kernel, s);
    }
  }
  check_launch(BifurcationSteps::name);
}

}  // namespace kiln::cuda
