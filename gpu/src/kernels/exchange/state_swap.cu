// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/state_swap.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int max_slots = static_cast<int>(StateSwap::max_group_size);  // of a block
constexpr int max_words = max_slots / warp_size + 1;                    // groups begin anywhere
constexpr int max_values = max_slots / block_size;                      // of a thread in a row

// Some whole groups, so that nothing comes from outside.
struct Chunk {
  std::int64_t first, end;  // slots
  std::int64_t word;        // that holds the first
  int slots, words;

  __device__ Chunk(const StateSwap& kernel, int groups) {
    const std::int64_t size = groups * kernel.places.group_size();
    first = blockIdx.x * size;
    end = min(first + size, kernel.places.size());
    slots = static_cast<int>(end - first);
    word = first / warp_size;
    words = static_cast<int>((end + warp_size - 1) / warp_size - word);
  }
};

struct Plan {
  int source[max_slots];  // from the first slot of the chunk
  std::uint32_t next[max_words], last[max_words], other[max_words];

  __device__ WordMoves moves_of(int word) const { return {next[word], last[word], other[word]}; }
};

// Whether anything moves. A warp finds the moves of one word after the other.
__device__ bool make_plan(const StateSwap& kernel, const Chunk& chunk, Plan& plan) {
  const int lane = threadIdx.x % warp_size;
  bool any = false;
  for (int w = threadIdx.x / warp_size; w < chunk.words; w += block_size / warp_size) {
    const std::int64_t slot = (chunk.word + w) * warp_size + lane;
    std::int64_t distance = 0;
    if (slot >= chunk.first && slot < chunk.end) {
      const std::int64_t source = kernel.source_of(slot);
      plan.source[slot - chunk.first] = static_cast<int>(source - chunk.first);
      distance = source - slot;
    }
    plan.next[w] = __ballot_sync(full_warp, distance == 1);
    plan.last[w] = __ballot_sync(full_warp, distance == -1);
    plan.other[w] = __ballot_sync(full_warp, distance < -1 || distance > 1);
    any |= distance != 0;
  }
  return __syncthreads_or(any ? 1 : 0) != 0;
}

// A thread has a word of some row. A word that groups of two blocks share is changed by both, each
// in lanes of its own.
__device__ void move_words(const SlotArray& array, const Chunk& chunk, const Plan& plan) {
  const int rows = block_size / chunk.words;  // at a time
  const int mine = static_cast<int>(threadIdx.x) / chunk.words;
  const int w = static_cast<int>(threadIdx.x) % chunk.words;
  const std::int64_t word = chunk.word + w;
  const bool whole = word * warp_size >= chunk.first && (word + 1) * warp_size <= chunk.end;
  const WordMoves moves = plan.moves_of(w);
  const bool moving = mine < rows && moves.all() != 0;
  const auto source = [&](std::int64_t slot) {
    return chunk.first + plan.source[slot - chunk.first];
  };
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * rows;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows; begin < array.rows;
       begin += step) {
    const bool active = moving && begin + mine < array.rows;
    std::uint32_t* const row = active ? array.row<std::uint32_t>(begin + mine) : nullptr;
    const std::uint32_t changes = active ? StateSwap::changes(row, word, moves, source) : 0u;
    __syncthreads();  // everything of these rows is read
    if (changes == 0) continue;
    if (whole) {
      row[word] ^= changes;
    } else {
      atomicXor(&row[word], changes);
    }
  }
}

// A thread has some values of a row.
template <class T>
__device__ void move_values(const SlotArray& array, const Chunk& chunk, const Plan& plan) {
  const int columns = min(chunk.slots, block_size);
  const int rows = block_size / columns;  // at a time
  const int mine = static_cast<int>(threadIdx.x) / columns;
  const int column = static_cast<int>(threadIdx.x) % columns;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * rows;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows; begin < array.rows;
       begin += step) {
    const bool active = mine < rows && begin + mine < array.rows;
    T* const row = active ? array.row<T>(begin + mine) + chunk.first : nullptr;
    T held[max_values];
#pragma unroll
    for (int i = 0; i < max_values; ++i) {
      const int slot = column + i * block_size;
      if (active && slot < chunk.slots) held[i] = row[plan.source[slot]];
    }
    __syncthreads();  // everything of these rows is read
#pragma unroll
    for (int i = 0; i < max_values; ++i) {
      const int slot = column + i * block_size;
      if (active && slot < chunk.slots && plan.source[slot] != slot) row[slot] = held[i];
    }
  }
}

// The arrays are the depth of the grid, stretches of their rows its height.
__global__ void __launch_bounds__(block_size)
    move_replicas(const __grid_constant__ StateSwap kernel, int groups_per_block) {
  if (kernel.control->stop != DeviceStop::none) return;
  const SlotArray& array = kernel.arrays[blockIdx.z];
  if (static_cast<std::int64_t>(blockIdx.y) >= array.rows) return;
  __shared__ Plan plan;
  const Chunk chunk(kernel, groups_per_block);
  if (!make_plan(kernel, chunk, plan)) return;
  switch (array.bytes) {
    case 0:
      return move_words(array, chunk, plan);
    case 1:
      return move_values<std::uint8_t>(array, chunk, plan);
    case 4:
      return move_values<std::uint32_t>(array, chunk, plan);
    default:
      return move_values<std::uint64_t>(array, chunk, plan);
  }
}

// After it all blocks of move_replicas have read where replicas stood.
__global__ void __launch_bounds__(block_size) settle(const __grid_constant__ StateSwap kernel) {
  if (kernel.control->stop != DeviceStop::none) return;
  for (std::int64_t slot = thread_index(); slot < kernel.places.size(); slot += thread_count()) {
    kernel.settle(slot);
  }
}

// Stretches of rows: enough blocks to fill the device, and a pass over its rows for each.
unsigned height_of(const StateSwap& kernel, std::int64_t slots_per_block, std::int64_t chunks) {
  std::int64_t passes = 1;
  for (std::int32_t a = 0; a < kernel.n_arrays; ++a) {
    const SlotArray& array = kernel.arrays[a];
    const std::int64_t units =
        array.packed() ? (slots_per_block + warp_size - 1) / warp_size : slots_per_block;
    passes = std::max(passes, (array.rows * units + block_size - 1) / block_size);
  }
  return static_cast<unsigned>(std::clamp<std::int64_t>(2 * filling_blocks / chunks, 1,
                                                        std::min<std::int64_t>(passes, 65535)));
}

}  // namespace

template <>
void launch(const StateSwap& kernel, Queue& queue) {
  const LadderPlaces& places = kernel.places;
  if (places.size() <= 0) return;
  const auto per_block =
      static_cast<int>(std::max<std::int64_t>(1, max_slots / places.group_size()));
  const std::int64_t chunks = (places.groups + per_block - 1) / per_block;
  const std::int64_t slots = std::min(per_block * places.group_size(), places.size());
  const dim3 grid(static_cast<unsigned>(chunks), height_of(kernel, slots, chunks),
                  static_cast<unsigned>(kernel.n_arrays));
  if (kernel.n_arrays > 0) {
    move_replicas<<<grid, block_size, 0, stream_of(queue)>>>(kernel, per_block);
    check_launch(StateSwap::name);
  }
  settle<<<blocks_for(places.size()), block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(StateSwap::name);
}

}  // namespace kiln::cuda
