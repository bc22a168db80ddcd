// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_points.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const FrontPoints& kernel, Queue& queue) {
  launch_for_items(kernel, kernel.front.columns, queue);
}

}  // namespace kiln::cpu
