// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_progress.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {
__global__ void follow_front(const FrontProgress kernel) { kernel(); }
}  // namespace

template <>
void launch(const FrontProgress& kernel, Queue& queue) {
  follow_front<<<1, 1, 0, stream_of(queue)>>>(kernel);
  check_launch(FrontProgress::name);
}

}  // namespace kiln::cuda
