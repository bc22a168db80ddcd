// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include "kernels/grid.cuh"
#include "tensor_cores.cuh"

/// Factors of large matrices in panels of 64 columns, on tiles of 64 x 64: the work of a block on a
/// tile. The caller chooses the number of blocks per matrix; the bits are the same.
namespace kiln::cuda::cholesky {

inline constexpr int tile = 64, strip = 16, warps = block_size / warp_size;
// 4 more than a multiple of 16: the 16 lanes of half a warp read operands from 16 places.
inline constexpr int stride = tile + 4;

struct TileMemory {
  double left[tile * stride], right[tile * stride];
  double inverse[tile];  // of the diagonal of a square
  double pivot;          // that is not positive
  int failed;
};

/// A matrix during factorisation, from the panel that begins at column `first`. The first panel
/// reads the matrix itself, later ones the remainder in place of the factor.
struct Item {
  View2<const double> matrix;
  View2<double> factor;
  double added = 0;  // to the diagonal
  int n = 0;

  __device__ Item(const BatchedCholesky& kernel, std::int64_t item)
      : matrix(kernel.matrix[item]),
        factor(kernel.factor[item]),
        n(static_cast<int>(kernel.matrix.rows)) {}

  __device__ View2<const double> factored() const {
    return {factor.data, factor.rows, factor.columns, factor.stride};
  }
  __device__ View2<const double> rest(int first) const { return first == 0 ? matrix : factored(); }
  __device__ double added_at(int first) const { return first == 0 ? added : 0.0; }
  /// 0, or how the attempt failed, in a place that is finally 0: 1, or infinity for a nonfinite
  /// pivot.
  __device__ double& failure() const { return factor(0, n - 1); }
};

// Rows beyond the end are 0; columns are all there.
template <int together>
__device__ void load_tile(const View2<const double>& from, int row, int column, double* to) {
  constexpr int pieces = tile / together;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < tile * pieces; i += block_size) {
    const int r = i / pieces, c = i % pieces * together;
    const bool there = row + r < from.rows;
    copy_to_shared<8 * together>(to + r * stride + c,
                                 there ? &from(row + r, column + c) : from.data, there);
  }
}

// The lower triangle, padded with the identity.
__device__ inline void load_square(const Item& item, int first, double* to) {
  const View2<const double> from = item.rest(first);
  for (int e = static_cast<int>(threadIdx.x); e < tile * tile; e += block_size) {
    const int i = e / tile, j = e % tile;
    double value = i == j ? 1.0 : 0.0;
    if (first + i < item.n && j <= i) {
      value = from(first + i, first + j) + (i == j ? item.added_at(first) : 0.0);
    }
    to[i * stride + j] = value;
  }
}

// The square of a strip on the diagonal, in registers of one warp: a row for each lane; lanes from
// 16 on repeat the earlier ones.
__device__ inline void factor_strip(double* square, int begin, double least, TileMemory& memory) {
  const int lane = static_cast<int>(threadIdx.x) % strip;
  double* const own = square + (begin + lane) * stride + begin;
  double row[strip];
#pragma unroll
  for (int k = 0; k < strip; ++k) row[k] = k <= lane ? own[k] : 0.0;
#pragma unroll
  for (int k = 0; k < strip; ++k) {
    const double pivot = __shfl_sync(full_warp, row[k], k);
    const double bound = __shfl_sync(full_warp, least, k);
    if (!(pivot > 0 && pivot > bound && pivot < exact::infinity())) {
      if (threadIdx.x == 0) memory.pivot = pivot, memory.failed = 1;
      return;
    }
    const double inverse = rsqrt(pivot);
    row[k] *= inverse;
    if (threadIdx.x == 0) memory.inverse[begin + k] = inverse;
#pragma unroll
    for (int j = k + 1; j < strip; ++j) {
      row[j] = fma(-row[k], __shfl_sync(full_warp, row[k], j), row[j]);
    }
  }
  __syncwarp();  // the upper lanes have read the rows, too
  if (threadIdx.x >= strip) return;
#pragma unroll
  for (int k = 0; k < strip; ++k) {
    if (k <= lane) own[k] = row[k];
  }
}

