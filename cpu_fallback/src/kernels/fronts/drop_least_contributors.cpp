// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/drop_least_contributors.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const DropLeastContributors& kernel, Queue& queue) {
  launch_for_groups(kernel, kernel.groups.groups, queue);
}

}  // namespace kiln::cpu
