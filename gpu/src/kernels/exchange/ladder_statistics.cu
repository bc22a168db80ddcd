// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int lanes = LadderStatistics::lanes;

// A block per rung, a thread per lane: the order of the sums is that of the header, whatever the
// device.
__global__ void __launch_bounds__(lanes)
    add_energies(const __grid_constant__ LadderStatistics kernel) {
  if (!kernel.active()) return;
  __shared__ LadderStatistics::Part parts[lanes];
  const int me = static_cast<int>(threadIdx.x);
  const std::int64_t rung = blockIdx.x;
  const LadderStatistics::Reference reference = kernel.reference_of(rung);
  LadderStatistics::Part mine = LadderStatistics::nothing();
  for (std::int64_t ladder = me; ladder < kernel.ladders; ladder += lanes) {
    kernel.take(rung, ladder, reference, mine);
  }
  parts[me] = mine;
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (2 * half == LadderStatistics::cells_of_rung && kernel.cells_of_ladders()) {
      if (me < half) kernel.add_ladders(rung, me, parts[2 * me], parts[2 * me + 1]);
      __syncthreads();
    }
    if (me < half) parts[me] = LadderStatistics::combine(parts[me], parts[me + half]);
  }
  // All threads have read the reference: the barriers above lie in between.
  if (me == 0) kernel.add(rung, reference, parts[0]);
}

}  // namespace

template <>
void launch(const LadderStatistics& kernel, Queue& queue) {
  if (kernel.ladders <= 0 || kernel.sums.size <= 0) return;
  const auto rungs = static_cast<unsigned>(kernel.sums.size);
  add_energies<<<rungs, lanes, 0, stream_of(queue)>>>(kernel);
  check_launch(LadderStatistics::name);
}

}  // namespace kiln::cuda
