// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/track_best.hpp"

#include "best_slots.cuh"
#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Decides for every slot and leaves a bit mask of the improved ones for copy_best.
__global__ void __launch_bounds__(block_size)
    mark_improved(const __grid_constant__ TrackBest kernel) {
  if (kernel.control->stop != DeviceStop::none) return;
  const TickStart start = tick_start(kernel.control);
  const std::int64_t slots = kernel.energy.size;
  // Slots are a multiple of 32, so all lanes of a warp go round together.
  for (std::int64_t slot = thread_index(); slot < slots; slot += thread_count()) {
    const unsigned mask = note_best(kernel, slot, start);
    if (slot % warp_size == 0) kernel.improved[slot / warp_size] = mask;
  }
}

// Calls copy(row, column, mask) for the cells of an array [row][column] whose mask is not 0. A warp
// keeps to a few columns, as many as a power of two up to 32, and leaves if none of them has a
// mask.
template <class Mask, class Copy>
__device__ void for_each_masked(std::int64_t rows, std::int64_t columns, Mask mask_of, Copy copy) {
  int width = 1;
  while (width < warp_size && width < columns) width *= 2;
  const std::int64_t tiles = (columns + width - 1) / width;
  const std::int64_t warp = thread_index() / warp_size, warps = thread_count() / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  // Warps of one tile share its rows: of W warps every tile gets W / tiles, the first ones one
  // more.
  for (std::int64_t tile = warp % tiles; tile < tiles; tile += warps) {
    const std::int64_t column = tile * width + lane % width;
    const std::uint32_t mask = column < columns ? mask_of(column) : 0u;
    if (__any_sync(full_warp, mask != 0) == 0 || mask == 0) continue;
    const std::int64_t sharing = warps > tile ? (warps - tile + tiles - 1) / tiles : 1;
    const int rows_of_warp = warp_size / width;
    for (std::int64_t row = warp / tiles * rows_of_warp + lane / width; row < rows;
         row += sharing * rows_of_warp) {
      copy(row * columns + column, mask);
    }
  }
}

template <class T>
__device__ void copy_values(const TrackBest& kernel, const StateBlock& state,
                            const StateBlock& best) {
  const T* const from = state.as<const T>();
  T* const to = best.as<T>();
  const auto improved = [&](std::int64_t slot) {
    return kernel.improved[slot / warp_size] >> (slot % warp_size) & 1u;
  };
  for_each_masked(state.variables, state.slots, improved,
                  [&](std::int64_t cell, std::uint32_t) { to[cell] = from[cell]; });
}

__device__ void copy_words(const TrackBest& kernel, const StateBlock& state,
                           const StateBlock& best) {
  const auto* const from = state.as<const std::uint32_t>();
  auto* const to = best.as<std::uint32_t>();
  for_each_masked(
      state.variables, state.words(), [&](std::int64_t word) { return kernel.improved[word]; },
      [&](std::int64_t cell, std::uint32_t mask) {
        to[cell] = mask == ~0u ? from[cell] : (to[cell] & ~mask) | (from[cell] & mask);
      });
}

// One launch for all blocks of the space, blockIdx.y says which. control->stop cannot have changed
// since mark_improved: only AdvanceTick sets it.
__global__ void __launch_bounds__(block_size) copy_best(const __grid_constant__ TrackBest kernel) {
  if (kernel.control->stop != DeviceStop::none) return;
  const StateBlock& state = kernel.state[blockIdx.y];
  const StateBlock& best = kernel.best[blockIdx.y];
  switch (state.layout) {
    case Layout::packed32:
      return copy_words(kernel, state, best);
    case Layout::i8:
      return copy_values<std::int8_t>(kernel, state, best);
    case Layout::i32:
      return copy_values<std::int32_t>(kernel, state, best);
    case Layout::f32:
      return copy_values<float>(kernel, state, best);
    case Layout::f64:
      return copy_values<double>(kernel, state, best);
  }
}

std::int64_t cells_of(const StateBlock& block) {
  return block.variables * (block.layout == Layout::packed32 ? block.words() : block.slots);
}

}  // namespace

template <>
void launch(const TrackBest& kernel, Queue& queue) {
  if (kernel.energy.size <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  mark_improved<<<blocks_for(kernel.energy.size), block_size, 0, stream>>>(kernel);
  check_launch(TrackBest::name);
  std::int64_t most = 0;
  for (int b = 0; b < kernel.n_blocks; ++b) most = std::max(most, cells_of(kernel.state[b]));
  if (most == 0) return;
  const dim3 grid(blocks_for(most), static_cast<unsigned>(kernel.n_blocks));
  copy_best<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(TrackBest::name);
}

}  // namespace kiln::cuda