// Rows of x from `top` on: x L^T = a in the columns of a strip, a thread for each row.
__device__ inline void solve_strip(const double* square, const double* inverse, int begin,
                                   double* x, int top) {
  const int row = top + static_cast<int>(threadIdx.x);
  if (row >= tile) return;
  double value[strip];
#pragma unroll
  for (int k = 0; k < strip; ++k) value[k] = x[row * stride + begin + k];
#pragma unroll
  for (int q = 0; q < strip; ++q) {
    value[q] *= inverse[begin + q];
#pragma unroll
    for (int p = q + 1; p < strip; ++p) {
      value[p] = fma(-square[(begin + p) * stride + begin + q], value[q], value[p]);
    }
  }
#pragma unroll
  for (int k = 0; k < strip; ++k) x[row * stride + begin + k] = value[k];
}

// Rows of x from `top` on: subtracts the solved strip from the columns to its right, a warp for
// each 16 x 8 of them.
__device__ inline void take_off_strip(const double* square, int begin, double* x, int top) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
  const int right = begin + strip, across = (tile - right) / 8, down = (tile - top) / 16;
  for (int piece = static_cast<int>(threadIdx.x) / warp_size; piece < down * across;
       piece += warps) {
    const int row = top + piece / across * 16, column = right + piece % across * 8;
    double sum[4] = {};
#pragma unroll
    for (int k = begin; k < begin + strip; k += 8) {
      double a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = x[(row + g + 8 * (i % 2)) * stride + k + t + 4 * (i / 2)];
      }
      const double* const b = square + (column + g) * stride + k + t;
      multiply_add(sum, a, b[0], b[4]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[(row + g + 8 * (i / 2)) * stride + column + 2 * t + i % 2] -= sum[i];
    }
  }
}

/// Factors the square on the diagonal that begins at `first`. A square with a nonpositive pivot
/// becomes NaN, as does everything computed from it.
__device__ inline void factor_square(const Item& item, int first, TileMemory& memory) {
  double* const square = memory.left;
  load_square(item, first, square);
  if (threadIdx.x == 0) memory.failed = 0;
  __syncthreads();
  for (int begin = 0; begin < tile; begin += strip) {
    if (threadIdx.x < warp_size) {
      const int i = first + begin + static_cast<int>(threadIdx.x) % strip;
      const double least =
          i < item.n ? BatchedCholesky::min_pivot(item.n, item.matrix(i, i) + item.added) : 0.0;
      factor_strip(square, begin, least, memory);
    }
    __syncthreads();
    if (memory.failed != 0) break;
    solve_strip(square, memory.inverse, begin, square, begin + strip);
    __syncthreads();
    take_off_strip(square, begin, square, begin + strip);
    __syncthreads();
  }
  const bool failed = memory.failed != 0;
  for (int e = static_cast<int>(threadIdx.x); e < tile * tile; e += block_size) {
    const int i = e / tile, j = e % tile;
    if (first + i >= item.n || first + j >= item.n) continue;
    const double value = failed ? exact::not_a_number() : square[i * stride + j];
    item.factor(first + i, first + j) = j <= i ? value : 0.0;
  }
  if (threadIdx.x == 0) {
    // Of several failures the first counts; a square of NaN fails, too.
    double& failure = item.failure();
    if (first == 0) failure = 0;
    if (failed && failure == 0) {
      failure = fabs(memory.pivot) < exact::infinity() ? 1.0 : exact::infinity();
    }
  }
  __syncthreads();
}

/// Solves the tile of the panel at `first` whose rows begin at `row`, against its square.
template <int together>
__device__ void solve_tile(const Item& item, int first, int row, TileMemory& memory) {
  load_tile<together>(item.factored(), first, first, memory.right);
  load_tile<together>(item.rest(first), row, first, memory.left);
  end_group_of_copies();
  wait_for_copies<0>();
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < tile) memory.inverse[thread] = 1.0 / memory.right[thread * stride + thread];
  __syncthreads();
  for (int begin = 0; begin < tile; begin += strip) {
    solve_strip(memory.right, memory.inverse, begin, memory.left, 0);
    __syncthreads();
    take_off_strip(memory.right, begin, memory.left, 0);
    __syncthreads();
  }
  for (int e = thread; e < tile * tile; e += block_size) {
    const int i = e / tile, j = e % tile;
    if (row + i < item.n) item.factor(row + i, first + j) = memory.left[i * stride + j];
  }
  __syncthreads();
}

