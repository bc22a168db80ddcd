// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "kiln/kernels/exchange/ladder_flush.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// part_of(ladder) is what the replica of a ladder at the rung adds.
template <class PartOf>
void add_rung(const LadderStatistics& kernel, std::int64_t rung,
              const LadderStatistics::Reference& reference, const PartOf& part_of) {
  // Lanes without a ladder hold zeros, and adding those changes nothing: leave them out.
  const auto used =
      static_cast<std::size_t>(std::min<std::int64_t>(kernel.ladders, LadderStatistics::lanes));
  constexpr std::size_t lanes_of_cells = LadderStatistics::cells_of_rung;
  std::array<LadderStatistics::Part, LadderStatistics::lanes> part;
  std::fill_n(part.begin(), std::bit_ceil(used), LadderStatistics::nothing());
  for (std::int64_t ladder = 0; ladder < kernel.ladders; ++ladder) {
    LadderStatistics::Part& lane = part[static_cast<std::size_t>(ladder % LadderStatistics::lanes)];
    lane = LadderStatistics::combine(lane, part_of(ladder));
  }
  for (std::size_t half = std::bit_ceil(used) / 2; half > 0; half /= 2) {
    if (2 * half == lanes_of_cells && kernel.cells_of_ladders()) {
      for (std::size_t j = 0; j < half; ++j) {
        kernel.add_ladders(rung, static_cast<int>(j), part[2 * j], part[2 * j + 1]);
      }
    }
    for (std::size_t t = 0; t < half; ++t) {
      part[t] = LadderStatistics::combine(part[t], part[t + half]);
    }
  }
  kernel.add(rung, reference, part[0]);
}

void add_recorded(const LadderFlush& kernel, std::int64_t rung) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  for (std::int64_t call = 0; call < record.n_calls(); ++call) {
    const std::int64_t first = record.at(record.half(), call, rung, statistics);
    const double* const energy = record.energy.data + first;
    const double* const weighed = record.term ? record.term.data + first : energy;
    const RungSums& sums = statistics.sums[rung];
    const LadderStatistics::Reference reference =
        sums.count != 0 ? LadderStatistics::Reference{sums.reference, sums.weighed_reference}
                        : LadderStatistics::first_reference(energy[0], weighed[0]);
    add_rung(statistics, rung, reference, [&](std::int64_t ladder) {
      return statistics.of_energies(rung, ladder * statistics.sums.size + rung, energy[ladder],
                                    weighed[ladder], reference);
    });
  }
  record.referenced(rung, statistics.sums.size) = statistics.sums[rung].count != 0 ? 1 : 0;
}

}  // namespace

template <>
void launch(const LadderStatistics& kernel, Queue& queue) {
  if (kernel.ladders <= 0 || !kernel.active()) return;
  pool_of(queue).for_each(kernel.sums.size, [&](std::int64_t rung) {
    const LadderStatistics::Reference reference = kernel.reference_of(rung);
    add_rung(kernel, rung, reference,
             [&](std::int64_t ladder) { return kernel.of_replica(rung, ladder, reference); });
  });
}

template <>
void launch(const LadderFlush& kernel, Queue& queue) {
  if (kernel.statistics.ladders <= 0 || kernel.record.n_calls() == 0) return;
  pool_of(queue).for_each(kernel.statistics.sums.size,
                          [&](std::int64_t rung) { add_recorded(kernel, rung); });
  kernel.record.state[LadderRecord::calls_at] = 0;
}

}  // namespace kiln::cpu
