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
#include "plane_demand.hpp"
#include "plane_mixed.cuh"
#include "plane_sweep.cuh"
#include "plane_warp.cuh"

namespace kiln::cuda {
namespace {

template <int W, int V, int P, PlaneRows kRows>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_planes(const __grid_constant__ MetropolisSweep kernel, std::uint32_t capacity,
                 ClassRange classes) {
  if (!kernel.control->active(kernel.step_offset)) return;
  constexpr bool shared = kRows != PlaneRows::off_chip;
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const PlaneBlock<W>& block = memory.block;
  const std::int64_t first_word = std::int64_t{blockIdx.x} * W;
  begin_launch<W, V, P, kRows>(kernel, {first_word}, capacity);
  bool more = true, counts = false;
  for (std::uint32_t s = 0;;) {
    if (more) prepare_tables<W, V, P, kRows>(kernel, capacity, s);
    if (shared && s == 0) end_loading();
    // On chip numbers are counted after uniform sweeps, and before them where energies do not hold.
    const bool uniform = more && block.kind != PlaneKind::mixed;
    if constexpr (shared) {
      const bool now = kernel.energies_hold ? !more : uniform != counts;
      if (now) add_numbers<W, V, P, kRows>(kernel, capacity, uniform);
      counts = uniform;
    }
    if (!more) break;
    const auto step = [&] { return PlaneStep(kernel.control->step + kernel.number_of(s)); };
    const auto next = [&] {
      more = shared && ++s < kernel.sweeps && kernel.control->active(kernel.number_of(s));
      return more;
    };
    if (block.kind == PlaneKind::mixed) {
      sweep_mixed<W, 1, P, kRows>(kernel, capacity, s, classes);
      next();
    } else if (block.kind == PlaneKind::one_table && kernel.sweeps > 1) {
      if constexpr (shared) {
        PlaneWarp<W, V, P, kRows, true> warp(kernel, first_word, memory);
        std::uint32_t of_ahead = 0;
        do {
          warp.sweep_classes(step(), classes, of_ahead, capacity);
        } while (next() && ++of_ahead < block.ahead);
        warp.finish();
      }
    } else {
      PlaneWarp<W, V, P, kRows, false> warp(kernel, first_word, memory);
      warp.sweep_classes(step(), classes, 0, capacity);
      warp.finish();
      next();
    }
  }
  end_launch<W, V, P, kRows>(kernel, capacity);
}

// A block has a table for each temperature of its words, as far as they fit.
template <int W, int V, int P, PlaneRows kRows>
bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape, const SweepLimits& limits,
             Queue& queue) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  const auto warps = static_cast<std::uint32_t>(shape.warps);
  const std::int64_t others = Memory::before_states(0) +
                              std::int64_t{Memory::bytes_of_model(kernel.model)} +
                              std::int64_t{warps} * Memory::queue_bytes + 128;
  const std::int64_t room = limits.shared_bytes / std::max(1, shape.blocks) - others;
  const std::int64_t wanted = std::max<std::int64_t>(
      std::min<std::int64_t>(kernel.beta.size, W),
      std::min<std::int64_t>(kernel.sweeps, P < 6 ? max_ahead : max_ahead / 2));
  const auto capacity = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(room / PlaneFormat<P>::table_bytes, 0, wanted));
  if (capacity == 0) return false;
  const auto bytes = Memory::before_states(capacity) + Memory::bytes_of_model(kernel.model) +
                     warps * Memory::queue_bytes;
  const auto function = sweep_planes<W, V, P, kRows>;
  reserve_shared(queue, function, bytes, MetropolisSweep::name);
  enqueue_classes<W, Memory::shared>(
      kernel, shape, limits, [&](dim3 grid, const ClassRange& classes) {
        function<<<grid, 32 * warps, bytes, stream_of(queue)>>>(kernel, capacity, classes);
        check_launch(MetropolisSweep::name);
      });
  return true;
}

