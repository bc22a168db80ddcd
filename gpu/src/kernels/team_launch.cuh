// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/cuda/team.cuh"

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
}  // namespace detail

/// Enqueues kernel(team, 0), ..., kernel(team, groups - 1): a group has a block.
template <class Kernel>
void launch_for_groups(const Kernel& kernel, std::int64_t groups, Queue& queue) {
  if (groups <= 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(groups, 65535));
  detail::for_each_group<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, groups);
  check_launch(Kernel::name);
}

}  // namespace kiln::cuda
