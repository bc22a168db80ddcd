// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_frame.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const ReferenceFrame& kernel, Queue& queue) {
  launch_for_groups(kernel, kernel.groups.groups, queue);
}

}  // namespace kiln::cuda
