// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const ColoringTabu& kernel, Queue& queue) {
  launch_for_warps(kernel, kernel.walk.size, queue);
}

}  // namespace kiln::cuda
