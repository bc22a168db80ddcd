// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include "kernels/grid.cuh"
#include "tensor_cores.cuh"

/// Triangular systems of many unknowns: a block handles 32 right-hand sides of an item and finds 64
/// unknowns at a time. Known unknowns stream through shared memory, and tensor cores subtract them.
namespace kiln::cuda::triangular {

inline constexpr int part = 64, width = 32, depth = 16, strip = 16, stages = 4;
inline constexpr int warps = block_size / warp_size, warps_down = 4, across = 2;
// Doubles from a row to the next: 4 more than a multiple of 16, so that the 16 lanes of half a warp
// read operands from 16 places.
inline constexpr int stride_x = width + 4, stride_part = part + 4, stride_depth = depth + 4;
static_assert(warps_down * 16 == part && warps / warps_down * 8 * across == width);

struct SolveMemory {
  struct Slice {
    double
        factor[part * stride_depth];  // of 64 equations, or for the transpose depth * stride_part
    double x[depth * stride_x];       // and of what they have as unknowns
  } slices[stages];
  double square[part * stride_part];  // the remainder of the equations, in the order of solving
  double inverse[part];               // of its diagonal
  double x[part * stride_x];
};
static_assert(depth * stride_part <= part * stride_depth);

/// Right-hand sides from column `first` on, `columns` in all.
struct SolveColumns {
  View2<const double> factor, right;
  View2<double> solution;
  std::int64_t first = 0;
};

// The row of unknown p = 0, ..., 63 in the order of solving.
template <bool forward>
__device__ constexpr int row_in_part(int p) {
  return forward ? p : part - 1 - p;
}

// `rows` x `columns` of `from`, padded with zeros.
template <int together, int rows, int columns, int stride, class T>
__device__ void load_slice(const View2<T>& from, std::int64_t row, std::int64_t column,
                           double* to) {
  constexpr int pieces = columns / together;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += block_size) {
    const int r = i / pieces, c = i % pieces * together;
    const bool there = row + r < from.rows && column + c < from.columns;
    copy_to_shared<8 * together>(to + r * stride + c,
                                 there ? &from(row + r, column + c) : from.data, there);
  }
}

// The lower triangle of the square on the diagonal, padded with zeros.
template <bool forward>
__device__ void load_part_square(const View2<const double>& factor, std::int64_t first,
                                 double* to) {
  for (int e = static_cast<int>(threadIdx.x); e < part * part; e += block_size) {
    const int i = e / part, j = e % part;
    if (j > i) continue;
    const int p = forward ? i : part - 1 - j, q = forward ? j : part - 1 - i;
    const bool there = first + i < factor.rows;
    copy_to_shared<8>(to + p * stride_part + q, there ? &factor(first + i, first + j) : factor.data,
                      there);
  }
}

// The position of a warp and its lanes in the 64 x 32 unknowns.
struct SolveLane {
  int g = static_cast<int>(threadIdx.x) % warp_size / 4, t = static_cast<int>(threadIdx.x) % 4;
  int row = static_cast<int>(threadIdx.x) / warp_size % warps_down * 16;
  int column = static_cast<int>(threadIdx.x) / warp_size / warps_down * 8 * across;

  __device__ int row_of(int i) const { return row + g + 8 * (i / 2); }
  __device__ int column_of(int c, int i) const { return column + 8 * c + 2 * t + i % 2; }
};

using SolveSums = double[across][4];

template <bool forward>
__device__ void multiply_slice(const SolveLane& at, const SolveMemory::Slice& slice,
                               SolveSums& sum) {
#pragma unroll
  for (int k = 0; k < depth; k += 8) {
    double a[4], b[across][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = row_in_part<forward>(at.row + at.g + 8 * (i % 2)), q = k + at.t + 4 * (i / 2);
      a[i] = slice.factor[forward ? m * stride_depth + q : q * stride_part + m];
    }
#pragma unroll
    for (int c = 0; c < across; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        b[c][i] = slice.x[(k + at.t + 4 * i) * stride_x + at.column + 8 * c + at.g];
      }
    }
#pragma unroll
    for (int c = 0; c < across; ++c) multiply_add(sum[c], a, b[c][0], b[c][1]);
  }
}

