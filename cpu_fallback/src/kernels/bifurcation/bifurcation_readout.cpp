// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const BifurcationReadout& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const bool reads = kernel.reads();
  std::fill_n(kernel.is_read.data, kernel.is_read.size, reads ? 1u : 0u);
  if (!reads) return;
  constexpr std::int64_t word = 32, sites_of_task = 64;
  const std::int64_t sites = kernel.variable.size;
  pool_of(queue).for_each((sites + sites_of_task - 1) / sites_of_task, [&](std::int64_t task) {
    for (std::int64_t site = task * sites_of_task;
         site < sites && site < (task + 1) * sites_of_task; ++site) {
      const std::int32_t variable = kernel.variable[site];
      if (variable < 0) continue;
      for (std::int64_t w = 0; w < kernel.state.columns; ++w) {
        const float* const position = &kernel.position(site, w * word);
        std::uint32_t bits = 0;
        for (std::uint32_t l = 0; l < word; ++l) bits |= (position[l] < 0 ? 1u : 0u) << l;
        kernel.state(variable, w) = bits;
      }
    }
  });
}

}  // namespace kiln::cpu