/// Writes zeros to the tile on the other side of the diagonal.
__device__ inline void clear_mirrored(const Item& item, int first, int row) {
  for (int e = static_cast<int>(threadIdx.x); e < tile * tile; e += block_size) {
    const int i = first + e / tile, j = row + e % tile;
    if (j < item.n && &item.factor(i, j) != &item.failure()) item.factor(i, j) = 0;
  }
}

// A warp has 32 x 16 elements of a tile: `down` x `across` products of 16 x 8.
inline constexpr int warps_down = 2, down = 2, across = 2;
using Sums = double[down][across][4];

__device__ inline void multiply_tiles(const double* left, const double* right, int row, int column,
                                      Sums& sum) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
#pragma unroll 2
  for (int k = 0; k < tile; k += 8) {
    double a[down][4], b[across][2];
#pragma unroll
    for (int d = 0; d < down; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[d][i] = left[(row + 16 * d + g + 8 * (i % 2)) * stride + k + t + 4 * (i / 2)];
      }
    }
#pragma unroll
    for (int c = 0; c < across; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i) b[c][i] = right[(column + 8 * c + g) * stride + k + t + 4 * i];
    }
#pragma unroll
    for (int d = 0; d < down; ++d) {
#pragma unroll
      for (int c = 0; c < across; ++c) multiply_add(sum[d][c], a[d], b[c][0], b[c][1]);
    }
  }
}

// Elements (i, j) and (i, j + 1) of the lower triangle, at once where both are in it.
template <int together>
__device__ void subtract_pair(const Item& item, int first, int i, int j, double one, double other) {
  if (i >= item.n || j > i) return;
  const View2<const double> from = item.rest(first);
  if (j == i) {
    item.factor(i, j) = from(i, j) + item.added_at(first) - one;
  } else if constexpr (together == 2) {
    double2 pair = *reinterpret_cast<const double2*>(&from(i, j));
    pair.x -= one, pair.y -= other;
    if (j + 1 == i) pair.y += item.added_at(first);
    *reinterpret_cast<double2*>(&item.factor(i, j)) = pair;
  } else {
    item.factor(i, j) = from(i, j) - one;
    const double added = j + 1 == i ? item.added_at(first) : 0.0;
    item.factor(i, j + 1) = from(i, j + 1) + added - other;
  }
}

/// Subtracts the panel at `first` from the tile at (row, column).
template <int together>
__device__ void update_tile(const Item& item, int first, int row, int column, TileMemory& memory) {
  const View2<const double> panel = item.factored(), from = item.rest(first);
  load_tile<together>(panel, row, first, memory.left);
  if (row != column) load_tile<together>(panel, column, first, memory.right);
  end_group_of_copies();
  // Prefetches a cache line of the tile for each thread: the reads at the end do not wait for
  // device memory.
  const int ahead_row = row + static_cast<int>(threadIdx.x) / 4;
  const int ahead_column = column + static_cast<int>(threadIdx.x) % 4 * 16;
  if (ahead_row < item.n && ahead_column <= ahead_row) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(&from(ahead_row, ahead_column)));
  }
  wait_for_copies<0>();
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
  const int top = warp % warps_down * 16 * down, side = warp / warps_down * 8 * across;
  Sums sum = {};
  multiply_tiles(memory.left, row != column ? memory.right : memory.left, top, side, sum);
#pragma unroll
  for (int d = 0; d < down; ++d) {
#pragma unroll
    for (int c = 0; c < across; ++c) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        subtract_pair<together>(item, first, row + top + 16 * d + g + 8 * half,
                                column + side + 8 * c + 2 * t, sum[d][c][2 * half],
                                sum[d][c][2 * half + 1]);
      }
    }
  }
  __syncthreads();
}

/// Tile t of a lower triangle of tiles, counted row by row.
struct TilePlace {
  int row = 0, column = 0;
  __device__ explicit TilePlace(std::int64_t t) {
    row = static_cast<int>((sqrtf(8.0f * static_cast<float>(t) + 1) - 1) / 2);
    while (static_cast<std::int64_t>(row) * (row + 1) / 2 > t) --row;
    while (static_cast<std::int64_t>(row + 1) * (row + 2) / 2 <= t) ++row;
    column = static_cast<int>(t - static_cast<std::int64_t>(row) * (row + 1) / 2);
  }
};

/// Tiles below the panel that begins at `first`.
KILN_HD inline std::int64_t tiles_below(std::int64_t n, std::int64_t first) {
  return n <= first + tile ? 0 : (n - first - 1) / tile;
}

}  // namespace kiln::cuda::cholesky
