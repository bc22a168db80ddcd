// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_flush.hpp"

#include "launch.hpp"
#include "rung_sums.hpp"

namespace kiln::cpu {
namespace {

void add_recorded(const LadderFlush& kernel, std::int64_t rung) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  for (std::int64_t call = 0; call < record.waiting(); ++call) {
    const std::int64_t first = record.at(record.place_of(call), rung, statistics);
    const double* const energy = record.energy.data + first;
    const double* const weighed = record.term ? record.term.data + first : energy;
    const LadderStatistics::Reference reference =
        statistics.reference_of(rung, energy[0], weighed[0]);
    add_rung(statistics, rung, reference, [&](std::int64_t ladder) {
      return statistics.of_energies(rung, statistics.number_at(ladder, rung), energy[ladder],
                                    weighed[ladder], reference);
    });
  }
  record.referenced(rung, statistics.sums.size) = statistics.sums[rung].count != 0 ? 1 : 0;
}

}  // namespace

template <>
void launch(const LadderFlush& kernel, Queue& queue) {
  if (kernel.statistics.ladders <= 0 || kernel.record.waiting() == 0) return;
  pool_of(queue).for_each(kernel.statistics.sums.size,
                          [&](std::int64_t rung) { add_recorded(kernel, rung); });
  kernel.record.state[LadderRecord::waiting_at] = 0;
}

}  // namespace kiln::cpu
