// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_start.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const BifurcationStart& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t sites = kernel.variable.size, slots = kernel.position.columns;
  pool_of(queue).for_each((sites + 1) / 2, [&](std::int64_t pair) {
    const std::int64_t end = std::min(sites, 2 * pair + 2);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const Words4 words = kernel.words_of(slot, 2 * pair);
      for (std::int64_t site = 2 * pair; site < end; ++site) {
        Oscillator first;
        if (kernel.variable[site] >= 0) first = bifurcation::start(words, site);
        kernel.position(site, slot) = first.position;
        kernel.momentum(site, slot) = first.momentum;
      }
    }
  });
}

}  // namespace kiln::cpu
