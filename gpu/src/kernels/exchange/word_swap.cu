// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/exchange/word_swap.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int warps = block_size / warp_size;

// Whether the tick has a phase, and the masks of a lane's word: with the next one and the last one.
struct Lane {
  std::int64_t word;
  bool mine;
  std::uint32_t up = 0, down = 0;

  __device__ Lane(const WordSwap& kernel, std::int64_t first, std::int64_t begin, std::int64_t end)
      : word(begin + threadIdx.x % warp_size), mine(word < end) {
    if (mine) up = kernel.swapping[word];
    if (mine && word > first) down = kernel.swapping[word - 1];
  }
};

// Each lower rung exchanges with the next one. A warp has whole groups that lie within 32 words, a
// lane a word, and kRows rows at once: all are read before any is written.
template <int kRows>
__global__ void __launch_bounds__(block_size)
    exchange_short(const __grid_constant__ WordSwap kernel, int groups) {
  const std::int64_t first = blockIdx.x * groups * kernel.rungs;
  const Lane lane(kernel, first, first, min(first + groups * kernel.rungs, kernel.swapping.size));
  if (!kernel.active()) return;
  if (__any_sync(full_warp, (lane.up | lane.down) != 0) == 0) return;
  const View2<std::uint32_t>& state = kernel.state;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * warps * kRows;
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.y) * warps + threadIdx.x / warp_size;
  for (std::int64_t row = warp * kRows; row < state.rows; row += step) {
    std::uint32_t* const at = state.data + row * state.stride + lane.word;
    const auto rows = static_cast<int>(min(state.rows - row, std::int64_t{kRows}));
    std::uint32_t now[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) now[i] = lane.mine && i < rows ? at[i * state.stride] : 0u;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const std::uint32_t above = __shfl_down_sync(full_warp, now[i], 1);
      const std::uint32_t below = __shfl_up_sync(full_warp, now[i], 1);
      const std::uint32_t change = ((now[i] ^ above) & lane.up) | ((now[i] ^ below) & lane.down);
      if (change != 0 && i < rows) at[i * state.stride] = now[i] ^ change;
    }
  }
}

// The same for a group of more than 32 words, which come in the order of rungs: what the last one
// of a round held before is carried to the next round.
__global__ void __launch_bounds__(block_size)
    exchange_long(const __grid_constant__ WordSwap kernel) {
  if (!kernel.active()) return;
  const std::int64_t first = blockIdx.x * kernel.rungs, end = first + kernel.rungs;
  const int me = static_cast<int>(threadIdx.x) % warp_size;
  const View2<std::uint32_t>& state = kernel.state;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * warps;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * warps + threadIdx.x / warp_size;
       row < state.rows; row += step) {
    std::uint32_t carried = 0;
    for (std::int64_t begin = first; begin < end; begin += warp_size) {
      const Lane lane(kernel, first, begin, end);
      const bool last = me == warp_size - 1;
      const std::uint32_t now = lane.mine ? state(row, lane.word) : 0u;
      const std::uint32_t next = last && lane.up != 0 ? state(row, lane.word + 1) : 0u;
      const std::uint32_t above = __shfl_down_sync(full_warp, now, 1);
      const std::uint32_t below = __shfl_up_sync(full_warp, now, 1);
      const std::uint32_t change = ((now ^ (last ? next : above)) & lane.up) |
                                   ((now ^ (me == 0 ? carried : below)) & lane.down);
      carried = __shfl_sync(full_warp, now, warp_size - 1);
      if (change != 0) state(row, lane.word) = now ^ change;
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

unsigned height_for(std::int64_t rows, int at_once) {
  const std::int64_t of_block = std::int64_t{at_once} * warps;
  return static_cast<unsigned>(std::min<std::int64_t>((rows + of_block - 1) / of_block, 65535));
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
  } else if (kernel.rungs > warp_size) {
    const auto blocks = static_cast<unsigned>(numbers / kernel.rungs);
    exchange_long<<<dim3(blocks, height_for(rows, 1)), block_size, 0, stream>>>(kernel);
  } else {
    constexpr int rows_at_once = 16;
    const std::int64_t groups = warp_size / kernel.rungs, words = groups * kernel.rungs;
    const auto blocks = static_cast<unsigned>((numbers + words - 1) / words);
    exchange_short<rows_at_once>
        <<<dim3(blocks, height_for(rows, rows_at_once)), block_size, 0, stream>>>(
            kernel, static_cast<int>(groups));
  }
  check_launch(WordSwap::name);
}

}  // namespace kiln::cuda
