// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "record_block.cuh"
#include "update_block.cuh"

/// What a launch of an exchange phase finds in the record, and what its last block leaves there.
namespace kiln::cuda {
namespace {

// What a launch finds in the record: calls that wait, and the place of this call.
struct Found {
  std::int64_t waiting, place;
  bool full;  // those that wait are added by this launch

  __device__ explicit Found(const LadderRecord& record)
      : waiting(record.waiting()), place(record.next()), full(waiting >= record.calls) {}
  // Calls that wait when the launch ends, its own among them.
  __device__ std::int64_t left() const { return full ? 1 : waiting + 1; }
};

// By the last block, where a round ends whose sums are dropped: only the lowest energies of what is
// recorded stay, a warp for each rung.
__device__ inline void keep_bests(const LadderPhase& kernel, const Found& found) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t rung = threadIdx.x / warp_size; rung < statistics.sums.size;
       rung += blockDim.x / warp_size) {
    double best = __ldcg(&statistics.sums[rung].best);
    for (std::int64_t back = 0; back < found.left(); ++back) {
      const std::int64_t place = (found.place + record.places() - back) % record.places();
      const std::int64_t first = record.at(place, rung, statistics);
      for (std::int64_t ladder = lane; ladder < statistics.ladders; ladder += warp_size) {
        const double e = __ldcg(&record.energy[first + ladder]);
        const double v = record.term ? __ldcg(&record.term[first + ladder]) : e;
        if (LadderStatistics::finite(e) && LadderStatistics::finite(v) && e < best) best = e;
      }
    }
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
      const double other = __shfl_down_sync(full_warp, best, offset);
      best = other < best ? other : best;
    }
    if (lane == 0) statistics.sums[rung].best = best;
  }
  __syncthreads();
}

// By the last block of a launch.
__device__ inline void end_phase(const LadderPhase& kernel, const Found& found) {
  const LadderRecord& record = kernel.record;
  const bool ended = end_round(kernel.update, [&] { keep_bests(kernel, found); });
  if (ended || found.full) note_references({kernel.statistics, record});
  if (threadIdx.x != 0) return;
  const std::int64_t next = ended ? 0 : (found.place + 1) % record.places();
  record.state[LadderRecord::next_at] = static_cast<std::uint32_t>(next);
  record.state[LadderRecord::waiting_at] = ended ? 0 : static_cast<std::uint32_t>(found.left());
}

}  // namespace
}  // namespace kiln::cuda
