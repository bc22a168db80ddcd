// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/leapfrog.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const Leapfrog& kernel, Queue& queue) {
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.dimension(), [&](std::int64_t i) {
    for (std::int64_t slot = 0; slot < kernel.slots(); ++slot) kernel.at(slot, i);
  });
}

}  // namespace kiln::cpu
