// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const AddPoolMoments& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  bool any = false;
  for (std::int64_t p = 0; p < kernel.pools.pools; ++p) any |= kernel.adaptation[p].collects != 0;
  if (!any) return;
  pool_of(queue).for_each(kernel.items(),
                          [&](std::int64_t item) { kernel.run(SingleTeam{}, item); });
}

}  // namespace kiln::cpu
