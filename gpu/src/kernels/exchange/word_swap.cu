// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/exchange/word_swap.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int rows_at_once = 4;  // of a warp, all read before any is written
constexpr int warps = block_size / warp_size;
constexpr std::int64_t rows_per_block = rows_at_once * warps;

// Some whole groups of words for a warp, 32 words at a time. No other warp touches them.
struct Stretch {
  std::int64_t first, end;  // rung numbers

  __device__ Stretch(const WordSwap& kernel, int groups) {
    first = blockIdx.x * groups * kernel.rungs;
    end = min(first + groups * kernel.rungs, kernel.swapping.size);
  }
};

// Each lower rung exchanges with the next one. A lane has a word of a row; words come in the order
// of rungs, so what the last one of a round held before is carried to the next round.
__global__ void __launch_bounds__(block_size)
    exchange_neighbours(const __grid_constant__ WordSwap kernel, int groups) {
  if (!kernel.active()) return;
  const Stretch stretch(kernel, groups);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const View2<std::uint32_t>& state = kernel.state;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * warps * rows_at_once;
  for (std::int64_t row = (static_cast<std::int64_t>(blockIdx.y) * warps + warp) * rows_at_once;
       row < state.rows; row += step) {
    std::uint32_t carried[rows_at_once] = {};
    for (std::int64_t begin = stretch.first; begin < stretch.end; begin += warp_size) {
      const std::int64_t word = begin + lane;
      const bool mine = word < stretch.end;
      const std::uint32_t up = mine ? kernel.swapping[word] : 0u;
      const std::uint32_t down = mine && word > stretch.first ? kernel.swapping[word - 1] : 0u;
      const bool last = stretch.end - begin <= warp_size;
      if (last && __any_sync(full_warp, (up | down) != 0) == 0) continue;
      std::uint32_t now[rows_at_once], next[rows_at_once];
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) {
        const bool there = mine && row + i < state.rows;
        now[i] = there ? state(row + i, word) : 0u;
        next[i] = there && lane == warp_size - 1 && up != 0 ? state(row + i, word + 1) : 0u;
      }
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) {
        const std::uint32_t above = __shfl_down_sync(full_warp, now[i], 1);
        const std::uint32_t below = __shfl_up_sync(full_warp, now[i], 1);
        const std::uint32_t upper = lane == warp_size - 1 ? next[i] : above;
        const std::uint32_t lower = lane == 0 ? carried[i] : below;
        const std::uint32_t change = ((now[i] ^ upper) & up) | ((now[i] ^ lower) & down);
        carried[i] = __shfl_sync(full_warp, now[i], warp_size - 1);
        if (change != 0 && row + i < state.rows) state(row + i, word) = now[i] ^ change;
      }
    }
  }
}

// Any disjoint pairs of rungs: a thread has both words.
__global__ void __launch_bounds__(block_size)
    exchange_pairs(const __grid_constant__ WordSwap kernel) {
  if (!kernel.active()) return;
  const std::int64_t lower = static_cast<std::int64_t>(blockIdx.x) * block_size + threadIdx.x;
  if (lower >= kernel.swapping.size) return;
  const std::uint32_t mask = kernel.swapping[lower];
  if (mask == 0) return;
  const std::int64_t upper = kernel.upper_of(lower);
  for (std::int64_t row = blockIdx.y; row < kernel.state.rows; row += gridDim.y) {
    std::uint32_t &a = kernel.state(row, lower), &b = kernel.state(row, upper);
    const std::uint32_t now_a = a, now_b = b, change = (now_a ^ now_b) & mask;
    if (change == 0) continue;
    a = now_a ^ change;
    b = now_b ^ change;
  }
}

}  // namespace

template <>
void launch(const WordSwap& kernel, Queue& queue) {
  const std::int64_t numbers = kernel.swapping.size, rows = kernel.state.rows;
  if (numbers <= 0 || rows <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  if (kernel.partner) {
    const dim3 grid(static_cast<unsigned>((numbers + block_size - 1) / block_size),
                    static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)));
    exchange_pairs<<<grid, block_size, 0, stream>>>(kernel);
  } else {
    const std::int64_t groups = std::max<std::int64_t>(1, warp_size / kernel.rungs);
    const std::int64_t stretches = (numbers + groups * kernel.rungs - 1) / (groups * kernel.rungs);
    const std::int64_t height = (rows + rows_per_block - 1) / rows_per_block;
    const dim3 grid(static_cast<unsigned>(stretches),
                    static_cast<unsigned>(std::min<std::int64_t>(height, 65535)));
    exchange_neighbours<<<grid, block_size, 0, stream>>>(kernel, static_cast<int>(groups));
  }
  check_launch(WordSwap::name);
}

}  // namespace kiln::cuda
