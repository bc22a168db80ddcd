// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_update.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// One block: nearly always its first thread counts a call and all leave. At the end of a round that
// thread adds up the barrier, and all place rungs side by side.
__global__ void __launch_bounds__(block_size)
    end_round(const __grid_constant__ LadderUpdate kernel) {
  __shared__ int due, moves;
  const std::int64_t me = threadIdx.x;
  if (me == 0) {
    due = kernel.due() ? 1 : 0;
    moves = due != 0 && kernel.prepare() ? 1 : 0;
  }
  __syncthreads();
  if (due == 0) return;
  for (std::int64_t rung = me; rung < kernel.rungs(); rung += block_size) {
    kernel.place(rung, moves != 0);
  }
  __syncthreads();
  for (std::int64_t i = me; i < kernel.beta.size; i += block_size) kernel.spread(i);
  for (std::int64_t rung = me; rung < kernel.rungs(); rung += block_size) kernel.reset(rung);
}

}  // namespace

template <>
void launch(const LadderUpdate& kernel, Queue& queue) {
  if (kernel.plan.size <= 0) return;
  end_round<<<1, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(LadderUpdate::name);
}

}  // namespace kiln::cuda
