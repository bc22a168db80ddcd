// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_update.hpp"

#include "kernels/grid.cuh"
#include "update_block.cuh"

namespace kiln::cuda {
namespace {

__global__ void __launch_bounds__(block_size)
    end_round_of_all(const __grid_constant__ LadderUpdate kernel) {
  end_round(kernel, [] {});
}

}  // namespace

template <>
void launch(const LadderUpdate& kernel, Queue& queue) {
  if (kernel.plan.size <= 0) return;
  end_round_of_all<<<1, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(LadderUpdate::name);
}

}  // namespace kiln::cuda
