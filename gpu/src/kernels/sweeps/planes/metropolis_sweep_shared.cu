// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "kernels/sweeps/sweep_shape.hpp"
#include "launch.hpp"
#include "metropolis_sweep_shared.hpp"
#include "plane_launch.cuh"
#include "plane_sweep.cuh"
#include "shared_warp.cuh"

namespace kiln::cuda {
namespace {

// Sweeps a block with a word of other keys, temperatures or replicas than those of a word.
template <int W, int P, PlaneRows kRows>
__device__ __noinline__ void sweep_one_by_one(const MetropolisSweep& kernel,
                                              const SharedRoom<W, P>& room, std::uint32_t sweep,
                                              const ClassRange& classes) {
  const PlaneMemory<W, 1, P, kRows> memory(0, kernel.model);
  SharedWarp<W, 1, P, kRows, true> warp(kernel, std::int64_t{blockIdx.x} * W, memory, room);
  warp.sweep_classes([](std::uint32_t, std::uint32_t) {}, sweep, classes);
  warp.finish();
}

// Makes the tables of a sweep, and of the next ones if all words have one temperature.
// @return whether all words of the block have one.
template <int W, int P, bool kGuide>
__device__ inline bool prepare_shared_tables(const MetropolisSweep& kernel, std::uint32_t capacity,
                                             std::uint32_t sweep, unsigned char* tables,
                                             PlaneBlock<W>& block) {
  share_plane_tables(kernel, sweep, capacity, block);
  __syncthreads();
  const bool alone = threadIdx.x < W && block.words[threadIdx.x % W].table == no_table;
  const bool all = __syncthreads_or(alone) == 0;
  fill_shared_tables<W, P, kGuide>(kernel, capacity, tables, block);
  __syncthreads();
  return all;
}

template <int W, int V, int P, PlaneRows kRows>
__global__ void __launch_bounds__(max_slice_threads)
    sweep_shared(const __grid_constant__ MetropolisSweep kernel,
                 const __grid_constant__ SharedRoom<W, P> room, ClassRange classes) {
  if (!kernel.control->active(kernel.step_offset)) return;
  using Warp = SharedWarp<W, V, P, kRows, false>;
  constexpr bool on_chip = kRows != PlaneRows::off_chip;
  const PlaneMemory<W, V, P, kRows> memory(0, kernel.model);
  PlaneBlock<W>& block = memory.block;
  const std::int64_t first_word = std::int64_t{blockIdx.x} * W;
  unsigned char* const tables =
      reinterpret_cast<unsigned char*>(memory.first_queue()) + room.bytes_of_steps(blockDim.x);
  begin_launch<W, V, P, kRows>(kernel, {first_word}, 0);
  if constexpr (on_chip) {
    end_loading();
    if (!kernel.energies_hold) add_numbers<W, V, P, kRows>(kernel, 0, true);
  }
  Warp warp(kernel, first_word, memory, room);
  std::uint32_t s = 0;
  bool more = true;
  const auto next = [&] {
    more = on_chip && ++s < kernel.sweeps && kernel.control->active(kernel.number_of(s));
    return more;
  };
  while (more) {
    const bool by_words =
        prepare_shared_tables<W, P, !Warp::few_steps>(kernel, room.capacity, s, tables, block);
    if (!by_words) {
      sweep_one_by_one<W, P, kRows>(kernel, room, s, classes);
      next();
      continue;
    }
    std::uint32_t of_ahead = 0;
    do {
      const std::uint64_t step = kernel.control->step + kernel.number_of(s);
      const auto draw = [&](std::uint32_t begin, std::uint32_t n) {
        SharedDraws<W, V, P, Warp::few_steps>(block, room, tables, step, of_ahead)
            .draw(begin, n, warp.steps);
        __syncthreads();
      };
      warp.sweep_classes(draw, s, classes);
    } while (next() && ++of_ahead < block.ahead);
  }
  warp.finish();
  if constexpr (on_chip) add_numbers<W, V, P, kRows>(kernel, 0, false);
  end_launch<W, V, P, kRows>(kernel, 0);
}

// Divides the memory of a block: a table for each temperature of its words, as far as they fit, and
// the steps of as many sites as remain. Stages need those of all sites.
template <int W, int V, int P, PlaneRows kRows>
std::optional<SharedRoom<W, P>> room_for(const MetropolisSweep& kernel, const SweepShape& shape,
                                         const SweepLimits& limits) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  using Room = SharedRoom<W, P>;
  constexpr std::int64_t table = SharedFormat<P>::table_bytes;
  const auto threads = static_cast<std::uint32_t>(32 * shape.warps);
  const std::int64_t bytes = limits.shared_bytes / std::max(1, shape.blocks) -
                             Memory::before_states(0) - Memory::bytes_of_model(kernel.model) - 128;
  const std::int64_t pass = 4 * std::int64_t{threads}, sites = Room::sites_of_pass(threads);
  const std::int64_t all_passes = (kernel.model.n_sites + sites - 1) / sites;
  constexpr std::int64_t usual_passes = 32;
  const std::int64_t wanted = Memory::shared ? all_passes : std::min(all_passes, usual_passes);
  const std::int64_t least =
      std::max<std::int64_t>(pass * (Memory::staged ? wanted : 1), Room::bytes_of_sums(threads));
  const std::int64_t tables = std::max(std::min<std::int64_t>(kernel.beta.size, W),
                                       std::min<std::int64_t>(kernel.sweeps, max_ahead));
  Room room;
  room.even_sums = Memory::by_site && has_rows_of_four(kernel.model);
  room.capacity =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>((bytes - least) / table, 0, tables));
  if (room.capacity == 0) return std::nullopt;
  room.passes =
      static_cast<std::uint32_t>(std::min((bytes - room.capacity * table) / pass, wanted));
  return room;
}

template <int W, int V, int P, PlaneRows kRows>
bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape, const SweepLimits& limits,
             Queue& queue) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  const auto room = room_for<W, V, P, kRows>(kernel, shape, limits);
  if (!room) return false;
  const auto threads = static_cast<std::uint32_t>(32 * shape.warps);
  const std::uint32_t bytes =
      Memory::before_states(0) + Memory::bytes_of_model(kernel.model) + room->bytes(threads);
  const auto function = sweep_shared<W, V, P, kRows>;
  reserve_shared(queue, function, bytes, MetropolisSweep::name);
  enqueue_classes<W, Memory::shared>(
      kernel, shape, limits, [&](dim3 grid, const ClassRange& classes) {
        function<<<grid, threads, bytes, stream_of(queue)>>>(kernel, *room, classes);
        check_launch(MetropolisSweep::name);
      });
  return true;
}

// What a block needs at least beside states: a description, sums of its warps or steps of a few
// sites, and tables.
constexpr std::int64_t usual_bytes = 28 << 10;

struct SharedLauncher {
  static const Tunable* tunable() { return nullptr; }
  static constexpr bool four_words = true;
  template <int W, int V, int P, PlaneRows kRows>
  static bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape,
                      const SweepLimits& limits, Queue& queue) {
    return cuda::enqueue<W, V, P, kRows>(kernel, shape, limits, queue);
  }
  static std::int64_t table_bytes(int /*planes*/) { return usual_bytes; }
  static std::int64_t steps_of(const PairwiseView& model) {
    return model.n_sites / 4;  // a byte for a word and site
  }
};

}  // namespace

bool launch_shared_sweep(const MetropolisSweep& kernel, Queue& queue) {
  return launch_by_planes<SharedLauncher>(kernel, queue);
}

}  // namespace kiln::cuda
