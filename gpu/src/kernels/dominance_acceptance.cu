// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/dominance_acceptance.hpp"

#include "grid.cuh"

namespace kiln::cuda {

template <>
void launch(const DominanceAcceptance& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.replicas, queue);
}

}  // namespace kiln::cuda
