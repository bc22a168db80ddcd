// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_points.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const FrontPoints& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.front.columns, queue);
}

}  // namespace kiln::cuda
