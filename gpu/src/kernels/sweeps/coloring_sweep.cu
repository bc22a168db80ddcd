// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_sweep.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const ColoringSweep& kernel, Queue& queue) {
  launch_for_warps(kernel, kernel.energy.size, queue);
}

}  // namespace kiln::cuda
