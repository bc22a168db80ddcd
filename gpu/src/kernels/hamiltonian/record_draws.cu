// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/record_draws.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {

template <>
void launch(const RecordDraws& kernel, Queue& queue) {
  launch_for_each(kernel, kernel.dimension * kernel.pools.members, queue);
}

}  // namespace kiln::cuda
