// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_gradient.hpp"

#include "team_launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AcquisitionGradient& kernel, Queue& queue) {
  launch_with_work(kernel, kernel.at.rows, queue);
}

}  // namespace kiln::cpu
