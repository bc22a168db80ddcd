// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "kernels/grid.cuh"
#include "statistics_block.cuh"

namespace kiln::cuda {
namespace {

using Part = LadderStatistics::Part;
constexpr int lanes = LadderStatistics::lanes;
constexpr int rounds = 2;  // ladders of a lane whose weights are computed side by side
constexpr int threads = rounds * lanes;

// A block per rung. A lane adds up every 256th ladder, one after the other; what the ladders add is
// computed by all threads before, for two ladders each at a time.
__global__ void __launch_bounds__(threads)
    add_energies(const __grid_constant__ LadderStatistics kernel) {
  if (!kernel.active()) return;
  __shared__ Part parts[threads];
  const int me = static_cast<int>(threadIdx.x);
  const std::int64_t rung = blockIdx.x;
  const LadderStatistics::Reference reference = kernel.reference_of(rung);
  const auto part_of = [&](std::int64_t ladder) {
    return ladder < kernel.ladders ? kernel.of_replica(rung, ladder, reference)
                                   : LadderStatistics::nothing();
  };
  Part mine = LadderStatistics::nothing();
  const auto add_up = [&](std::int64_t first, const Part& part) {
    parts[me] = part;
    __syncthreads();
    for (int k = 0; k < rounds && me < lanes; ++k) {
      if (first + k * lanes + me < kernel.ladders) {
        mine = LadderStatistics::combine(mine, parts[k * lanes + me]);
      }
    }
    __syncthreads();
  };
  for (std::int64_t first = 0; first < kernel.ladders; first += 2 * threads) {
    const Part now = part_of(first + me), next = part_of(first + threads + me);
    add_up(first, now);
    if (first + threads < kernel.ladders) add_up(first + threads, next);
  }
  if (me < lanes) parts[me] = mine;
  combine_lanes<WholeBlock>(kernel, parts, [&](int j, const Part& even, const Part& odd) {
    kernel.add_ladders(rung, j, even, odd);
  });
  // All threads have read the reference: barriers lie in between.
  if (me == 0) kernel.add(rung, reference, parts[0]);
}

}  // namespace

template <>
void launch(const LadderStatistics& kernel, Queue& queue) {
  if (kernel.ladders <= 0 || kernel.sums.size <= 0) return;
  const auto rungs = static_cast<unsigned>(kernel.sums.size);
  add_energies<<<rungs, threads, 0, stream_of(queue)>>>(kernel);
  check_launch(LadderStatistics::name);
}

}  // namespace kiln::cuda
