// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const HmcAdapt& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  pool_of(queue).for_each(kernel.pools.pools,
                          [&](std::int64_t pool) { kernel.run(SingleTeam{}, pool); });
}

}  // namespace kiln::cpu
