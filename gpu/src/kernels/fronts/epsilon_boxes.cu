// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/epsilon_boxes.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const EpsilonBoxes& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.value.columns, queue);
}

}  // namespace kiln::cuda
