// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_values.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const AcquisitionValues& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.mean.size, queue);
}

}  // namespace kiln::cuda
