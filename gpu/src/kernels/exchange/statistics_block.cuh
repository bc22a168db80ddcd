// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Adds the parts of the lanes, parts[LadderStatistics::lanes], in the order of the header; the sum
// is then parts[0]. Calls at_cell(j, even, odd) for each cell of ladders. The last five levels need
// no other warp than the first.
template <class AtCell>
__device__ void combine_lanes(const LadderStatistics& kernel, LadderStatistics::Part* parts,
                              AtCell at_cell) {
  const int me = static_cast<int>(threadIdx.x);
  for (int half = LadderStatistics::lanes / 2; half >= warp_size; half /= 2) {
    __syncthreads();
    if (me < half) parts[me] = LadderStatistics::combine(parts[me], parts[me + half]);
  }
  __syncthreads();
  if (me >= warp_size) return;
  for (int half = warp_size / 2; half > 0; half /= 2) {
    if (2 * half == LadderStatistics::cells_of_rung && kernel.cells_of_ladders()) {
      if (me < half) at_cell(me, parts[2 * me], parts[2 * me + 1]);
      __syncwarp();
    }
    if (me < half) parts[me] = LadderStatistics::combine(parts[me], parts[me + half]);
    __syncwarp();
  }
}

}  // namespace
}  // namespace kiln::cuda