template <int P, PlaneRows kRows>
bool enqueue_words(const MetropolisSweep& kernel, const SweepShape& shape,
                   const SweepLimits& limits, Queue& queue) {
  switch (shape.words_per_block) {
    case 16:
      return enqueue<16, 2, P, kRows>(kernel, shape, limits, queue);
    case 8:
      if constexpr (P > 3) {
        if (has_few_sites(kernel.model, shape.words_per_block, shape.warps)) {
          return enqueue<8, 1, P, kRows>(kernel, shape, limits, queue);
        }
      }
      return enqueue<8, 2, P, kRows>(kernel, shape, limits, queue);
    case 4:
      return enqueue<4, 1, P, kRows>(kernel, shape, limits, queue);
    default:
      return enqueue<2, 2, P, kRows>(kernel, shape, limits, queue);
  }
}

template <int P>
bool enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape,
                    const SweepLimits& limits, Queue& queue) {
  if (shape.in_shared) {
    return kernel.model.staged.sites.size > 0 &&
           enqueue_words<P, PlaneRows::on_chip>(kernel, shape, limits, queue);
  }
  const View2<std::uint32_t>& state = kernel.state;
  const bool in_pairs =
      state.stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(state.data) % 8 == 0;
  if (in_pairs) return enqueue<8, 2, P, PlaneRows::off_chip>(kernel, shape, limits, queue);
  return enqueue<8, 1, 8, PlaneRows::off_chip>(kernel, shape, limits, queue);
}

// What a block has beside words and states: some tables, and the queues of its warps.
constexpr std::int64_t usual_tables = 2;
template <int P>
constexpr std::int64_t usual_bytes = usual_tables* PlaneFormat<P>::table_bytes +
                                     16 * queued_ties * sizeof(TiedWords<2, P>) + 1024;

std::optional<SweepShape> shape_for(const MetropolisSweep& kernel, int planes, Queue& queue) {
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (!wanted.empty()) {
    const std::optional<SweepShape> shape = parse_sweep_shape(wanted);
    return shape && shape->by_planes ? shape : std::nullopt;
  }
  const PairwiseView& model = kernel.model;
  const SweepLimits limits = sweep_limits_of(queue);
  SliceDemand demand;
  demand.words = kernel.state.columns;
  demand.variables = model.n_variables;
  demand.quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
  demand.table_bytes = planes == 3   ? usual_bytes<3>
                       : planes == 6 ? usual_bytes<6>
                       : planes == 7 ? usual_bytes<7>
                                     : usual_bytes<8>;
  if (has_short_rows(model)) {
    SliceDemand with_rows = demand;
    with_rows.table_bytes += std::int64_t{model.n_sites} * 16;
    const SweepShape shape = choose_plane_shape(with_rows, limits);
    if (shape.in_shared) return shape;
    demand.words = std::min<std::int64_t>(demand.words, 2 * limits.multiprocessors);
    SweepShape two = choose_plane_shape(demand, limits);
    if (has_rows_of_four(model) && two.in_shared) {
      two.words_per_block = 2;
      return two;
    }
    demand.words = kernel.state.columns;
  }
  return choose_plane_shape(demand, limits);
}

}  // namespace

bool launch_plane_sweep(const MetropolisSweep& kernel, Queue& queue) {
  if (!takes_planes(kernel)) return false;
  const int planes = planes_of_numbers(kernel.model);
  const std::optional<SweepShape> shape = shape_for(kernel, planes, queue);
  if (!shape) return false;
  // Where states do not stay on chip nothing is gained, and classes are launched one by one.
  if (kernel.sweeps > 1 && !shape->in_shared) return false;
  const SweepLimits limits = sweep_limits_of(queue);
  if (shape->in_shared && shape->words_per_block == 2 && has_rows_of_four(kernel.model) &&
      enqueue<2, 2, 3, PlaneRows::four_on_chip>(kernel, *shape, limits, queue)) {
    return true;
  }
  if (shape->in_shared && has_short_rows(kernel.model) &&
      enqueue_words<3, PlaneRows::short_on_chip>(kernel, *shape, limits, queue)) {
    return true;
  }
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
