// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_gradient.hpp"

#include "kernels/team_launch.cuh"

namespace kiln::cuda {

template <>
void launch(const AcquisitionGradient& kernel, Queue& queue) {
  launch_with_work<128>(kernel, kernel.at.rows, queue);
}

}  // namespace kiln::cuda
