// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/team.hpp"

namespace kiln::cuda {

/// `lanes` neighbouring threads of a warp, a power of two: short vectors would leave most of a warp
/// idle. The teams of a warp may diverge.
template <int lanes>
struct LaneTeam {
  static_assert(lanes > 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0);
  __device__ static int rank() { return static_cast<int>(threadIdx.x % lanes); }
  __device__ static constexpr int size() { return lanes; }
  __device__ static unsigned mask() {
    constexpr unsigned lowest = 0xFFFFFFFFu >> (32 - lanes);
    if constexpr (lanes == 32) {
      return lowest;
    } else {
      return lowest << (threadIdx.x % 32 - static_cast<unsigned>(rank()));
    }
  }
  __device__ static double sum(double value) {
    // Butterfly: both partners add the same two numbers, so all lanes have the same bits.
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(mask(), value, step);
    return value;
  }
  template <int n>
  __device__ static void sum(double (&values)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) values[i] = sum(values[i]);
  }
  __device__ static double lane_sum(double value) { return sum(value); }
  __device__ static double least(double value) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
      value = fmin(value, __shfl_xor_sync(mask(), value, step));
    }
    return value;
  }
  __device__ static void sync() { __syncwarp(mask()); }
};

/// The threads of a warp.
using WarpTeam = LaneTeam<32>;

/// The threads of a block, a multiple of 32. One per kernel: its memory is static.
struct BlockTeam {
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static int size() { return static_cast<int>(blockDim.x); }
  __device__ static double sum(double value) {
    double values[1] = {value};
    sum(values);
    return values[0];
  }
  template <int n>
  __device__ static void sum(double (&values)[n]) {
    __shared__ double partial[n][32];
    const int warp = rank() / 32, lane = rank() % 32, warps = size() / 32;
    WarpTeam::sum(values);
    if (lane == 0) {
#pragma unroll
      for (int i = 0; i < n; ++i) partial[i][warp] = values[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i) values[i] = WarpTeam::sum(lane < warps ? partial[i][lane] : 0.0);
    __syncthreads();
  }
  __device__ static double lane_sum(double value) { return WarpTeam::sum(value); }
  __device__ static double least(double value) {
    __shared__ double partial[32];
    const int warp = rank() / 32, lane = rank() % 32, warps = size() / 32;
    value = WarpTeam::least(value);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = WarpTeam::least(partial[lane < warps ? lane : 0]);
    __syncthreads();
    return value;
  }
  __device__ static void sync() { __syncthreads(); }
};

}  // namespace kiln::cuda
