// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/pareto_dominance.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int warps = block_size / warp_size;
constexpr int chunk = 16;    // objectives of the rows in shared memory at once
constexpr int together = 4;  // values of a column that are read ahead

// The rows of a block.
struct Rows {
  std::int64_t group, begin;  // of the group
  std::int64_t count;         // points of the group
  std::int64_t first;         // row, within the group
  int live;                   // rows that exist
};

template <int rows>
struct RowMemory {
  double value[chunk][rows];
  std::uint64_t key[rows];
  int dominates[rows], dominated_by[rows];
};

// Bit r: row r is less than (greater than) the column of this lane in some objective.
struct Flags {
  unsigned less = 0, greater = 0;
};

// All threads of the block come here; each compares its column with all rows. Gives the first key
// of the column.
template <int rows>
__device__ std::uint64_t compare_column(const ObjectivePoints& points, const Rows& mine,
                                        std::int64_t column, bool load, RowMemory<rows>& memory,
                                        Flags& flags) {
  const std::int64_t objectives = points.objectives();
  bool has_nan = false;
  for (std::int64_t k0 = 0; k0 < objectives; k0 += chunk) {
    const int here = objectives - k0 < chunk ? static_cast<int>(objectives - k0) : chunk;
    if (load || objectives > chunk) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < here * rows; i += block_size) {
        const int r = i % rows < mine.live ? i % rows : 0;
        memory.value[i / rows][i % rows] = points.value(k0 + i / rows, mine.begin + mine.first + r);
      }
      __syncthreads();
    }
    for (int k = 0; k < here; k += together) {
      double x[together];
#pragma unroll
      for (int q = 0; q < together; ++q) {  // on their way together, for each takes long
        x[q] = points.value(k0 + (k + q < here ? k + q : k), column);
      }
#pragma unroll
      for (int q = 0; q < together; ++q) {
        if (k + q >= here) break;
        has_nan |= x[q] != x[q];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          if (memory.value[k + q][r] < x[q]) flags.less |= 1u << r;
          if (memory.value[k + q][r] > x[q]) flags.greater |= 1u << r;
        }
      }
    }
  }
  return ObjectivePoints::first_key(points.violation ? points.violation[column] : 0.0, has_nan);
}

// Where first keys are not all 0, they decide.
template <int rows>
__device__ void apply_keys(const RowMemory<rows>& memory, std::uint64_t key, Flags& flags) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::uint64_t of_row = memory.key[r];
    if (of_row == 0 && key == 0) continue;
    flags.less &= ~(1u << r);
    flags.greater &= ~(1u << r);
    if (of_row < key) flags.less |= 1u << r;
    if (of_row > key) flags.greater |= 1u << r;
  }
}

// The answers of 32 columns, turned so that lane r has those of row r, are stored and counted.
template <int rows>
__device__ void store(const ParetoDominance& kernel, const Rows& mine, std::int64_t word,
                      unsigned up, unsigned down, int& dominates, int& dominated_by) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t row = mine.begin + mine.first;
  unsigned up_of_row = 0, down_of_row = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned above = __ballot_sync(full_warp, (up >> r & 1u) != 0);
    const unsigned below = __ballot_sync(full_warp, (down >> r & 1u) != 0);
    if (lane == r) {
      up_of_row = above;
      down_of_row = below;
    }
  }
  dominates += __popc(up_of_row);
  dominated_by += __popc(down_of_row);
  if (kernel.bits.data != nullptr && lane < mine.live) kernel.bits(row + lane, word) = up_of_row;
  const std::int64_t j = word * warp_size + lane;
  if (kernel.matrix.data == nullptr || j >= kernel.points.groups.size) return;
  for (int r = 0; r < mine.live; ++r) {
    const int answer = static_cast<int>(up >> r & 1u) - static_cast<int>(down >> r & 1u);
    kernel.matrix(row + r, j) = static_cast<std::int8_t>(answer);
  }
}

// A block has some rows of a group; a warp compares them with 32 columns at a time, a lane with
// one. All rows go over all columns, so that counts need no sums across blocks.
template <int rows>
__global__ void __launch_bounds__(block_size)
    compare(const __grid_constant__ ParetoDominance kernel) {
  if (!kernel.active()) return;
  __shared__ RowMemory<rows> memory;
  const PointGroups& groups = kernel.points.groups;
  const int me = static_cast<int>(threadIdx.x), lane = me % warp_size;
  const std::int64_t words = ParetoDominance::words_of(groups.size);
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    Rows mine{group, groups.begin(group), groups.count(group), blockIdx.x * std::int64_t{rows}, 0};
    if (mine.first >= mine.count) continue;
    const std::int64_t left = mine.count - mine.first;
    mine.live = left < rows ? static_cast<int>(left) : rows;
    __syncthreads();  // what the group before left is no longer read
    bool has_key = false;
    if (me < rows) {
      const int r = me < mine.live ? me : 0;
      memory.key[me] = kernel.points.first_key(mine.begin + mine.first + r);
      memory.dominates[me] = memory.dominated_by[me] = 0;
      has_key = memory.key[me] != 0;
    }
    has_key = __syncthreads_or(has_key ? 1 : 0) != 0;

    int dominates = 0, dominated_by = 0;  // of row `lane`
    // All warps go round equally often, for they load rows together.
    for (std::int64_t word0 = 0; word0 < words; word0 += warps) {
      const std::int64_t word = word0 + me / warp_size, j = word * warp_size + lane;
      const bool there = j < mine.count;
      Flags flags;
      const std::uint64_t key = compare_column(kernel.points, mine, mine.begin + (there ? j : 0),
                                               word0 == 0, memory, flags);
      if (has_key || __any_sync(full_warp, key != 0)) apply_keys(memory, key, flags);
      const unsigned up = there ? flags.less & ~flags.greater : 0u;
      const unsigned down = there ? flags.greater & ~flags.less : 0u;
      if (word < words) store<rows>(kernel, mine, word, up, down, dominates, dominated_by);
    }
    if (lane < rows) {
      atomicAdd(&memory.dominates[lane], dominates);
      atomicAdd(&memory.dominated_by[lane], dominated_by);
    }
    __syncthreads();
    if (me < mine.live) {
      const std::int64_t row = mine.begin + mine.first + me;
      if (kernel.dominates) kernel.dominates[row] = memory.dominates[me];
      if (kernel.dominated_by) kernel.dominated_by[row] = memory.dominated_by[me];
    }
  }
}

template <int rows>
void enqueue(const ParetoDominance& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  const auto tiles = static_cast<unsigned>((groups.size + rows - 1) / rows);
  const dim3 grid(tiles, static_cast<unsigned>(std::min<std::int64_t>(groups.groups, 65535)));
  compare<rows><<<grid, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(ParetoDominance::name);
}

}  // namespace

template <>
void launch(const ParetoDominance& kernel, Queue& queue) {
  const PointGroups& groups = kernel.points.groups;
  if (groups.groups <= 0 || groups.size <= 0) return;
  // Many rows share what is read of a column; few rows make enough blocks of a small batch.
  if (groups.groups * groups.size < 32 * filling_blocks) return enqueue<8>(kernel, queue);
  enqueue<32>(kernel, queue);
}

}  // namespace kiln::cuda
