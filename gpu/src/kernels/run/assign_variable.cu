// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/assign_variable.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const AssignVariable& kernel, Queue& queue) {
  kernel.block.require_single_values(AssignVariable::name);
  launch_for_each(kernel, kernel.block.slots, queue);
}

}  // namespace kiln::cuda
