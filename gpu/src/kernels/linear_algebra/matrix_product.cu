// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include "kernels/grid.cuh"
#include "tensor_cores.cuh"

namespace kiln::cuda {
namespace {

// A block makes 64 x 64 elements, a warp 32 x 16 of them, 16 columns of A at a time. Two blocks to
// a multiprocessor, so that one multiplies while the other waits: larger tiles read less and are
// slower. The case 1000 x 1000 x 1024 of `kiln bench kernels` takes 57 us on an H200, with blocks
// of 128 x 64 it takes 69.
constexpr int tile_rows = 64, tile_columns = 64, depth = 16, stages = 4;
constexpr int warps_down = 2, warps = 8;
constexpr int down = 2, across = 2;  // products of 16 x 8 in a warp
constexpr int steps = depth / 8;     // of them, along a slice
// Doubles from a row to the next: 4 more than a multiple of 16, so that the 16 lanes of half a warp
// read from 16 places.
constexpr int stride_a = depth + 4, stride_b = tile_columns + 4;
constexpr int doubles_a = tile_rows * stride_a, doubles_b = depth * stride_b;
constexpr std::size_t shared_bytes = sizeof(double) * stages * (doubles_a + doubles_b);
static_assert(steps % 2 == 0 && warps * 32 == block_size && warps_down * 16 * down == tile_rows &&
              warps / warps_down * 8 * across == tile_columns);

// A matrix of shared memory from rows first_row, ... and columns first_column, ... of `from`, with
// zeros beyond its ends; `together` doubles per copy, which must lie in one row and be aligned.
template <int together, int rows, int columns, int stride>
__device__ void load(const View2<const double>& from, std::int64_t first_row,
                     std::int64_t first_column, double* to) {
  constexpr int pieces = columns / together;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += block_size) {
    const int r = i / pieces, c = i % pieces * together;
    const bool there = first_row + r < from.rows && first_column + c < from.columns;
    const double* source = there ? &from(first_row + r, first_column + c) : from.data;
    copy_to_shared<8 * together>(to + r * stride + c, source, there);
  }
}

// Where a warp and a lane of it are in the tile of their block.
struct LanePlace {
  int group = static_cast<int>(threadIdx.x) % 32 / 4, place = static_cast<int>(threadIdx.x) % 4;
  int row = static_cast<int>(threadIdx.x) / 32 % warps_down * 16 * down;
  int column = static_cast<int>(threadIdx.x) / 32 / warps_down * 8 * across;
};

using Sums = double[down][across][4];

// What a lane has of 8 columns of A and 8 rows of B.
struct Operands {
  double left[down][4], right[across][2];

  __device__ void read(const LanePlace& at, const double* a, const double* b, int k) {
#pragma unroll
    for (int d = 0; d < down; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        left[d][i] =
            a[(at.row + 16 * d + at.group + 8 * (i % 2)) * stride_a + k + at.place + 4 * (i / 2)];
      }
    }
#pragma unroll
    for (int c = 0; c < across; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        right[c][i] = b[(k + at.place + 4 * i) * stride_b + at.column + 8 * c + at.group];
      }
    }
  }
  __device__ void add_to(Sums& sum) const {
#pragma unroll
    for (int d = 0; d < down; ++d) {
#pragma unroll
      for (int c = 0; c < across; ++c) {
        multiply_add(sum[d][c], left[d], right[c][0], right[c][1]);
      }
    }
  }
};

__device__ void store(const MatrixProduct& kernel, const LanePlace& at, std::int64_t first_row,
                      std::int64_t first_column, const Sums& sum) {
#pragma unroll
  for (int d = 0; d < down; ++d) {
#pragma unroll
    for (int c = 0; c < across; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t r = first_row + at.row + 16 * d + at.group + 8 * (i / 2);
        const std::int64_t n = first_column + at.column + 8 * c + 2 * at.place + i % 2;
        if (r >= kernel.c.rows || n >= kernel.c.columns) continue;
        kernel.c(r, n) = kernel.scale ? kernel.scale[n] * sum[d][c][i] : sum[d][c][i];
      }
    }
  }
}

template <int together>
__global__ void __launch_bounds__(block_size, 2)
    multiply(const __grid_constant__ MatrixProduct kernel) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) double product_memory[];
  const LanePlace at{};
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * tile_columns;
  const int slices = static_cast<int>((kernel.a.columns + depth - 1) / depth);
  const auto start = [&](int slice) {
    if (slice < slices) {
      double* a = product_memory + slice % stages * (doubles_a + doubles_b);
      const std::int64_t k = static_cast<std::int64_t>(slice) * depth;
      load<together, tile_rows, depth, stride_a>(kernel.a, first_row, k, a);
      load<together, depth, tile_columns, stride_b>(kernel.b, k, first_column, a + doubles_a);
    }
    end_group_of_copies();
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) start(s);

  // Operands are read one step ahead: a scheduler has too few warps to hide the reads of one behind
  // the products of another.
  Sums sum = {};
  Operands operands[2];
  wait_for_copies<stages - 2>();
  __syncthreads();
  operands[0].read(at, product_memory, product_memory + doubles_a, 0);
  for (int slice = 0; slice < slices; ++slice) {
    const double* a = product_memory + slice % stages * (doubles_a + doubles_b);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      int k = 8 * (step + 1);
      if (step == steps - 1) {
        wait_for_copies<stages - 3>();
        __syncthreads();  // the next slice is there, and the one before this is read
        start(slice + stages - 1);
        a = product_memory + (slice + 1) % stages * (doubles_a + doubles_b);
        k = 0;
      }
      operands[(step + 1) % 2].read(at, a, a + doubles_a, k);
      operands[step % 2].add_to(sum);
    }
  }
  store(kernel, at, first_row, first_column, sum);
}

// Pairs of doubles may be copied at once where no pair crosses the end of a row.
bool in_pairs(const View2<const double>& m) {
  return m.stride % 2 == 0 && m.columns % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
}

template <int together>
void launch_with(const MatrixProduct& kernel, Queue& queue) {
  const auto blocks_down = static_cast<unsigned>((kernel.c.rows + tile_rows - 1) / tile_rows);
  const auto blocks_across =
      static_cast<unsigned>((kernel.c.columns + tile_columns - 1) / tile_columns);
  reserve_shared(queue, multiply<together>, shared_bytes, MatrixProduct::name);
  multiply<together>
      <<<dim3(blocks_down, blocks_across), block_size, shared_bytes, stream_of(queue)>>>(kernel);
  check_launch(MatrixProduct::name);
}

}  // namespace

template <>
void launch(const MatrixProduct& kernel, Queue& queue) {
  if (kernel.c.rows <= 0 || kernel.c.columns <= 0) return;
  if (in_pairs(kernel.a) && in_pairs(kernel.b)) return launch_with<2>(kernel, queue);
  launch_with<1>(kernel, queue);
}

}  // namespace kiln::cuda
