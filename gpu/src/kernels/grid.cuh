// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/cuda/queue.cuh"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"

/// Common code of the simple kernels. All loop over 64-bit indices with the stride of the grid, so
/// the size of a grid limits nothing and changes no result.
namespace kiln::cuda {

inline constexpr int block_size = 256;
inline constexpr int warp_size = 32;
inline constexpr unsigned full_warp = 0xFFFFFFFFu;
// Eight blocks of 256 threads fill a multiprocessor; no device of today has more than 132 of those.
inline constexpr std::int64_t filling_blocks = 8 * 132;

/// Blocks for `n` threads, at most `limit`. n > 0.
inline unsigned blocks_for(std::int64_t n, std::int64_t limit = filling_blocks) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((n + block_size - 1) / block_size, 1, limit));
}

__device__ inline std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t thread_count() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

namespace detail {
template <class Body>
__global__ void __launch_bounds__(block_size)
    for_each_index(const __grid_constant__ Body body, std::int64_t n) {
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) body(i);
}
}  // namespace detail

/// Enqueues body(0), ..., body(n - 1), in any order, for kernels whose header has the whole body.
template <class Body>
void launch_for_each(const Body& body, std::int64_t n, Queue& queue) {
  if (n <= 0) return;
  detail::for_each_index<<<blocks_for(n), block_size, 0, stream_of(queue)>>>(body, n);
  check_launch(Body::name);
}

}  // namespace kiln::cuda
