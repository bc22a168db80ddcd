// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const LbfgsStep& kernel, Queue& queue) {
  launch_for_warps(kernel, kernel.items, queue);
}

}  // namespace kiln::cuda
