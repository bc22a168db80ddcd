// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const ColoringTabu& kernel, Queue& queue) {
  launch_for_groups(kernel, kernel.walk.size, queue);
}

}  // namespace kiln::cpu
