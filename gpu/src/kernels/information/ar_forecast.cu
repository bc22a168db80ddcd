// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ar_forecast.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const ArForecast& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.series(), queue);
}

}  // namespace kiln::cuda
