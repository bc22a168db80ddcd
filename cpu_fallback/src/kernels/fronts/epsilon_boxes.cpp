// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/epsilon_boxes.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const EpsilonBoxes& kernel, Queue& queue) {
  launch_for_items(kernel, kernel.value.columns, queue);
}

}  // namespace kiln::cpu
