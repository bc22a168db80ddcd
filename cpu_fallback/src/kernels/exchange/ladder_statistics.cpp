// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "launch.hpp"
#include "rung_sums.hpp"

namespace kiln::cpu {

template <>
void launch(const LadderStatistics& kernel, Queue& queue) {
  if (kernel.ladders <= 0 || !kernel.active()) return;
  pool_of(queue).for_each(kernel.sums.size, [&](std::int64_t rung) {
    const LadderStatistics::Reference reference = kernel.reference_of(rung);
    add_rung(kernel, rung, reference,
             [&](std::int64_t ladder) { return kernel.of_replica(rung, ladder, reference); });
  });
}

}  // namespace kiln::cpu
