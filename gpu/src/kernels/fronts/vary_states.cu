// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/vary_states.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const VaryStates& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.items(), queue);
}

}  // namespace kiln::cuda
