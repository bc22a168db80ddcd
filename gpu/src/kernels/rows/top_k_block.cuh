// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kiln/kernels/rows/top_k.hpp"

#include "kernels/grid.cuh"
#include "kernels/rows/top_k_candidate.cuh"

// What a block does to select among keys that it holds in shared memory, and to sort what is left.
namespace kiln::cuda {
namespace {

constexpr int max_threads = 1024;
constexpr int merged_runs = 8;
constexpr int first_run = 8;

// Shared memory of a block. `keys` has room for the slots, and for the candidates while they are
// sorted; slot s has the key that thread s % blockDim.x has put there.
struct SelectMemory {
  std::uint64_t* keys;
  Candidate* candidates;  // [capacity]
  std::int64_t* nodes;    // [capacity]; only a tree has some
  int capacity;
};

__device__ inline std::uint64_t warp_max(std::uint64_t key) {
  const auto high = static_cast<unsigned>(key >> 32);
  const unsigned highest = __reduce_max_sync(full_warp, high);
  const unsigned low = high == highest ? static_cast<unsigned>(key) : 0u;
  return std::uint64_t{highest} << 32 | __reduce_max_sync(full_warp, low);
}

__device__ inline std::uint64_t block_max(std::uint64_t key) {
  __shared__ std::uint64_t of_warps[max_threads / warp_size];
  const std::uint64_t mine = warp_max(key);
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  const unsigned lane = threadIdx.x % warp_size;
  return warp_max(lane < blockDim.x / warp_size ? of_warps[lane] : 0);
}

// The sum of the numbers in the threads before this one; `total` becomes that of the block.
__device__ inline int sum_before(int mine, int& total) {
  __shared__ int of_warps[max_threads / warp_size];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  int sum = mine;
  for (int apart = 1; apart < warp_size; apart *= 2) {
    const int more = __shfl_up_sync(full_warp, sum, apart);
    if (lane >= apart) sum += more;
  }
  __syncthreads();  // all have read what an earlier call put there
  if (lane == warp_size - 1) of_warps[warp] = sum;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  const int of_lane = lane < warps ? of_warps[lane] : 0;
  total = static_cast<int>(__reduce_add_sync(full_warp, static_cast<unsigned>(of_lane)));
  const int earlier = lane < warp ? of_lane : 0;
  return sum - mine +
         static_cast<int>(__reduce_add_sync(full_warp, static_cast<unsigned>(earlier)));
}

// A word of which count(word) is at least `needed`, and at most `limit` if one has so few; else the
// largest one that has `needed`. count() falls as the word grows, count(0) >= needed; no word above
// `top` has a count. First the distance from `top` is doubled, as keys are logarithms of values.
template <class Count>
__device__ inline std::uint64_t find_word(std::uint64_t top, int needed, int limit, int& counted,
                                          const Count& count) {
  const auto under_top = [&](int bits) -> std::uint64_t {
    const std::uint64_t distance = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return top > distance ? top - distance : 0;
  };
  int bits = 64;
  counted = -1;
  for (int too_few = -1; bits - too_few > 1;) {
    const int middle = (bits + too_few) / 2;  // not below 0
    const int found = count(under_top(middle));
    if (found < needed) {
      too_few = middle;
      continue;
    }
    bits = middle;
    counted = found;
    if (counted <= limit) return under_top(bits);
  }
  std::uint64_t word = under_top(bits);
  if (counted < 0) counted = count(word);
  if (bits == 0) return word;
  for (std::uint64_t above = under_top(bits - 1); counted > limit && above - word > 1;) {
    const std::uint64_t middle = word + (above - word) / 2;
    const int found = count(middle);
    if (found < needed) {
      above = middle;
    } else {
      word = middle;
      counted = found;
    }
  }
  return word;
}

// A candidate such that from `needed` to `limit` are not after it, as count(candidate) says.
template <class Count>
__device__ inline Candidate find_threshold(std::uint64_t largest, int needed, int limit,
                                           const Count& count) {
  int counted = 0;
  const std::uint64_t key = find_word(largest, needed, limit, counted, [&](std::uint64_t word) {
    return count(Candidate{word, 0});
  });
  if (counted <= limit) return {key, 0};
  const std::uint64_t place =
      find_word(last_column, needed, limit, counted, [&](std::uint64_t word) {
        return count(Candidate{key, word});
      });
  return {key, place};
}

// Slots of a thread that are not after a candidate, as bits; there are at most 32.
template <class Source>
__device__ inline unsigned slots_from(const Source& source, const SelectMemory& memory, int slots,
                                      const Candidate& threshold) {
  const int first = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  unsigned taken = 0, bit = 1;
  if (threshold.place == 0 && threshold.key > 0) {  // mostly
#pragma unroll 4
    for (int s = first; s < slots; s += threads, bit *= 2) {
      if (memory.keys[s] >= threshold.key) taken |= bit;
    }
    return taken;
  }
  for (int s = first; s < slots; s += threads, bit *= 2) {
    const std::uint64_t key = memory.keys[s];
    const bool takes = key > threshold.key || (key == threshold.key && source.has(s) &&
                                               source.place(s) >= threshold.place);
    if (takes) taken |= bit;
  }
  return taken;
}

// Of a value, or of a node.
template <class Number>
__device__ inline std::uint64_t key_of(Number number) {
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return number;
  } else {
    return TopK::key_of(static_cast<double>(number));
  }
}
// A number of which the key is 0, the least one.
template <class Number>
__device__ inline Number number_of_key_0() {
  if constexpr (std::is_same_v<Number, std::uint64_t>) return 0;
  return static_cast<Number>(exact::not_a_number());
}

// Reads the slots into shared memory. @return the first candidate of those of a thread
template <class Number, class Source>
__device__ inline Candidate load_slots(const Source& source, const SelectMemory& memory,
                                       int slots) {
  constexpr int at_once = 8;
  const int threads = static_cast<int>(blockDim.x);
  const int own = static_cast<int>(threadIdx.x);
  std::uint64_t largest = 0;
  // If slots are in order the lowest of equal ones is first: then a larger key alone replaces it.
  int first = Source::in_order && own < slots ? own : -1;
  for (int begin = own; begin < slots; begin += at_once * threads) {
    Number held[at_once];
#pragma unroll
    for (int l = 0; l < at_once; ++l) {  // without a branch: beyond the slots the last one again
      held[l] = source.number(min(begin + l * threads, slots - 1));
    }
#pragma unroll
    for (int l = 0; l < at_once; ++l) {
      const int s = begin + l * threads;
      const bool has = s < slots && source.has(s);
      const std::uint64_t key = key_of(has ? held[l] : number_of_key_0<Number>());
      if (s < slots) memory.keys[s] = key;
      bool is_first = key > largest;
      if constexpr (!Source::in_order) {
        if (key == largest && has) is_first = first < 0 || source.place(s) > source.place(first);
      }
      first = is_first ? s : first;
      largest = is_first ? key : largest;
    }
  }
  return {largest, first < 0 ? 0 : source.place(first)};
}

// Puts at least the `needed` first of the slots, and at most memory.capacity, into
// memory.candidates, in any order. source.has(s) says whether slot s has a value, and place(s)
// orders equal keys. At least `needed` slots have one. @return how many there are
template <class Number, class Source>
__device__ inline int select_slots(const Source& source, const SelectMemory& memory, int slots,
                                   int needed) {
  const Candidate first = load_slots<Number>(source, memory, slots);
  Candidate threshold{};
  unsigned taken = 0;
  int count = 0, before = 0;
  const bool all = slots <= memory.capacity;
  const std::uint64_t largest = all ? 0 : block_max(first.key);
  // As many threads have a first candidate from the threshold on, so that many candidates are.
  const bool by_threads = all || 2 * needed <= static_cast<int>(blockDim.x);
  if (by_threads) {
    if (!all) {
      threshold = find_threshold(largest, needed, needed + needed / 16, [&](const Candidate& from) {
        return __syncthreads_count(!from.before(first));
      });
    }
    taken = slots_from(source, memory, slots, threshold);
    before = sum_before(__popc(taken), count);
  }
  if (!by_threads || count > memory.capacity) {  // counts all slots
    threshold = find_threshold(largest, needed, memory.capacity, [&](const Candidate& from) {
      int counted = 0;
      sum_before(__popc(slots_from(source, memory, slots, from)), counted);
      return counted;
    });
    taken = slots_from(source, memory, slots, threshold);
    before = sum_before(__popc(taken), count);
  }
  for (; taken != 0; taken &= taken - 1) {
    const int s = (__ffs(static_cast<int>(taken)) - 1) * static_cast<int>(blockDim.x) +
                  static_cast<int>(threadIdx.x);
    memory.candidates[before++] = Candidate{memory.keys[s], source.place(s)};
  }
  __syncthreads();
  return count;
}

// The place of a candidate among `runs` sorted runs of a width, of which one is its run: itself
// there, and how many come before it in the others. All are searched at the same time.
template <int runs>
__device__ inline int merged_place(const Candidate* all, int count, int i, int width) {
  const int begin = i / (runs * width) * (runs * width);
  const Candidate mine = all[i];
  int length[runs], before[runs];
#pragma unroll
  for (int r = 0; r < runs; ++r) {
    const int run = begin + r * width;
    length[r] = run == i / width * width ? 0 : min(width, count - run);
    before[r] = 0;
  }
  for (int step = width; step > 0; step /= 2) {
#pragma unroll
    for (int r = 0; r < runs; ++r) {
      const int looked = before[r] + step;
      if (looked <= length[r] && all[begin + r * width + looked - 1].before(mine)) {
        before[r] = looked;
      }
    }
  }
  int place = begin + i % width;
#pragma unroll
  for (int r = 0; r < runs; ++r) place += before[r];
  return place;
}

template <int runs>
__device__ inline void merge_runs(const Candidate* all, Candidate* other, int count, int width) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    other[merged_place<runs>(all, count, i, width)] = all[i];
  }
  __syncthreads();
}

// Sorts different candidates by merges; `other` has as much room. @return which of both has them
__device__ inline Candidate* sort_by_merges(Candidate* all, Candidate* other, int count) {
  const int threads = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
    const int begin = i / first_run * first_run;
    const Candidate mine = all[i];
    int before = 0;
#pragma unroll
    for (int r = 0; r < first_run; ++r) {
      if (begin + r < count && all[begin + r].before(mine)) ++before;
    }
    other[begin + before] = mine;
  }
  __syncthreads();
  for (int width = first_run; width < count; width *= merged_runs) {
    Candidate* const sorted = other;
    other = all;
    all = sorted;
    if (count <= 4 * width) {
      merge_runs<4>(all, other, count, width);
      break;
    }
    merge_runs<merged_runs>(all, other, count, width);
  }
  return other;
}

}  // namespace
}  // namespace kiln::cuda
