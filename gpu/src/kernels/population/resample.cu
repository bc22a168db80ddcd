// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/resample.hpp"

#include "kernels/grid.cuh"

// Parts of 1024 replicas take a block each, a thread four neighbouring replicas. Between the parts
// a block per population turns sums into sums before.
namespace kiln::cuda {
namespace {

using Count = unsigned long long;  // what shuffles and atomics take
static_assert(sizeof(Count) == sizeof(std::uint64_t));

constexpr int warps = block_size / warp_size;
constexpr int per_thread = 4;
static_assert(block_size * per_thread == Resample::part_size);

// Sum of `mine` over the threads before this one; `total` becomes that of the block. All threads
// must come here, and a barrier must follow before they come again.
__device__ Count sum_before(Count mine, Count& total) {
  __shared__ Count of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  Count up_to = mine;
  for (int offset = 1; offset < warp_size; offset *= 2) {
    const Count other = __shfl_up_sync(full_warp, up_to, offset);
    if (lane >= offset) up_to += other;
  }
  if (lane == warp_size - 1) of_warp[warp] = up_to;
  __syncthreads();
  Count before = up_to - mine;
  total = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < warp) before += of_warp[w];
    total += of_warp[w];
  }
  return before;
}

// The replicas of a thread of the part of this block.
struct Mine {
  __device__ Mine(const Resample& kernel, std::int64_t group_)
      : group(group_), slot0(group_ * kernel.group_size) {
    const std::int64_t at = blockIdx.x * Resample::part_size + threadIdx.x * per_thread;
    begin = at < kernel.group_size ? at : kernel.group_size;
    end = at + per_thread < kernel.group_size ? at + per_thread : kernel.group_size;
    part = group * Resample::parts_of(kernel.group_size) + blockIdx.x;
  }
  std::int64_t group, slot0;  // the first slot of the population
  std::int64_t begin, end;    // within the population
  std::int64_t part;
};

// Sums of weights; sources and counts are cleared, new rounds begin with new families.
__global__ void __launch_bounds__(block_size) add_weights(const __grid_constant__ Resample kernel) {
  if (kernel.control->stop != DeviceStop::none) return;
  const bool whole = kernel.whole();
  for (std::int64_t group = blockIdx.y; group < kernel.totals.size; group += gridDim.y) {
    if (!kernel.takes(group)) continue;  // the same for all threads
    const Mine mine(kernel, group);
    const bool begins = whole && kernel.begins[group] != 0;
    Count sum = 0, total = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      const std::int64_t slot = mine.slot0 + r;
      kernel.source[slot] = -1;
      if (!whole) continue;
      kernel.members[slot] = 0;
      if (begins) kernel.family[slot] = static_cast<std::int32_t>(slot);
      sum += kernel.weight[slot];
    }
    sum_before(sum, total);
    if (whole && threadIdx.x == 0) kernel.parts[mine.part].weight = total;
    __syncthreads();
  }
}

// Sums over parts become sums over the parts before.
template <class Field>
__device__ Count scan_parts(const Resample& kernel, std::int64_t group, Field field) {
  const std::int64_t n = Resample::parts_of(kernel.group_size), first = group * n;
  Count carry = 0;
  for (std::int64_t begin = 0; begin < n; begin += block_size) {
    const std::int64_t at = begin + threadIdx.x;
    const Count mine = at < n ? static_cast<Count>(field(kernel.parts[first + at])) : 0;
    Count total = 0;
    const Count before = carry + sum_before(mine, total);
    using Value = std::remove_reference_t<decltype(field(kernel.parts[first]))>;
    if (at < n) field(kernel.parts[first + at]) = static_cast<Value>(before);
    carry += total;
    __syncthreads();
  }
  return carry;
}

__global__ void __launch_bounds__(block_size)
    scan_weights(const __grid_constant__ Resample kernel) {
  const std::int64_t group = blockIdx.x;
  if (!kernel.whole() || !kernel.takes(group)) return;
  const Count total = scan_parts(
      kernel, group, [](Resample::Part & p) -> auto& { return p.weight; });
  if (threadIdx.x != 0) return;
  ResampleTotals& totals = kernel.totals[group];
  const bool begins = kernel.begins[group] != 0;
  totals = {total, 0, 0, 0, begins ? 0 : totals.rounding, begins ? 0 : totals.spread};
}

