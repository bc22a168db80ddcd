// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kiln/kernels/rows/top_k.hpp"

#include "kernels/grid.cuh"
#include "kernels/rows/top_k_block.cuh"

// Selection in a tree: a node has the largest key of 32 neighbours of the level below, and level 0
// are the values. The k first values lie under the k first nodes of each level, where the lower of
// equal nodes is first. So a row is read once, and a block goes down from the top.
namespace kiln::cuda {
namespace {

constexpr int slots_of_thread = 16;
constexpr int short_threads = 1280;  // of a multiprocessor, if rows are short
constexpr int chunk_loads = 16;
constexpr std::int64_t max_candidates = 2048;
constexpr std::int64_t tree_chunk = std::int64_t{TopK::fan} * TopK::fan;

// 2^39 columns have 8192 nodes or less on level 6.
constexpr int tree_levels = 7;
static_assert(TopK::sorted_at_once <= 256 * slots_of_thread);

struct TreeLevel {
  std::int64_t size = 0;
  std::int64_t begin = 0;  // among the nodes of a row; level 0 has none
};

// Of a part of the rows.
struct TreePass {
  TopK kernel;
  std::int64_t first_row = 0;
  std::int64_t nodes_of_row = 0;
  TreeLevel levels[tree_levels];
  int top = 0;       // level
  int slots = 0;     // of a block at most
  int capacity = 0;  // candidates

  __device__ std::uint64_t* nodes(std::int64_t i, int level) const {
    return reinterpret_cast<std::uint64_t*>(kernel.room.data) + i * nodes_of_row +
           levels[level].begin;
  }
};

// The numbers of a level in a row.
template <class Number>
struct LevelNumbers {
  const Number* first;
  std::int64_t step;
  std::int64_t size;

  __device__ Number operator[](std::int64_t index) const { return first[index * step]; }
  // Slots are few: a product of 32 bits with 64.
  __device__ Number operator[](unsigned slot) const {
    const std::uint64_t bytes = static_cast<std::uint64_t>(step) * sizeof(Number);
    return *reinterpret_cast<const Number*>(reinterpret_cast<const char*>(first) + slot * bytes);
  }

  __device__ LevelNumbers(const TreePass& pass, std::int64_t i, int level)
      : size(pass.levels[level].size) {
    if constexpr (std::is_same_v<Number, std::uint64_t>) {
      first = pass.nodes(i, level);
      step = 1;
    } else {
      const Elements& value = pass.kernel.value;
      first = static_cast<const Number*>(value.data) + (pass.first_row + i) * value.stride;
      step = value.step;
    }
  }
};

// Builds two levels above `level`: a warp takes a chunk of 1024 numbers.
template <class Number>
__global__ void __launch_bounds__(block_size, 4)
    build_levels(const __grid_constant__ TreePass pass, int level) {
  const LevelNumbers<Number> numbers(pass, blockIdx.y, level);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t first = thread_index() / warp_size * tree_chunk;
  if (first >= numbers.size) return;
  const auto left = static_cast<int>(min(numbers.size - first, tree_chunk)) - lane;
  const Number* at = numbers.first + (first + lane) * numbers.step;
  const std::int64_t apart = warp_size * numbers.step;
  std::uint64_t mine = 0;
  for (int part = 0; part < TopK::fan; part += chunk_loads) {
    Number held[chunk_loads];
#pragma unroll
    for (int l = 0; l < chunk_loads; ++l) {
      held[l] = (part + l) * warp_size < left ? *at : number_of_key_0<Number>();
      at += apart;
    }
#pragma unroll
    for (int l = 0; l < chunk_loads; ++l) {
      const std::uint64_t largest = warp_max(key_of(held[l]));
      if (lane == part + l) mine = largest;
    }
  }
  const std::int64_t node = first / TopK::fan + lane;
  if (node * TopK::fan < numbers.size) pass.nodes(blockIdx.y, level + 1)[node] = mine;
  if (level + 2 > pass.top) return;
  const std::uint64_t largest = warp_max(mine);
  if (lane == 0) pass.nodes(blockIdx.y, level + 2)[first / tree_chunk] = largest;
}

// Slots for all numbers of a level.
template <class Number>
struct AllSlots {
  static constexpr bool in_order = true;
  LevelNumbers<Number> numbers;

