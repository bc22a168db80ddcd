// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/hamiltonian/leapfrog.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Block rows go over dimensions, threads over slots: no division, and neighbours read neighbours.
__global__ void __launch_bounds__(block_size)
    kick_and_drift(const __grid_constant__ Leapfrog kernel) {
  if (!kernel.active()) return;
  const std::int64_t slot = thread_index();
  if (slot >= kernel.slots()) return;
  for (std::int64_t i = blockIdx.y; i < kernel.dimension(); i += gridDim.y) kernel.at(slot, i);
}

}  // namespace

template <>
void launch(const Leapfrog& kernel, Queue& queue) {
  const std::int64_t columns = (kernel.slots() + block_size - 1) / block_size;
  if (columns <= 0 || kernel.dimension() <= 0) return;
  const std::int64_t rows = std::clamp<std::int64_t>(
      filling_blocks / columns, 1, std::min<std::int64_t>(kernel.dimension(), 65535));
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rows));
  kick_and_drift<<<grid, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(Leapfrog::name);
}

}  // namespace kiln::cuda
