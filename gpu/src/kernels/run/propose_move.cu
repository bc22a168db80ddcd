// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/propose_move.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const ProposeMove& kernel, Queue& queue) {
  kernel.block.require_single_values(ProposeMove::name);
  if (kernel.block.variables > 0) launch_for_each(kernel, kernel.block.slots, queue);
}

}  // namespace kiln::cuda