  __device__ bool has(int) const { return true; }
  __device__ std::uint64_t place(int s) const {
    return last_column - static_cast<std::uint64_t>(s);
  }
  __device__ Number number(int s) const { return numbers[static_cast<unsigned>(s)]; }
};

// Slots for those below some nodes.
template <class Number>
struct SlotsBelow {
  static constexpr bool in_order = false;
  LevelNumbers<Number> numbers;
  const std::int64_t* nodes;

  __device__ std::int64_t index(int s) const {
    constexpr int fan = TopK::fan;
    const auto slot = static_cast<unsigned>(s);
    return nodes[slot / fan] * fan + slot % fan;
  }
  __device__ bool has(int s) const { return index(s) < numbers.size; }
  __device__ std::uint64_t place(int s) const {
    return last_column - static_cast<std::uint64_t>(index(s));
  }
  __device__ Number number(int s) const { return numbers[min(index(s), numbers.size - 1)]; }
};

// The keys of the slots share their memory with candidates that are sorted.
KILN_HD constexpr std::size_t keys_bytes(int slots, int capacity) {
  const auto of_slots = static_cast<std::size_t>(slots + slots % 2) * 8;
  const auto of_candidates = static_cast<std::size_t>(capacity) * sizeof(Candidate);
  return of_slots > of_candidates ? of_slots : of_candidates;
}

__device__ inline void put_candidates(const TopK& kernel, std::int64_t row, const Candidate* all,
                                      int count) {
  const std::uint64_t zero = TopK::key_of(0.0);
  for (std::int64_t i = threadIdx.x; i < kernel.k(); i += blockDim.x) {
    if (i >= count) {
      kernel.put(row, i, TopK::no_column);
      continue;
    }
    const Candidate one = all[i];
    const auto column = static_cast<std::int64_t>(last_column - one.place);
    if (one.key == zero) {  // which of both zeros it is the key does not say
      kernel.put(row, i, column);
      continue;
    }
    kernel.column(row, i) = row * kernel.rows_apart + column;
    if (kernel.largest.data == nullptr) continue;
    kernel.largest(row, i) = one.key == 0 ? exact::not_a_number() : exact::from_order_key(one.key);
  }
}

__device__ inline SelectMemory memory_of(const TreePass& pass, unsigned char* shared) {
  SelectMemory memory{reinterpret_cast<std::uint64_t*>(shared), nullptr, nullptr, pass.capacity};
  memory.candidates = reinterpret_cast<Candidate*>(shared + keys_bytes(pass.slots, pass.capacity));
  memory.nodes = reinterpret_cast<std::int64_t*>(memory.candidates + pass.capacity);
  return memory;
}

__device__ inline void put_first(const TreePass& pass, const SelectMemory& memory, int count,
                                 int needed) {
  auto* const other = reinterpret_cast<Candidate*>(memory.keys);
  put_candidates(pass.kernel, pass.first_row + blockIdx.x,
                 sort_by_merges(memory.candidates, other, count), needed);
}

// Selects in a short row, and writes its k first values.
template <class T, int threads>
__global__ void __launch_bounds__(threads, short_threads / threads)
    select_short(const __grid_constant__ TreePass pass) {
  extern __shared__ __align__(16) unsigned char top_k_memory[];
  const SelectMemory memory = memory_of(pass, top_k_memory);
  const AllSlots<T> slots{LevelNumbers<T>(pass, blockIdx.x, 0)};
  const auto needed = static_cast<int>(min(pass.kernel.k(), slots.numbers.size));
  put_first(pass, memory, select_slots<T>(slots, memory, pass.slots, needed), needed);
}

// Selects in a row with a tree from the top on, and writes its k first values.
template <class T>
__global__ void __launch_bounds__(max_threads) select_down(const __grid_constant__ TreePass pass) {
  extern __shared__ __align__(16) unsigned char top_k_memory[];
  const SelectMemory memory = memory_of(pass, top_k_memory);
  const auto needed = static_cast<int>(pass.kernel.k());
  const std::int64_t i = blockIdx.x;
  const AllSlots<std::uint64_t> top{LevelNumbers<std::uint64_t>(pass, i, pass.top)};
  const auto needed_of = [&](std::int64_t size) {
    return static_cast<int>(min(size, std::int64_t{needed}));
  };
  int count = select_slots<std::uint64_t>(top, memory, static_cast<int>(top.numbers.size),
                                          needed_of(top.numbers.size));
  for (int level = pass.top - 1; level >= 0; --level) {
    for (int c = static_cast<int>(threadIdx.x); c < count; c += static_cast<int>(blockDim.x)) {
      memory.nodes[c] = static_cast<std::int64_t>(last_column - memory.candidates[c].place);
    }
    __syncthreads();
    const int slots = count * static_cast<int>(TopK::fan);
    if (level > 0) {
      const SlotsBelow<std::uint64_t> below{LevelNumbers<std::uint64_t>(pass, i, level),
                                            memory.nodes};
      count = select_slots<std::uint64_t>(below, memory, slots, needed_of(below.numbers.size));
    } else {
      const SlotsBelow<T> values{LevelNumbers<T>(pass, i, 0), memory.nodes};
      count = select_slots<T>(values, memory, slots, needed);
    }
  }
  put_first(pass, memory, count, needed);
}

// Launches on a stream; reserve(function, bytes) allows dynamic shared memory, checked() looks for
// an error after each launch.
template <class T, class Reserve, class Checked>
void select_in_rows(const TopK& kernel, int multiprocessors, cudaStream_t stream,
                    const Reserve& reserve, const Checked& checked) {
  const std::int64_t columns = kernel.value.columns, rows = kernel.value.rows;
  TreePass pass;
  pass.kernel = kernel;
  pass.top = TopK::top_level(columns);
  for (int level = 0; level <= pass.top; ++level) {
    pass.levels[level] = {TopK::level_size(columns, level), TopK::nodes_below(columns, level)};
  }
  pass.nodes_of_row = TopK::nodes_below(columns, pass.top + 1);
  pass.capacity = static_cast<int>(TopK::capacity(columns, kernel.k()));
  const std::int64_t widest = pass.levels[pass.top].size;
  pass.slots = static_cast<int>(
      pass.top == 0 ? widest : std::max<std::int64_t>(widest, pass.capacity * TopK::fan));
  const std::size_t bytes =
      keys_bytes(pass.slots, pass.capacity) +
      static_cast<std::size_t>(pass.capacity) * (sizeof(Candidate) + (pass.top > 0 ? 8 : 0));
  // Few rows do not fill the device: then more threads share the work of a row.
  const bool few = rows <= 2 * multiprocessors;
  const int share = few ? slots_of_thread / 2 : slots_of_thread;
  const auto wanted = std::bit_ceil(static_cast<unsigned>((pass.slots + share - 1) / share));
  const unsigned threads = std::clamp<unsigned>(wanted, warp_size, max_threads);
  const auto select = pass.top > 0 ? select_down<T>
                      : few        ? select_short<T, 512>
                                   : select_short<T, 256>;
  reserve(select, bytes);
  const std::int64_t at_once = pass.top > 0 ? TopK::tree_rows(columns) : std::int64_t{1} << 30;
  for (pass.first_row = 0; pass.first_row < rows; pass.first_row += at_once) {
    const std::int64_t now = std::min(at_once, rows - pass.first_row);
    for (int level = 0; level < pass.top; level += 2) {
      const std::int64_t chunks = (pass.levels[level].size + tree_chunk - 1) / tree_chunk;
      const std::int64_t warps =
          std::clamp<std::int64_t>(chunks * now / multiprocessors, 1, block_size / warp_size);
      const dim3 grid(static_cast<unsigned>((chunks + warps - 1) / warps),
                      static_cast<unsigned>(now));
      const auto build = level == 0 ? build_levels<T> : build_levels<std::uint64_t>;
      build<<<grid, static_cast<unsigned>(warps * warp_size), 0, stream>>>(pass, level);
      checked();
    }
    select<<<static_cast<unsigned>(now), threads, bytes, stream>>>(pass);
    checked();
  }
}

}  // namespace
}  // namespace kiln::cuda
