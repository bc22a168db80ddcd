// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/mask_nonfinite.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const MaskNonfinite& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.energy.columns, queue);
}

}  // namespace kiln::cuda
