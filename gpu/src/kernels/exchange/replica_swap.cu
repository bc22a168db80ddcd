// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"

#include "kernels/grid.cuh"
#include "swap_block.cuh"

namespace kiln::cuda {
namespace {

constexpr int max_rungs = static_cast<int>(ReplicaSwap::max_rungs);
static_assert(max_rungs <= max_block_rungs);

// One launch for all ladders. A block has some whole ladders.
__global__ void __launch_bounds__(block_size)
    swap_rungs(const __grid_constant__ ReplicaSwap kernel, int ladders_per_block) {
  if (!kernel.control->active(kernel.last_sweep())) return;
  __shared__ SwapMemory<max_rungs> shared;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * ladders_per_block;
  const std::int64_t left = kernel.ladders.size - first;
  const int count = left < ladders_per_block ? static_cast<int>(left) : ladders_per_block;
  swap_ladders(kernel, {first, 1, count}, shared);
}

// Enough ladders for a thread per pair; 1024 rungs at most, as the shared arrays have it.
int ladders_per_block(const ReplicaSwap& kernel) {
  if (kernel.in_blocks()) return static_cast<int>(ladders_of_block);
  const std::int64_t pairs = std::max<std::int64_t>(1, kernel.rungs / 2);
  return static_cast<int>(std::clamp<std::int64_t>(block_size / pairs, 1, max_block_ladders));
}

}  // namespace

template <>
void launch(const ReplicaSwap& kernel, Queue& queue) {
  const std::int64_t ladders = kernel.ladders.size;
  if (ladders <= 0) return;
  const int per_block = ladders_per_block(kernel);
  const auto blocks = static_cast<unsigned>((ladders + per_block - 1) / per_block);
  swap_rungs<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, per_block);
  check_launch(ReplicaSwap::name);
}

}  // namespace kiln::cuda
