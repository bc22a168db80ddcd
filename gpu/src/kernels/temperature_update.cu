// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/temperature_update.hpp"

#include "grid.cuh"

namespace kiln::cuda {

template <>
void launch(const TemperatureUpdate& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.cooling.size, queue);
}

}  // namespace kiln::cuda
