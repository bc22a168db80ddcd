// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "packed_tiles.cuh"

namespace kiln::cuda {

/// Two neighbouring numbers as one load or store.
template <class Number>
struct alignas(2 * sizeof(Number)) NumberPair {
  Number first, second;
};

/// C = A B of packed operands: A [rows][inner], B as the rows of its transpose. `store(row, column,
/// v0, v1)` gets sums of two neighbouring columns, of which some may be beyond the ends of C; where
/// store.active() is false nothing is done.
template <class Store>
struct PackedMultiply {
  PackedOperand a, b;
  int row_tiles = 0;     ///< of 128 rows
  int column_tiles = 0;  ///< of `columns` columns
  Store store;
};

/// The tile of a block: bands of columns, each from the first row to the last, so that blocks that
/// run at the same time share what they read.
struct TileOrder {
  static constexpr int band = 8;
  int row, column;
  __device__ TileOrder(int block, int rows, int columns) {
    const int first = block / (band * rows) * band;
    const int wide = min(band, columns - first), rest = block - first * rows;
    row = rest / wide;
    column = first + rest % wide;
  }
};

template <int parts, int columns, class Store>
__device__ void copy_slices(const PackedMultiply<Store>& product,
                            const PackedStages<parts, columns>& stages, const TileOrder& tile) {
  using Stages = PackedStages<parts, columns>;
  StageCursor<Stages> at;
  for (int slice = 0; slice < product.a.slices; ++slice, at.next()) {
    wait_for_phase(stages.empty + at.stage, at.parity ^ 1);
    arrive_and_expect(stages.full + at.stage, Stages::bytes);
    copy_block(stages.a(at.stage), product.a.block(tile.row, slice), Stages::a_bytes,
               stages.full + at.stage);
    copy_columns<parts, columns>(stages, at.stage, product.b, tile.column, slice);
  }
}

/// Stores the sums of a group that multiplies, by way of the memory of stages: a warp then writes
/// neighbouring numbers, and the code of `store` is in a loop, where the instruction cache keeps
/// it. All groups have used their last stages and come here.
template <int columns, class Store, class Sum>
__device__ void store_sums(const Store& store, const Sum (&sum)[columns / 2], std::byte* memory,
                           const TileOrder& tile, int consumer) {
  constexpr int rows = 16;            // of a warp
  constexpr int pitch = columns + 8;  // numbers; the 8 rows of a fragment lie in different banks
  static_assert(sizeof(NumberPair<Sum>) == 2 * sizeof(Sum));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = consumer * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * rows;
  Sum* const mine = reinterpret_cast<Sum*>(memory) + first * pitch;
  wait_for_threads(1, 128 * PackedRoles::consumers);
#pragma unroll
  for (int j = 0; j < columns / 8; ++j) {
    Sum* const at = mine + lane / 4 * pitch + 8 * j + lane % 4 * 2;
    *reinterpret_cast<NumberPair<Sum>*>(at) = {sum[4 * j], sum[4 * j + 1]};
    *reinterpret_cast<NumberPair<Sum>*>(at + 8 * pitch) = {sum[4 * j + 2], sum[4 * j + 3]};
  }
  __syncwarp();
  const std::int64_t row = static_cast<std::int64_t>(tile.row) * 128 + first;
#pragma unroll 1
  for (int c = 2 * lane; c < columns; c += 64) {
    const std::int64_t column = static_cast<std::int64_t>(tile.column) * columns + c;
#pragma unroll 4
    for (int r = 0; r < rows; ++r) {
      const auto pair = *reinterpret_cast<const NumberPair<Sum>*>(mine + r * pitch + c);
      store(row + r, column, pair.first, pair.second);
    }
  }
}

/// Tensor cores drop the digits of a term that lie below those of the sum, so their sums of floats
/// are short, and added to sums that are rounded to nearest.
template <class Operand, int parts, int columns, class Store>
__device__ void multiply_tile(const PackedMultiply<Store>& product,
                              const PackedStages<parts, columns>& stages, const TileOrder& tile,
                              int consumer) {
  using Stages = PackedStages<parts, columns>;
  using Sum = typename Operand::Sum;
  constexpr bool rounds = !std::is_same_v<Sum, std::int32_t>;
  constexpr int terms = 256;  // of a short sum
  const int slices = product.a.slices;
  const int of_short = rounds ? terms * Operand::bytes / PackedOperand::slice_bytes : slices;
  Sum sum[columns / 2], total[rounds ? columns / 2 : 1];
  if constexpr (rounds) {
#pragma unroll
    for (int i = 0; i < columns / 2; ++i) total[i] = 0;
  } else if (slices == 0) {
#pragma unroll
    for (int i = 0; i < columns / 2; ++i) sum[i] = 0;
  }
  StageCursor<Stages> at;
  for (int slice = 0; slice < slices; slice += of_short) {
    multiply_slices<Operand>(sum, stages, at, min(of_short, slices - slice), consumer);
    if constexpr (rounds) {
#pragma unroll
      for (int i = 0; i < columns / 2; ++i) total[i] += sum[i];
    }
  }
  if constexpr (rounds) {
    store_sums<columns>(product.store, total, stages.memory, tile, consumer);
  } else {
    store_sums<columns>(product.store, sum, stages.memory, tile, consumer);
  }
}

template <class Operand, int parts, int columns, class Store>
__global__ void __launch_bounds__(PackedRoles::threads, 1)
    multiply_packed(const __grid_constant__ PackedMultiply<Store> product) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Stages = PackedStages<parts, columns>;
  if (!product.store.active()) return;
  extern __shared__ std::byte packed_memory[];
  __shared__ PhaseBarrier full[Stages::count], empty[Stages::count];
  const std::uint32_t misaligned = shared_address(packed_memory) % 1024;
  const Stages stages{packed_memory + (misaligned == 0 ? 0 : 1024 - misaligned), full, empty};
  stages.start();
  const TileOrder tile(static_cast<int>(blockIdx.x), product.row_tiles, product.column_tiles);
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    shrink_registers<PackedRoles::few_registers>();
    if (threadIdx.x == 0) copy_slices<parts, columns>(product, stages, tile);
  } else {
    grow_registers<PackedRoles::many_registers>();
    multiply_tile<Operand, parts, columns>(product, stages, tile, group - 1);
  }
#endif
}

}  // namespace kiln::cuda
