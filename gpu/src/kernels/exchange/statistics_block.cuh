// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Threads that add up together: all of a thread block, or `lanes` of it.
struct WholeBlock {
  static constexpr int size = LadderStatistics::lanes;
  __device__ static int me() { return static_cast<int>(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }
  __device__ static int number() { return 0; }
  __device__ static int of_block() { return 1; }
};
struct PartOfBlock {
  static constexpr int size = LadderStatistics::lanes;
  __device__ static int me() { return static_cast<int>(threadIdx.x) % size; }
  __device__ static int number() { return static_cast<int>(threadIdx.x) / size; }
  __device__ static int of_block() { return static_cast<int>(blockDim.x) / size; }
  __device__ static void sync() {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + number()), "n"(size) : "memory");
  }
};

// For at most 32 ladders: all other lanes have nothing.
struct PartOfWarp {
  static constexpr int size = warp_size;
  __device__ static int me() { return static_cast<int>(threadIdx.x) % size; }
  __device__ static int number() { return static_cast<int>(threadIdx.x) / size; }
  __device__ static int of_block() { return static_cast<int>(blockDim.x) / size; }
  __device__ static void sync() { __syncwarp(); }
};

// Adds the parts of the lanes, parts[Team::size], in the order of the header; the sum is then
// parts[0]. Calls at_cell(j, even, odd) for each cell of ladders. The last five levels need
// no other warp than the first.
template <class Team, class AtCell>
__device__ void combine_lanes(const LadderStatistics& kernel, LadderStatistics::Part* parts,
                              AtCell at_cell) {
  const int me = Team::me();
  for (int half = Team::size / 2; half >= warp_size; half /= 2) {
    Team::sync();
    if (me < half) parts[me] = LadderStatistics::combine(parts[me], parts[me + half]);
  }
  Team::sync();
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
