// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/cuda/team.cuh"
#include "kiln/errors.hpp"

#include "grid.cuh"

namespace kiln::cuda {
namespace detail {
template <class Kernel>
__global__ void __launch_bounds__(block_size)
    for_each_group(const __grid_constant__ Kernel kernel, std::int64_t groups) {
  for (std::int64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    kernel(BlockTeam{}, group);
  }
}

template <class Kernel, int threads>
__global__ void __launch_bounds__(threads)
    for_each_group_with_work(const __grid_constant__ Kernel kernel, std::int64_t groups) {
  extern __shared__ __align__(16) double work[];
  for (std::int64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    kernel(BlockTeam{}, group, work);
    __syncthreads();  // the memory is no longer in use
  }
}

template <class Kernel, int threads>
__global__ void __launch_bounds__(threads)
    for_each_group_of_warp(const __grid_constant__ Kernel kernel, std::int64_t groups) {
  const std::int64_t warp = thread_index() / warp_size, warps = thread_count() / warp_size;
  for (std::int64_t group = warp; group < groups; group += warps) kernel(WarpTeam{}, group);
}
}  // namespace detail

/// Shared memory of a block, less the static memory of kernels.
inline constexpr std::int64_t max_work_bytes = 220 * 1024;

/// Launches run(kernel, more...) for kernels that declare the scratch memory of a team, in shared
/// memory. @throws InvalidArgument if there is not enough.
template <class Kernel, class Run, class... More>
void launch_with_work(Run* run, int threads, const Kernel& kernel, std::int64_t groups,
                      Queue& queue, More... more) {
  if (groups <= 0) return;
  const std::int64_t bytes = kernel.work_size() * static_cast<std::int64_t>(sizeof(double));
  if (bytes > max_work_bytes) {
    throw InvalidArgument("kernel.points",
                          std::string(Kernel::name) + " needs " + std::to_string(bytes) +
                              " bytes of shared memory, a block has " +
                              std::to_string(max_work_bytes),
                          "use fewer points, or run on the CPU");
  }
  reserve_shared(queue, run, static_cast<std::size_t>(bytes), Kernel::name);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(groups, 65535));
  run<<<blocks, threads, static_cast<std::size_t>(bytes), stream_of(queue)>>>(kernel, more...);
  check_launch(Kernel::name);
}

/// Enqueues kernel(team, 0, work), ..., kernel(team, groups - 1, work), a block of `threads` for
/// each group.
template <int threads, class Kernel>
void launch_with_work(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  launch_with_work(detail::for_each_group_with_work<Kernel, threads>, threads, kernel, groups,
                   queue, groups);
}

/// A warp for each group.
template <class Kernel>
void launch_for_warps(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  if (groups <= 0) return;
  constexpr int threads = 64;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((groups + 1) / 2, 65535));
  detail::for_each_group_of_warp<Kernel, threads>
      <<<blocks, threads, 0, stream_of(queue)>>>(kernel, groups);
  check_launch(Kernel::name);
}

/// Enqueues kernel(team, 0), ..., kernel(team, groups - 1): a group has a block.
template <class Kernel>
void launch_for_groups(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  if (groups <= 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(groups, 65535));
  detail::for_each_group<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, groups);
  check_launch(Kernel::name);
}

}  // namespace kiln::cuda
