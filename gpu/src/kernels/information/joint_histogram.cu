// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/joint_histogram.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Cells that every device keeps in shared memory.
constexpr int shared_cells = 12288;

// A block counts one pair of columns.
__global__ void __launch_bounds__(block_size)
    count_pairs(const __grid_constant__ JointHistogram kernel) {
  extern __shared__ std::int32_t shared_counts[];
  const std::int32_t cells = kernel.y_codes * kernel.x_codes;
  for (std::int64_t number = blockIdx.x; number < kernel.pairs.size; number += gridDim.x) {
    const JointHistogram::Pair pair = kernel.pairs[number];
    std::int32_t* const counts = cells <= shared_cells ? shared_counts : &kernel.counts(number, 0);
    for (std::int32_t c = static_cast<std::int32_t>(threadIdx.x); c < cells; c += block_size) {
      counts[c] = 0;
    }
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < kernel.codes.columns; i += block_size) {
      atomicAdd(&counts[kernel.cell(pair, i)], 1);
    }
    __syncthreads();
    if (cells > shared_cells) continue;
    for (std::int32_t c = static_cast<std::int32_t>(threadIdx.x); c < cells; c += block_size) {
      kernel.counts(number, c) = counts[c];
    }
    __syncthreads();
  }
}

}  // namespace

template <>
void launch(const JointHistogram& kernel, Queue& queue) {
  if (kernel.pairs.size == 0) return;
  const std::int32_t cells = kernel.y_codes * kernel.x_codes;
  const std::size_t bytes =
      cells <= shared_cells ? sizeof(std::int32_t) * static_cast<std::size_t>(cells) : 0;
  const std::int64_t blocks = std::min(kernel.pairs.size, filling_blocks);
  count_pairs<<<static_cast<unsigned>(blocks), block_size, bytes, stream_of(queue)>>>(kernel);
  check_launch(JointHistogram::name);
}

}  // namespace kiln::cuda
