// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

#include "kiln/cuda/team.cuh"

namespace kiln::cuda {

/// The threads of a cluster of blocks, for devices of compute capability 9.0 and above. Shared
/// values lie in global memory; each block sums first, then the cluster.
template <int blocks, int threads>
struct ClusterTeam {
  static_assert(blocks <= 32);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __device__ static auto cluster() { return cooperative_groups::this_cluster(); }
  __device__ static int rank() {
    return static_cast<int>(cluster().block_rank()) * threads + BlockTeam::rank();
  }
  __device__ static constexpr int size() { return blocks * threads; }
  __device__ static double sum(double value) {
    double values[1] = {value};
    sum(values);
    return values[0];
  }
  template <int n>
  __device__ static void sum(double (&values)[n]) {
    __shared__ double of_block[n];
    BlockTeam::sum(values);
    if (BlockTeam::rank() == 0) {
#pragma unroll
      for (int i = 0; i < n; ++i) of_block[i] = values[i];
    }
    sync();
    const int lane = WarpTeam::rank();
    const double* const of_other =
        cluster().map_shared_rank(&of_block[0], static_cast<unsigned>(lane % blocks));
#pragma unroll
    for (int i = 0; i < n; ++i) values[i] = WarpTeam::sum(lane < blocks ? of_other[i] : 0.0);
    sync();  // from here on no block reads another block's memory
  }
  __device__ static double lane_sum(double value) { return WarpTeam::sum(value); }
  __device__ static void sync() { cluster().sync(); }
#endif
};

}  // namespace kiln::cuda
