// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/team.cuh"
#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr std::int64_t members_of_warps = 512;  // more chains than this want a block for each sum

template <class Team>
__global__ void __launch_bounds__(block_size)
    add_moments(const __grid_constant__ AddPoolMoments kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  const std::int64_t per_block = block_size / Team::size();
  const std::int64_t items = kernel.items();
  for (std::int64_t item =
           blockIdx.x * per_block + threadIdx.x / static_cast<unsigned>(Team::size());
       item < items; item += gridDim.x * per_block) {
    kernel.run(Team{}, item);
  }
}

}  // namespace

template <>
void launch(const AddPoolMoments& kernel, Queue& queue) {
  const std::int64_t items = kernel.items();
  if (items <= 0 || kernel.pools.members <= 0) return;
  if (kernel.pools.members > members_of_warps) {
    const auto blocks = static_cast<unsigned>(std::min(items, filling_blocks));
    add_moments<BlockTeam><<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  } else {
    const unsigned blocks = blocks_for(items * warp_size);
    add_moments<WarpTeam><<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  }
  check_launch(AddPoolMoments::name);
}

}  // namespace kiln::cuda
