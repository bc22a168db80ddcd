// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/lbfgs_step.hpp"

#include "team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const LbfgsStep& kernel, Queue& queue) {
  launch_for_warps(kernel, kernel.items, queue);
}

}  // namespace kiln::cuda
