// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/scalarize_objectives.hpp"

#include "grid.cuh"

namespace kiln::cuda {

template <>
void launch(const ScalarizeObjectives& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.replicas, queue);
}

}  // namespace kiln::cuda
