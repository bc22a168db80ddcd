// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/stop_at_work.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int threads = 1024;

// One block: the counts of ten thousands of chains take microseconds, a transition of them far
// longer. Whole numbers, so that the order of the sum does not matter.
__global__ void __launch_bounds__(threads) add_up(const __grid_constant__ StopAtWork kernel) {
  __shared__ std::uint64_t parts[threads];
  const int me = static_cast<int>(threadIdx.x);
  std::uint64_t mine = 0;
  for (std::int64_t i = me; i < kernel.counts.size; i += threads) mine += kernel.counts[i];
  parts[me] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) parts[me] += parts[me + half];
  }
  if (me == 0) kernel.finish(parts[0]);
}

}  // namespace

template <>
void launch(const StopAtWork& kernel, Queue& queue) {
  add_up<<<1, threads, 0, stream_of(queue)>>>(kernel);
  check_launch(StopAtWork::name);
}

}  // namespace kiln::cuda
