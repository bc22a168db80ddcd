// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/variation_operator.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const VariationOperator& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.items(), queue);
}

}  // namespace kiln::cuda
