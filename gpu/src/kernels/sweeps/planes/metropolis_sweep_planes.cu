// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "kernels/sweeps/sweep_shape.hpp"
#include "launch.hpp"
#include "metropolis_sweep_planes.hpp"
#include "plane_warp.cuh"

namespace kiln::cuda {
namespace {

constexpr std::int64_t usual_tables = 2;  // of a block

// Adds the changes and flips of a launch to the slots of the block. An index is 2 u + even, so half
// a change is the sum of indices less 2^P - 1 for each flip. Sums are taken modulo 2^32.
template <int W, int P, bool kShared>
__device__ void add_plane_totals(const MetropolisSweep& kernel, std::int64_t first_word,
                                 const std::uint32_t (&totals)[2][32 * W]) {
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = first_word * 32 + i;
    if (slot >= kernel.state.columns * 32 || kernel.rests(slot)) continue;
    const std::uint32_t flips = totals[1][i];
    const auto half = static_cast<std::int32_t>(totals[0][i] - ((1u << P) - 1) * flips);
    if constexpr (kShared) {
      kernel.energy[slot] += 2.0 * half;
      if (kernel.accepted) kernel.accepted[slot] += flips;
    } else {  // other blocks sweep other sites of the slot
      atomicAdd(&kernel.energy[slot], 2.0 * half);
      static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
      if (kernel.accepted) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.accepted[slot]), flips);
      }
    }
  }
}

template <int W, int V, int P, bool kShared>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_planes(const __grid_constant__ MetropolisSweep kernel, std::uint32_t capacity,
                 ClassRange classes) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ PlaneBlock<W> block;
  if (!kernel.control->active(kernel.step_offset)) return;
  unsigned char* const tables = shared_bytes;
  auto* const states =
      reinterpret_cast<std::uint32_t*>(shared_bytes + capacity * PlaneFormat<P>::table_bytes);
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const View2<std::uint32_t>& state = kernel.state;
  const std::int32_t n = kernel.model.n_variables;
  const int n_words = static_cast<int>(min(state.columns - first_word, std::int64_t{W}));
  if constexpr (kShared) {
    load_words<W>(state.data + first_word, state.stride, n, n_words, states);
  }
  describe_words(kernel, first_word, block);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x)
    block.totals[0][i] = block.totals[1][i] = 0;
  PlaneWarp<W, V, P, kShared> warp(kernel, first_word, block, tables, states);
  __syncthreads();
  for (std::uint32_t s = 0;;) {
    const PlaneStep step(kernel.control->step + kernel.number_of(s));
    share_plane_tables(kernel, s, capacity, block);
    __syncthreads();
    fill_plane_tables<W, P>(kernel, step, capacity, tables, block);
    __syncthreads();
    if (block.uniform != 0) {
      warp.template sweep_classes<true>(step, s, classes);
    } else {
      warp.template sweep_classes<false>(step, s, classes);
    }
    if (!kShared || ++s >= kernel.sweeps || !kernel.control->active(kernel.number_of(s))) break;
  }
  warp.flush_sums();
  __syncthreads();
  if constexpr (kShared) {
    store_words<W>(states, state.stride, n, n_words, state.data + first_word);
  }
  add_plane_totals<W, P, kShared>(kernel, first_word, block.totals);
}

// A block has a table for each temperature of its words, as far as they fit.
template <int W, int V, int P, bool kShared>
bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape, const SweepLimits& limits,
             Queue& queue) {
  using Of = PlaneFormat<P>;
  const std::int64_t variables = kernel.model.n_variables;
  const std::int64_t states = kShared ? (variables + 1) * W * 4 : 0;
  const std::int64_t room = limits.shared_bytes / std::max(1, shape.blocks) -
                            static_cast<std::int64_t>(sizeof(PlaneBlock<W>)) - states;
  const auto capacity = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      std::min<std::int64_t>(kernel.beta.size, room / Of::table_bytes), 0, W));
  if (capacity == 0) return false;
  const std::size_t bytes = capacity * Of::table_bytes + static_cast<std::size_t>(states);
  const auto function = sweep_planes<W, V, P, kShared>;
  reserve_shared(queue, function, bytes, MetropolisSweep::name);
  const auto threads = static_cast<unsigned>(32 * shape.warps);
  enqueue_classes<W, kShared>(kernel, shape, limits, [&](dim3 grid, const ClassRange& classes) {
    function<<<grid, threads, bytes, stream_of(queue)>>>(kernel, capacity, classes);
    check_launch(MetropolisSweep::name);
  });
  return true;
}

template <int P>
bool enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape,
                    const SweepLimits& limits, Queue& queue) {
  if (!shape.in_shared) return enqueue<8, 2, P, false>(kernel, shape, limits, queue);
  switch (shape.words_per_block) {
    case 16:
      return enqueue<16, 2, P, true>(kernel, shape, limits, queue);
    case 8:
      return enqueue<8, 2, P, true>(kernel, shape, limits, queue);
    case 4:
      return enqueue<4, 1, P, true>(kernel, shape, limits, queue);
    default:
      return enqueue<2, 1, P, true>(kernel, shape, limits, queue);
  }
}

std::optional<SweepShape> shape_for(const MetropolisSweep& kernel, int planes, Queue& queue) {
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (!wanted.empty()) {
    const std::optional<SweepShape> shape = parse_sweep_shape(wanted);
    return shape && shape->by_planes ? shape : std::nullopt;
  }
  const PairwiseView& model = kernel.model;
  SliceDemand demand;
  demand.words = kernel.state.columns;
  demand.variables = model.n_variables;
  demand.quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
  demand.table_bytes = usual_tables * (std::int64_t{80} << (planes - 1)) + 14 * 1024;
  return choose_plane_shape(demand, sweep_limits_of(queue));
}

}  // namespace

bool launch_plane_sweep(const MetropolisSweep& kernel, Queue& queue) {
  const GroupView& rows = kernel.model.groups;
  if (rows.sites.size == 0 || kernel.model.sequential) return false;
  if (kernel.rule != SweepRule::metropolis || rows.max_sum > max_sum_of_planes) return false;
  if (kernel.model.total_sum >= 0x1p31) return false;  // changes have 32 bits
  const int planes = rows.max_sum < 8 ? 3 : rows.max_sum < 64 ? 6 : rows.max_sum < 128 ? 7 : 8;
  const std::optional<SweepShape> shape = shape_for(kernel, planes, queue);
  if (!shape) return false;
  // Where states do not stay on chip nothing is gained, and classes are launched one by one.
  if (kernel.sweeps > 1 && !shape->in_shared) return false;
  const SweepLimits limits = sweep_limits_of(queue);
  switch (planes) {
    case 3:
      return enqueue_placed<3>(kernel, *shape, limits, queue);
    case 6:
      return enqueue_placed<6>(kernel, *shape, limits, queue);
    case 7:
      return enqueue_placed<7>(kernel, *shape, limits, queue);
    default:
      return enqueue_placed<8>(kernel, *shape, limits, queue);
  }
}

}  // namespace kiln::cuda
