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
#include "plane_launch.cuh"
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

// What a block has beside words and states: some tables, and the queues of its warps.
constexpr std::int64_t usual_tables = 2;
template <int P>
constexpr std::int64_t usual_bytes = usual_tables* PlaneFormat<P>::table_bytes +
                                     16 * queued_ties * sizeof(TiedWords<2, P>) + 1024;

const Tunable plane_sweep(tunable_of("metropolis_sweep_planes", "metropolis_sweep",
                                     "words of 32 replicas",
                                     {{"words", {2, 4, 8, 16}}, {"warps", {4, 8, 16}}}));

struct PlaneLauncher {
  static const Tunable* tunable() { return &plane_sweep; }
  static constexpr bool four_words = false;
  template <int W, int V, int P, PlaneRows kRows>
  static bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape,
                      const SweepLimits& limits, Queue& queue) {
    return cuda::enqueue<W, V, P, kRows>(kernel, shape, limits, queue);
  }
  static std::int64_t table_bytes(int planes) {
    return planes == 3   ? usual_bytes<3>
           : planes == 6 ? usual_bytes<6>
           : planes == 7 ? usual_bytes<7>
                         : usual_bytes<8>;
  }
  static std::int64_t steps_of(const PairwiseView& /*model*/) { return 0; }
};

}  // namespace

bool launch_plane_sweep(const MetropolisSweep& kernel, Queue& queue) {
  return launch_by_planes<PlaneLauncher>(kernel, queue);
}

}  // namespace kiln::cuda
