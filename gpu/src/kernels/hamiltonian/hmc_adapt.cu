// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/team.cuh"
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

__global__ void __launch_bounds__(block_size) adapt(const __grid_constant__ HmcAdapt kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  for (std::int64_t pool = blockIdx.x; pool < kernel.pools.pools; pool += gridDim.x) {
    kernel.run(BlockTeam{}, pool);
    __syncthreads();
  }
}

}  // namespace

template <>
void launch(const HmcAdapt& kernel, Queue& queue) {
  if (kernel.pools.pools <= 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(kernel.pools.pools, 65535));
  adapt<<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(HmcAdapt::name);
}

}  // namespace kiln::cuda
