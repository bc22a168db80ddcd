// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "packed_tiles.cuh"

namespace kiln::cuda {

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
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const std::int64_t row =
      static_cast<std::int64_t>(tile.row) * 128 + consumer * 64 + warp * 16 + lane / 4;
  const std::int64_t column = static_cast<std::int64_t>(tile.column) * columns + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < columns / 8; ++j) {
    const auto of = [&](int i) {
      if constexpr (rounds) return total[4 * j + i];
      return sum[4 * j + i];
    };
    product.store(row, column + 8 * j, of(0), of(1));
    product.store(row + 8, column + 8 * j, of(2), of(3));
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
