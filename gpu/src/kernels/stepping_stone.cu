// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/stepping_stone.hpp"

#include "grid.cuh"

namespace kiln::cuda {

template <>
void launch(const SteppingStone& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.ladders * (kernel.rungs - 1), queue);
}

}  // namespace kiln::cuda
