// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/decomposition_update.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

__global__ void __launch_bounds__(block_size)
    make_bids(const __grid_constant__ DecompositionUpdate kernel, std::int64_t n) {
  if (!kernel.active()) return;
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) kernel.bid(i);
}

__global__ void __launch_bounds__(block_size)
    take_bids(const __grid_constant__ DecompositionUpdate kernel, std::int64_t n) {
  if (!kernel.active()) return;
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) kernel.settle(i);
}

}  // namespace

template <>
void launch(const DecompositionUpdate& kernel, Queue& queue) {
  const std::int64_t n = kernel.groups.groups * kernel.problems();
  if (n <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  make_bids<<<blocks_for(n), block_size, 0, stream>>>(kernel, n);
  check_launch(DecompositionUpdate::name);
  take_bids<<<blocks_for(n), block_size, 0, stream>>>(kernel, n);
  check_launch(DecompositionUpdate::name);
}

}  // namespace kiln::cuda
