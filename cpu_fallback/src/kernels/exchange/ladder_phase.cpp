// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_phase.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const LadderStatistics& kernel, Queue& queue);
template <>
void launch(const ReplicaSwap& kernel, Queue& queue);
template <>
void launch(const LadderUpdate& kernel, Queue& queue);
template <>
void launch(const LadderFlush& kernel, Queue& queue);

namespace {

void record_rung(const LadderPhase& kernel, std::int64_t rung) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const std::int64_t first = record.at(record.next(), rung, statistics);
  for (std::int64_t ladder = 0; ladder < statistics.ladders; ++ladder) {
    const std::int32_t slot = statistics.slot_at(ladder, rung);
    const double e = statistics.energy[slot], v = statistics.weighed(slot);
    if (statistics.improves(slot, e, v)) {
      statistics.best_rung[slot] = static_cast<std::int32_t>(rung);
    }
    record.energy[first + ladder] = e;
    if (record.term) record.term[first + ladder] = v;
  }
}

// Where a round ends, its sums are dropped, but for the lowest energies.
void keep_best(const LadderPhase& kernel, std::int64_t rung) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  double& best = statistics.sums[rung].best;
  for (std::int64_t call = 0; call < record.waiting(); ++call) {
    const std::int64_t first = record.at(record.place_of(call), rung, statistics);
    for (std::int64_t i = first; i < first + statistics.ladders; ++i) {
      const double e = record.energy[i], v = record.term ? record.term[i] : e;
      if (LadderStatistics::finite(e) && LadderStatistics::finite(v)) best = std::min(best, e);
    }
  }
}

// Drops what is recorded before the update drops the sums.
void drop_record(const LadderPhase& kernel, Queue& queue) {
  const std::int64_t rungs = kernel.statistics.sums.size;
  const LadderRecord& record = kernel.record;
  pool_of(queue).for_each(rungs, [&](std::int64_t rung) { keep_best(kernel, rung); });
  record.state[LadderRecord::next_at] = record.state[LadderRecord::waiting_at] = 0;
  for (std::int64_t rung = 0; rung < rungs; ++rung) record.referenced(rung, rungs) = 0;
}

}  // namespace

template <>
void launch(const LadderPhase& kernel, Queue& queue) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  if (statistics.ladders <= 0) return;
  if (!kernel.records()) {
    launch(statistics, queue);
    launch(kernel.swap, queue);
    return launch(kernel.update, queue);
  }
  if (!statistics.active()) return;
  if (record.waiting() >= record.calls) launch(LadderFlush{statistics, record}, queue);
  pool_of(queue).for_each(statistics.sums.size,
                          [&](std::int64_t rung) { record_rung(kernel, rung); });
  record.state[LadderRecord::next_at] =
      static_cast<std::uint32_t>((record.next() + 1) % record.places());
  ++record.state[LadderRecord::waiting_at];
  launch(kernel.swap, queue);
  if (kernel.update.ends_round()) drop_record(kernel, queue);
  launch(kernel.update, queue);
}

}  // namespace kiln::cpu
