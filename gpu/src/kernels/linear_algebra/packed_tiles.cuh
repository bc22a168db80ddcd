// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "warpgroup.cuh"

namespace kiln::cuda {

/// An operand of a product, packed so that whole blocks of it are copied to shared memory.
///
/// A *slice* is 128 bytes along the inner dimension, a *block* the slice of 128 rows, 16 KiB in the
/// order of rows_of_128_bytes(). Blocks lie in the order [rows / 128][slices][parts]: the parts of
/// a number add up to it.
struct PackedOperand {
  static constexpr int rows_of_block = 128, slice_bytes = 128;
  static constexpr int block_bytes = rows_of_block * slice_bytes;

  std::byte* data = nullptr;  ///< at a multiple of 1024 bytes
  int slices = 0;
  int parts = 1;

  __host__ __device__ std::byte* block(std::int64_t row_block, int slice, int part = 0) const {
    return data + ((row_block * slices + slice) * parts + part) * block_bytes;
  }
  /// The 16 bytes `chunk` of a row of a block.
  __host__ __device__ static int place(int row, int chunk) {
    return row * slice_bytes + ((chunk ^ (row % 8)) * 16);
  }
};

/// Blocks of threads of a packed product: one warp group copies, two multiply, 64 rows each.
struct PackedRoles {
  static constexpr int consumers = 2, threads = 128 * (consumers + 1);
  static constexpr int rows = 64 * consumers;
  /// Registers: a thread that multiplies gets those that one that copies leaves.
  static constexpr int few_registers = 24, many_registers = 240;
};

/// What passes through shared memory: stages of a slice of A and of B.
template <int parts, int columns>
struct PackedStages {
  static constexpr int a_bytes = parts * PackedOperand::block_bytes;
  static constexpr int b_bytes = parts * columns * PackedOperand::slice_bytes;
  static constexpr int bytes = a_bytes + b_bytes;
  static constexpr int count = 200 * 1024 / bytes;
  static constexpr int shared_bytes = count * bytes + 1024;  // with room to align

  std::byte* memory;
  PhaseBarrier* full;   // [count], a slice has come
  PhaseBarrier* empty;  // [count], all groups that multiply have used it

  __device__ std::byte* a(int stage) const { return memory + stage * bytes; }
  __device__ std::byte* b(int stage) const { return memory + stage * bytes + a_bytes; }
  __device__ void start() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < count; ++s) {
        start_barrier(full + s, 1);
        start_barrier(empty + s, PackedRoles::consumers);
      }
      publish_barriers();
    }
    __syncthreads();
  }
};

/// A place in the ring of stages.
template <class Stages>
struct StageCursor {
  int stage = 0, parity = 0;
  __device__ void next() {
    if (++stage == Stages::count) stage = 0, parity ^= 1;
  }
};

/// Copies a slice of B to a stage.
template <int parts, int columns>
__device__ void copy_columns(const PackedStages<parts, columns>& stages, int stage,
                             const PackedOperand& b, std::int64_t column_tile, int slice) {
  constexpr int blocks = columns / PackedOperand::rows_of_block;
#pragma unroll
  for (int i = 0; i < blocks; ++i) {
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      copy_block(stages.b(stage) + (part * blocks + i) * PackedOperand::block_bytes,
                 b.block(blocks * column_tile + i, slice, part), PackedOperand::block_bytes,
                 stages.full + stage);
    }
  }
}

/// The products of one slice: of parts hi and lo those of lo with hi, hi with lo and hi with hi.
/// The first product of `first` slices starts the sums anew.
template <class Operand, int parts, int columns>
__device__ void multiply_slice(typename Operand::Sum (&sum)[columns / 2], std::uint32_t a,
                               std::uint32_t b, bool first) {
  constexpr int pairs = parts == 1 ? 1 : 3, steps = PackedOperand::slice_bytes / 32;
  constexpr std::uint32_t a_part = PackedOperand::block_bytes;
  constexpr std::uint32_t b_part = columns * PackedOperand::slice_bytes;
#pragma unroll
  for (int pair = 0; pair < pairs; ++pair) {
    const std::uint32_t left = a + (pairs == 3 && pair == 0 ? a_part : 0);
    const std::uint32_t right = b + (pairs == 3 && pair == 1 ? b_part : 0);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      multiply<Operand, columns>(sum, rows_of_128_bytes(left + 32 * step),
                                 rows_of_128_bytes(right + 32 * step),
                                 first && pair == 0 && step == 0 ? 0 : 1);
    }
  }
}

/// Frees a stage; by one thread of a group.
template <class Stages>
__device__ void free_stage(const Stages& stages, int stage) {
  if (threadIdx.x % 128 == 0) arrive(stages.empty + stage);
}

/// sum = the products of the next `count` slices, count > 0, for the 64 rows of A of a group that
/// multiplies. Their stages are free afterwards.
template <class Operand, int parts, int columns>
__device__ void multiply_slices(typename Operand::Sum (&sum)[columns / 2],
                                const PackedStages<parts, columns>& stages,
                                StageCursor<PackedStages<parts, columns>>& at, int count,
                                int consumer) {
  int before = 0;
  for (int slice = 0; slice < count; ++slice, at.next()) {
    wait_for_phase(stages.full + at.stage, at.parity);
    const std::uint32_t a =
        shared_address(stages.a(at.stage)) + consumer * 64 * PackedOperand::slice_bytes;
    begin_products();
    multiply_slice<Operand, parts, columns>(sum, a, shared_address(stages.b(at.stage)), slice == 0);
    end_group_of_products();
    wait_for_products<1>();
    if (slice > 0) free_stage(stages, before);
    before = at.stage;
  }
  wait_for_products<0>();
  free_stage(stages, before);
}

}  // namespace kiln::cuda
