// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/dominance_acceptance.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const DominanceAcceptance& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.replicas, queue);
}

}  // namespace kiln::cuda