// How many copies lie before each replica, and how many replicas of the part have none.
__global__ void __launch_bounds__(block_size)
    choose_copies(const __grid_constant__ Resample kernel) {
  if (!kernel.whole()) return;
  for (std::int64_t group = blockIdx.y; group < kernel.totals.size; group += gridDim.y) {
    if (!kernel.takes(group)) continue;
    const std::uint64_t all = kernel.totals[group].weight;
    if (all == 0) continue;  // the same for all threads
    const Mine mine(kernel, group);
    Count sum = 0, total = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) sum += kernel.weight[mine.slot0 + r];
    std::uint64_t cumulated = kernel.parts[mine.part].weight + sum_before(sum, total);
    __syncthreads();
    const std::uint32_t word = kernel.word_of(group);
    std::int64_t copies = Resample::copies_up_to(cumulated, all, word, kernel.group_size);
    Count dead = 0, rounding = 0, spread = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      kernel.copies_before[mine.slot0 + r] = static_cast<std::int32_t>(copies);
      cumulated += kernel.weight[mine.slot0 + r];
      const std::int64_t next = Resample::copies_up_to(cumulated, all, word, kernel.group_size);
      if (next == copies) ++dead;
      copies = next;
      const double expected =
          Resample::expected_copies(kernel.weight[mine.slot0 + r], all, kernel.group_size);
      rounding += Resample::rounding_of(expected);
      spread += Resample::spread_of(expected);
    }
    sum_before(dead, total);
    if (threadIdx.x == 0) kernel.parts[mine.part].dead = static_cast<std::int64_t>(total);
    __syncthreads();
    sum_before(rounding, total);
    if (threadIdx.x == 0) {
      atomicAdd(reinterpret_cast<Count*>(&kernel.totals[group].rounding), total);
    }
    __syncthreads();
    sum_before(spread, total);
    if (threadIdx.x == 0) {
      atomicAdd(reinterpret_cast<Count*>(&kernel.totals[group].spread), total);
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(block_size) scan_dead(const __grid_constant__ Resample kernel) {
  if (!kernel.whole() || !kernel.takes(blockIdx.x)) return;
  if (kernel.totals[blockIdx.x].weight == 0) return;
  scan_parts(
      kernel, blockIdx.x, [](Resample::Part & p) -> auto& { return p.dead; });
}

// Numbers the slots to be filled and the further copies.
__global__ void __launch_bounds__(block_size)
    number_copies(const __grid_constant__ Resample kernel) {
  if (!kernel.whole()) return;
  for (std::int64_t group = blockIdx.y; group < kernel.totals.size; group += gridDim.y) {
    if (!kernel.takes(group) || kernel.totals[group].weight == 0) continue;
    const Mine mine(kernel, group);
    const auto copies_before = [&](std::int64_t r) {
      return r < kernel.group_size ? kernel.copies_before[mine.slot0 + r]
                                   : static_cast<std::int32_t>(kernel.group_size);
    };
    Count none = 0, total = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      if (copies_before(r + 1) == copies_before(r)) ++none;
    }
    std::int64_t dead =
        kernel.parts[mine.part].dead + static_cast<std::int64_t>(sum_before(none, total));
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      const std::int64_t slot = mine.slot0 + r;
      kernel.extra_before[slot] = static_cast<std::int32_t>(copies_before(r) - (r - dead));
      if (copies_before(r + 1) == copies_before(r)) {
        kernel.source[slot] = static_cast<std::int32_t>(dead++);
      }
    }
    __syncthreads();
  }
}

// Slots that are copied from are not filled, so it does not matter who comes first.
__global__ void __launch_bounds__(block_size) fill_slots(const __grid_constant__ Resample kernel) {
  if (!kernel.whole()) return;
  const std::int64_t n = kernel.totals.size * kernel.group_size;
  // Whole warps walk together, so that every lane is there when they match.
  const std::int64_t whole_warps = (n + warp_size - 1) / warp_size * warp_size;
  for (std::int64_t slot = thread_index(); slot < whole_warps; slot += thread_count()) {
    const std::int64_t group = slot / kernel.group_size;
    const bool counts = slot < n && kernel.takes(group);
    if (counts) kernel.fill(group, slot);
    // In the cold few families are left: one of the lanes that have the same counts for all.
    const std::int32_t family = counts ? kernel.family[slot] : -1;
    const unsigned same = __match_any_sync(full_warp, family);
    const int first = __ffs(static_cast<int>(same)) - 1;
    if (counts && static_cast<int>(threadIdx.x) % warp_size == first) {
      atomicAdd(&kernel.members[family], static_cast<unsigned>(__popc(same)));
    }
  }
}

__global__ void __launch_bounds__(block_size)
    count_families(const __grid_constant__ Resample kernel) {
  if (!kernel.whole()) return;
  for (std::int64_t group = blockIdx.y; group < kernel.totals.size; group += gridDim.y) {
    if (!kernel.takes(group)) continue;  // the same for all threads
    const Mine mine(kernel, group);
    Count families = 0, squares = 0, logs = 0;
    Count total_families = 0, total_squares = 0, total_logs = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      const Count members = kernel.members[mine.slot0 + r];
      families += members > 0 ? 1 : 0;
      squares += members * members;
      logs += Resample::family_log(members);
    }
    sum_before(families, total_families);
    __syncthreads();
    sum_before(squares, total_squares);
    __syncthreads();
    sum_before(logs, total_logs);
    if (threadIdx.x == 0) {
      ResampleTotals& totals = kernel.totals[group];
      atomicAdd(reinterpret_cast<Count*>(&totals.families), total_families);
      atomicAdd(reinterpret_cast<Count*>(&totals.family_squares), total_squares);
      atomicAdd(reinterpret_cast<Count*>(&totals.family_logs), total_logs);
    }
    __syncthreads();
  }
}

}  // namespace

template <>
void launch(const Resample& kernel, Queue& queue) {
  if (kernel.totals.size <= 0 || kernel.group_size <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  const auto groups = static_cast<unsigned>(kernel.totals.size);
  const dim3 grid(static_cast<unsigned>(Resample::parts_of(kernel.group_size)),
                  std::min(groups, 65535u));
  add_weights<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  scan_weights<<<groups, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  choose_copies<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  scan_dead<<<groups, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  number_copies<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  fill_slots<<<blocks_for(kernel.totals.size * kernel.group_size), block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
  count_families<<<grid, block_size, 0, stream>>>(kernel);
  check_launch(Resample::name);
}

}  // namespace kiln::cuda