// Sums over the known unknowns before the part at `first`. Ends without a barrier.
template <bool forward, int together_factor, int together_x>
__device__ void sum_known(const SolveColumns& of, std::int64_t first, const SolveLane& at,
                          SolveMemory& memory, SolveSums& sum) {
  const std::int64_t begin = forward ? 0 : first + part, end = forward ? first : of.factor.rows;
  const int slices = end > begin ? static_cast<int>((end - begin + depth - 1) / depth) : 0;
  const auto start = [&](int slice) {
    if (slice < slices) {
      SolveMemory::Slice& to = memory.slices[slice % stages];
      const std::int64_t q = begin + static_cast<std::int64_t>(slice) * depth;
      if constexpr (forward) {
        load_slice<together_factor, part, depth, stride_depth>(of.factor, first, q, to.factor);
      } else {
        load_slice<together_factor, depth, part, stride_part>(of.factor, q, first, to.factor);
      }
      load_slice<together_x, depth, width, stride_x>(of.solution, q, of.first, to.x);
    }
    end_group_of_copies();
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) start(s);
  for (int slice = 0; slice < slices; ++slice) {
    wait_for_copies<stages - 2>();
    __syncthreads();  // the slice is there, and the one before it is read
    start(slice + stages - 1);
    multiply_slice<forward>(at, memory.slices[slice % stages], sum);
  }
}

// By one warp, a lane for each column.
__device__ inline void solve_strip(int begin, SolveMemory& memory) {
  const int lane = static_cast<int>(threadIdx.x);
  double x[strip];
#pragma unroll
  for (int k = 0; k < strip; ++k) x[k] = memory.x[(begin + k) * stride_x + lane];
#pragma unroll
  for (int q = 0; q < strip; ++q) {
    x[q] *= memory.inverse[begin + q];
#pragma unroll
    for (int p = q + 1; p < strip; ++p) {
      x[p] = fma(-memory.square[(begin + p) * stride_part + begin + q], x[q], x[p]);
    }
  }
#pragma unroll
  for (int k = 0; k < strip; ++k) memory.x[(begin + k) * stride_x + lane] = x[k];
}

// Subtracts a strip of unknowns from the rows below it, a warp for each 16 x 8.
__device__ inline void take_off_strip(int begin, SolveMemory& memory) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
  const int top = begin + strip, pieces = (part - top) / 16 * (width / 8);
  for (int piece = static_cast<int>(threadIdx.x) / warp_size; piece < pieces; piece += warps) {
    const int row = top + piece / (width / 8) * 16, column = piece % (width / 8) * 8;
    double sum[4] = {};
#pragma unroll
    for (int k = begin; k < begin + strip; k += 8) {
      double a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = memory.square[(row + g + 8 * (i % 2)) * stride_part + k + t + 4 * (i / 2)];
      }
      const double* const b = memory.x + (k + t) * stride_x + column + g;
      multiply_add(sum, a, b[0], b[4 * stride_x]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      memory.x[(row + g + 8 * (i / 2)) * stride_x + column + 2 * t + i % 2] -= sum[i];
    }
  }
}

template <bool forward, int together_factor, int together_x>
__device__ void solve_part(const SolveColumns& of, std::int64_t first, SolveMemory& memory) {
  const SolveLane at{};
  const std::int64_t n = of.factor.rows, columns = of.solution.columns;
  load_part_square<forward>(of.factor, first, memory.square);
  double rest[across][4];  // read early: it comes from device memory
#pragma unroll
  for (int c = 0; c < across; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t row = first + row_in_part<forward>(at.row_of(i));
      const std::int64_t column = of.first + at.column_of(c, i);
      rest[c][i] = row < n && column < columns ? of.right(row, column) : 0.0;
    }
  }
  SolveSums sum = {};
  sum_known<forward, together_factor, together_x>(of, first, at, memory, sum);
#pragma unroll
  for (int c = 0; c < across; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      memory.x[at.row_of(i) * stride_x + at.column_of(c, i)] = rest[c][i] - sum[c][i];
    }
  }
  wait_for_copies<0>();
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < part) {
    const bool there = first + row_in_part<forward>(thread) < n;
    memory.inverse[thread] = there ? 1.0 / memory.square[thread * stride_part + thread] : 1.0;
  }
  __syncthreads();
  for (int begin = 0; begin < part; begin += strip) {
    if (thread < warp_size) solve_strip(begin, memory);
    __syncthreads();
    take_off_strip(begin, memory);
    __syncthreads();
  }
  for (int e = thread; e < part * width; e += block_size) {
    const std::int64_t row = first + row_in_part<forward>(e / width);
    const std::int64_t column = of.first + e % width;
    if (row < n && column < columns) {
      of.solution(row, column) = memory.x[e / width * stride_x + e % width];
    }
  }
  __syncthreads();
}

/// Solves for 32 columns. By a block.
template <bool forward, int together_factor, int together_x>
__device__ void solve_columns(const SolveColumns& of, SolveMemory& memory) {
  const std::int64_t parts = (of.factor.rows + part - 1) / part;
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t first = (forward ? p : parts - 1 - p) * part;
    solve_part<forward, together_factor, together_x>(of, first, memory);
  }
}

}  // namespace kiln::cuda::triangular
