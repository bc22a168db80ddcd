// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/advance_tick.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {
__global__ void advance(const AdvanceTick kernel) { kernel(); }
}  // namespace

template <>
void launch(const AdvanceTick& kernel, Queue& queue) {
  advance<<<1, 1, 0, stream_of(queue)>>>(kernel);
  check_launch(AdvanceTick::name);
}

}  // namespace kiln::cuda
