// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_parents.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const SelectParents& kernel, Queue& queue) {
  launch_for_items(kernel, kernel.replicas, queue);
}

}  // namespace kiln::cpu
