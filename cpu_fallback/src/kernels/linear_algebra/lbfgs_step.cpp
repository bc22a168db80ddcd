// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const LbfgsStep& kernel, Queue& queue) {
  launch_for_groups(kernel, kernel.items, queue);
}

}  // namespace kiln::cpu
