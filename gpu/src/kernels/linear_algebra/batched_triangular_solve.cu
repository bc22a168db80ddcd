// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include "triangular_solve_blocked.cuh"

namespace kiln::cuda {
namespace {

// Up to 128 unknowns: a block has 32 right-hand sides of an item, a lane one of them, and finds 32
// unknowns at a time.
// First each warp takes what is known off 4 of the equations; then one warp solves the triangle
// that is left, its lanes each for itself, while those of other blocks do the former.
constexpr std::int64_t few_unknowns = 128;
constexpr int part = 32, warps = block_size / warp_size, rows_each = part / warps;

struct PartMemory {
  double triangle[part][part + 1];
  double inverse[part];  // of its diagonal
  double x[part][warp_size];
};

// Columns of right-hand sides that a lane has; `there`: whether it has one.
struct LaneColumn {
  std::int64_t at = 0;
  bool there = false;
};

template <bool forward>
__device__ void load_triangle(const SolvingOrder<forward>& order, std::int64_t first,
                              PartMemory& memory) {
  const std::int64_t n = order.factor.rows;
  for (int i = static_cast<int>(threadIdx.x); i < part * part; i += block_size) {
    // Neighbouring lanes read neighbouring numbers of a row of the factor.
    const int p = forward ? i / part : i % part, q = forward ? i % part : i / part;
    const bool there = first + p < n;
    if (q > p) continue;
    const double value = there ? order(first + p, first + q) : (p == q ? 1.0 : 0.0);
    memory.triangle[p][q] = value;
    if (p == q) memory.inverse[p] = 1.0 / value;
  }
}

template <bool forward>
__device__ void take_off_known(const SolvingOrder<forward>& order, std::int64_t first,
                               const View2<const double>& right, const View2<double>& solution,
                               const LaneColumn& column, PartMemory& memory) {
  const std::int64_t n = order.factor.rows;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_each;
  double rest[rows_each];
  std::int64_t equation[rows_each];  // the last one again beyond the end, not stored
#pragma unroll
  for (int r = 0; r < rows_each; ++r) {
    const std::int64_t p = first + row + r;
    equation[r] = p < n ? p : n - 1;
    rest[r] = p < n && column.there ? right(order.row(p), column.at) : 0.0;
  }
  if (column.there) {
#pragma unroll 4
    for (std::int64_t q = 0; q < first; ++q) {
      const double known = solution(order.row(q), column.at);
#pragma unroll
      for (int r = 0; r < rows_each; ++r) rest[r] = fma(-order(equation[r], q), known, rest[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < rows_each; ++r) memory.x[row + r][threadIdx.x % warp_size] = rest[r];
}

// By one warp, 16 unknowns in registers at a time: with all 32 a multiprocessor would have room for
// one block. A lane reads and writes its own column only.
template <bool forward>
__device__ void solve_triangle(const SolvingOrder<forward>& order, std::int64_t first,
                               const View2<double>& solution, const LaneColumn& column,
                               PartMemory& memory) {
  constexpr int half = part / 2;
  const unsigned lane = threadIdx.x;
#pragma unroll 1
  for (int base = 0; base < part; base += half) {
    double x[half];
#pragma unroll
    for (int p = 0; p < half; ++p) x[p] = memory.x[base + p][lane];
#pragma unroll
    for (int q = 0; q < half; ++q) {
      x[q] *= memory.inverse[base + q];
#pragma unroll
      for (int p = q + 1; p < half; ++p) {
        x[p] = fma(-memory.triangle[base + p][base + q], x[q], x[p]);
      }
    }
#pragma unroll
    for (int p = 0; p < half; ++p) {
      const std::int64_t at = first + base + p;
      if (column.there && at < order.factor.rows) solution(order.row(at), column.at) = x[p];
    }
    for (int p = base + half; p < part; ++p) {
      double rest = memory.x[p][lane];
#pragma unroll
      for (int q = 0; q < half; ++q) rest = fma(-memory.triangle[p][base + q], x[q], rest);
      memory.x[p][lane] = rest;
    }
  }
}

template <bool forward>
__device__ void solve(const SolvingOrder<forward>& order, const View2<const double>& right,
                      const View2<double>& solution, const LaneColumn& column, PartMemory& memory) {
  for (std::int64_t first = 0; first < order.factor.rows; first += part) {
    load_triangle(order, first, memory);
    take_off_known(order, first, right, solution, column, memory);
    __syncthreads();
    if (threadIdx.x < warp_size) solve_triangle(order, first, solution, column, memory);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(block_size, 3)
    solve_all(const __grid_constant__ BatchedTriangularSolve kernel, std::int64_t parts) {
  if (!kernel.active()) return;
  __shared__ PartMemory memory;
  for (std::int64_t task = blockIdx.x; task < parts * kernel.solution.items; task += gridDim.x) {
    const std::int64_t item = task / parts;
    LaneColumn column;
    column.at = task % parts * warp_size + threadIdx.x % warp_size;
    column.there = column.at < kernel.solution.columns;
    const View2<const double> factor = kernel.factor[item];
    const View2<double> x = kernel.solution[item];
    View2<const double> right = kernel.right[item];
    if (kernel.form != TriangularForm::backward) {
      solve<true>({factor}, right, x, column, memory);
      right = {x.data, x.rows, x.columns, x.stride};
    }
    if (kernel.form != TriangularForm::forward) solve<false>({factor}, right, x, column, memory);
  }
}

template <int together_factor, int together_x>
__global__ void __launch_bounds__(block_size, 2)
    solve_large(const __grid_constant__ BatchedTriangularSolve kernel, std::int64_t parts) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) double solve_memory[];
  auto& memory = *reinterpret_cast<triangular::SolveMemory*>(solve_memory);
  for (std::int64_t task = blockIdx.x; task < parts * kernel.solution.items; task += gridDim.x) {
    const std::int64_t item = task / parts;
    const View2<double> x = kernel.solution[item];
    triangular::SolveColumns of{kernel.factor[item], kernel.right[item], x,
                                task % parts * triangular::width};
    if (kernel.form != TriangularForm::backward) {
      triangular::solve_columns<true, together_factor, together_x>(of, memory);
      of.right = {x.data, x.rows, x.columns, x.stride};
    }
    if (kernel.form != TriangularForm::forward) {
      triangular::solve_columns<false, together_factor, together_x>(of, memory);
    }
  }
}

template <int together_factor, int together_x>
void launch_large(const BatchedTriangularSolve& kernel, unsigned blocks, std::int64_t parts,
                  Queue& queue) {
  constexpr std::size_t bytes = sizeof(triangular::SolveMemory);
  const auto function = solve_large<together_factor, together_x>;
  reserve_shared(queue, function, bytes, BatchedTriangularSolve::name);
  function<<<blocks, block_size, bytes, stream_of(queue)>>>(kernel, parts);
}

// Pairs of doubles may be copied at once where each lies in one row and is aligned.
template <class T>
bool in_pairs(const MatrixBatch<T>& m) {
  return m.columns % 2 == 0 && m.stride % 2 == 0 && m.item_stride % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
}

}  // namespace

template <>
void launch(const BatchedTriangularSolve& kernel, Queue& queue) {
  static_assert(triangular::width == warp_size);
  const std::int64_t parts = (kernel.solution.columns + warp_size - 1) / warp_size;
  const std::int64_t tasks = parts * kernel.solution.items;
  if (tasks <= 0 || kernel.solution.rows <= 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(tasks, 1 << 20));
  if (kernel.solution.rows <= few_unknowns) {
    solve_all<<<blocks, block_size, 0, stream_of(queue)>>>(kernel, parts);
  } else if (!in_pairs(kernel.factor)) {
    launch_large<1, 1>(kernel, blocks, parts, queue);
  } else if (!in_pairs(kernel.solution)) {
    launch_large<2, 1>(kernel, blocks, parts, queue);
  } else {
    launch_large<2, 2>(kernel, blocks, parts, queue);
  }
  check_launch(BatchedTriangularSolve::name);
}

}  // namespace kiln::cuda
