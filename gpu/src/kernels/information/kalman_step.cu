// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/kalman_step.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const KalmanStep& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.filters(), queue);
}

}  // namespace kiln::cuda
