// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/axpby.hpp"

#include "kernels/rows/row_launch.cuh"

namespace kiln::cuda {
namespace {

constexpr int pairs_of_thread = 4;
constexpr std::int64_t of_block = std::int64_t{block_size} * pairs_of_thread * 2;

// Without a matrix. `runs`: x and y lie at multiples of 16 bytes.
__global__ void __launch_bounds__(block_size)
    add_columns(const __grid_constant__ Axpby kernel, bool runs) {
  const std::int64_t n = kernel.y.size;
  for (std::int64_t begin = blockIdx.x * of_block; begin < n; begin += gridDim.x * of_block) {
    if (!runs || begin + of_block > n) {
      const std::int64_t end = min(n, begin + of_block);
      for (std::int64_t i = begin + threadIdx.x; i < end; i += block_size) {
        kernel.update(i, kernel.x[i]);
      }
      continue;
    }
    double2 x[pairs_of_thread], y[pairs_of_thread];
#pragma unroll
    for (int p = 0; p < pairs_of_thread; ++p) {
      const std::int64_t i = begin + 2 * (p * block_size + static_cast<int>(threadIdx.x));
      x[p] = *reinterpret_cast<const double2*>(kernel.x.data + i);
      if (kernel.beta != 0) y[p] = *reinterpret_cast<const double2*>(kernel.y.data + i);
    }
#pragma unroll
    for (int p = 0; p < pairs_of_thread; ++p) {
      const std::int64_t i = begin + 2 * (p * block_size + static_cast<int>(threadIdx.x));
      double2 sum{kernel.combine(x[p].x, y[p].x), kernel.combine(x[p].y, y[p].y)};
      *reinterpret_cast<double2*>(kernel.y.data + i) = sum;
    }
  }
}

}  // namespace

template <>
void launch(const Axpby& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.axpby", Axpby::refusal);
  if (kernel.has_matrix()) return launch_rows(ProductOfRows{kernel}, kernel.room, queue);
  if (kernel.y.size <= 0) return;
  const bool runs = in_runs(kernel.x.data, 0, 1) && in_runs(kernel.y.data, 0, 1);
  const unsigned blocks = row_grid((kernel.y.size + of_block - 1) / of_block);
  add_columns<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, runs);
  check_launch(Axpby::name);
}

}  // namespace kiln::cuda
