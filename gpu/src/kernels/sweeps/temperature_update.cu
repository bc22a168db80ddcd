// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A warp per group: it adds up what the group accepted, where somebody asks, and its first lane
// does the rest. Counts are integers, so their order does not matter.
__global__ void __launch_bounds__(block_size)
    update(const __grid_constant__ TemperatureUpdate kernel) {
  const std::int64_t warps = thread_count() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  for (std::int64_t group = thread_index() / warp_size; group < kernel.cooling.size;
       group += warps) {
    std::uint64_t total = 0;
    if (kernel.looks_at_counts(group)) {
      const std::int64_t begin = group * kernel.group_size;
      for (std::int64_t r = lane; r < kernel.group_size; r += warp_size) {
        total += kernel.accepted[begin + r];
      }
      for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        total += __shfl_down_sync(full_warp, total, offset);
      }
    }
    if (lane == 0) kernel(group, total);
  }
}

}  // namespace

template <>
void launch(const TemperatureUpdate& kernel, Queue& queue) {
  if (kernel.cooling.size <= 0) return;
  const std::int64_t threads = kernel.cooling.size * warp_size;
  update<<<blocks_for(threads), block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(TemperatureUpdate::name);
}

}  // namespace kiln::cuda
