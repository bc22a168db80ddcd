// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/team.cuh"
#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include "cholesky_blocked.cuh"

namespace kiln::cuda {
namespace {

// Up to `resident` rows: a block has a matrix and factors it in panels of 16 columns: one warp the
// square on the diagonal, in registers; a thread each of the rows below; then all threads take the
// panel off what is to its right, in tiles of 4 x 4. Three blocks of 128 rows share a
// multiprocessor, so one's diagonal is behind another's tiles.
constexpr int panel_width = 16, stride = panel_width + 1, blocks_each = 3;

// The lower triangle in shared memory, row after row without gaps. Rows i, i + 1, ... of a column
// are triangular numbers apart, which lie in 16 different places from any multiple of 16 on.
struct Triangle {
  double* values = nullptr;
  int n = 0, first = 0;

  KILN_HD static constexpr std::int64_t doubles(std::int64_t n) { return n * (n + 1) / 2; }

  __device__ double& at(int i, int j) const { return values[i * (i + 1) / 2 + j]; }
  __device__ double& panel(int i, int k) const { return at(i, first + k); }
  // Column k of the panel at rows i, ..., i + 3; of what lies beyond the end anything.
  __device__ void four(int i, int k, double (&out)[4]) const {
#pragma unroll
    for (int r = 0; r < 4; ++r) out[r] = panel(min(i + r, n - 1), k);
  }
};

struct Diagonal {
  double square[panel_width * stride];  // of the current panel, factored
  double inverse[panel_width];          // of its diagonal
  double pivot;                         // that ended the attempt
  int failed;
};

// Least pivots follow the triangle in shared memory.
struct Work {
  Triangle storage;
  double* least;
  Diagonal* diagonal;
};

// By one warp, a row for each lane; lanes from 16 on do as the ones before. What lies beyond the
// end is the identity.
__device__ void factor_square(const Work& work, int first, int width) {
  const int lane = static_cast<int>(threadIdx.x) % panel_width;
  const bool there = lane < width;
  double row[panel_width];
#pragma unroll
  for (int k = 0; k < panel_width; ++k) {
    row[k] = there && k <= lane ? work.storage.panel(first + lane, k) : (k == lane ? 1.0 : 0.0);
  }
  const double least = there ? work.least[first + lane] : 0.0;
  Diagonal& diagonal = *work.diagonal;
#pragma unroll
  for (int k = 0; k < panel_width; ++k) {
    const double pivot = __shfl_sync(full_warp, row[k], k);
    const double bound = __shfl_sync(full_warp, least, k);
    if (!(pivot > 0 && pivot > bound && pivot < exact::infinity())) {
      if (threadIdx.x == 0) diagonal.pivot = pivot, diagonal.failed = 1;
      return;
    }
    const double inverse = rsqrt(pivot);
    row[k] *= inverse;
    if (threadIdx.x == 0) diagonal.inverse[k] = inverse;
#pragma unroll
    for (int j = k + 1; j < panel_width; ++j) {
      row[j] = fma(-row[k], __shfl_sync(full_warp, row[k], j), row[j]);
    }
  }
  __syncwarp();  // the upper lanes have read the rows, too
  if (threadIdx.x >= panel_width) return;
#pragma unroll
  for (int k = 0; k < panel_width; ++k) {
    diagonal.square[lane * stride + k] = row[k];
    if (there && k <= lane) work.storage.panel(first + lane, k) = row[k];
  }
}

// Rows below the square: x L^T = a.
__device__ void solve_rows(const Work& work, int first) {
  const Diagonal& diagonal = *work.diagonal;
  for (int i = first + panel_width + static_cast<int>(threadIdx.x); i < work.storage.n;
       i += block_size) {
    // Else the compiler reads the whole square before the loop, far more than registers hold.
    asm volatile("" ::: "memory");
    double x[panel_width];
#pragma unroll
    for (int k = 0; k < panel_width; ++k) {
      double value = work.storage.panel(i, k);
#pragma unroll
      for (int m = 0; m < k; ++m) value = fma(-x[m], diagonal.square[k * stride + m], value);
      x[k] = value * diagonal.inverse[k];
      work.storage.panel(i, k) = x[k];
    }
  }
}

__device__ void update_tile(const Triangle& storage, int row, int column) {
  double sum[4][4] = {};
#pragma unroll 4
  for (int k = 0; k < panel_width; ++k) {
    double left[4], right[4];
    storage.four(row, k, left);
    storage.four(column, k, right);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[r][c] = fma(left[r], right[c], sum[r][c]);
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int i = row + r, j = column + c;
      if (i < storage.n && j <= i) storage.at(i, j) -= sum[r][c];
    }
  }
}

// Tiles on and below the diagonal, counted row by row.
__device__ void update_rest(const Triangle& storage, int begin) {
  if (begin >= storage.n) return;  // the last panel may end beyond the matrix
  const int tiles = (storage.n - begin + 3) / 4;
  for (int t = static_cast<int>(threadIdx.x); t < tiles * (tiles + 1) / 2; t += block_size) {
    int row = static_cast<int>((sqrtf(8.0f * static_cast<float>(t) + 1) - 1) / 2);
    while (row * (row + 1) / 2 > t) --row;
    while ((row + 1) * (row + 2) / 2 <= t) ++row;
    update_tile(storage, begin + 4 * row, begin + 4 * (t - row * (row + 1) / 2));
  }
}

// By all threads of the block. False: a pivot is not positive.
__device__ bool factor(Work& work) {
  const int n = work.storage.n;
  for (int first = 0; first < n; first += panel_width) {
    const int width = min(panel_width, n - first);
    work.storage.first = first;
    if (threadIdx.x < warp_size) factor_square(work, first, width);
    __syncthreads();
    if (work.diagonal->failed != 0) return false;
    solve_rows(work, first);
    __syncthreads();
    update_rest(work.storage, first + panel_width);
    __syncthreads();
  }
  return true;
}

__device__ void load(const BatchedCholesky& kernel, std::int64_t item, double added,
                     const Work& work) {
  const View2<const double> matrix = kernel.matrix[item];
  const int n = work.storage.n, warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int i = warp; i < n; i += block_size / warp_size) {
    for (int j = static_cast<int>(threadIdx.x) % warp_size; j <= i; j += warp_size) {
      const double value = i == j ? matrix(i, j) + added : matrix(i, j);
      work.storage.at(i, j) = value;
      if (i == j) work.least[i] = BatchedCholesky::min_pivot(n, value);
    }
  }
  if (threadIdx.x == 0) work.diagonal->failed = 0;
  __syncthreads();
}

__device__ void store(const BatchedCholesky& kernel, std::int64_t item,
                      const BatchedCholesky::Attempts& attempts, const Triangle& storage) {
  const View2<double> out = kernel.factor[item];
  const int n = storage.n, warp = static_cast<int>(threadIdx.x) / warp_size;
  double logs = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += block_size) {
    logs += 2 * log(storage.at(i, i));
  }
  logs = BlockTeam::sum(logs);
  for (int i = warp; i < n; i += block_size / warp_size) {
    for (int j = static_cast<int>(threadIdx.x) % warp_size; j < n; j += warp_size) {
      double value = 0;
      if (j <= i) value = attempts.failed() ? exact::not_a_number() : storage.at(i, j);
      out(i, j) = value;
    }
  }
  if (threadIdx.x == 0) kernel.store(item, attempts, logs);
  __syncthreads();
}

__device__ void factor_item(const BatchedCholesky& kernel, std::int64_t item, Work& work) {
  BatchedCholesky::Attempts attempts;
  for (bool again = true; again;) {
    load(kernel, item, attempts.added, work);
    if (factor(work)) {
      attempts.succeed();
      break;
    }
    const View2<const double> matrix = kernel.matrix[item];
    double sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < work.storage.n; i += block_size) {
      sum += matrix(i, i);
    }
    const double pivot = work.diagonal->pivot;
    again = attempts.again(kernel, pivot, BlockTeam::sum(sum) / work.storage.n);
  }
  store(kernel, item, attempts, work.storage);
}

__global__ void __launch_bounds__(block_size, blocks_each)
    factor_resident(const __grid_constant__ BatchedCholesky kernel) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) double cholesky_memory[];
  __shared__ Diagonal diagonal;
  const int n = static_cast<int>(kernel.matrix.rows);
  Work work{{cholesky_memory, n, 0}, cholesky_memory + Triangle::doubles(n), &diagonal};
  for (std::int64_t item = blockIdx.x; item < kernel.matrix.items; item += gridDim.x) {
    factor_item(kernel, item, work);
  }
}

// Beyond, blocks share a matrix, and a panel takes two launches: one solves the tiles below its
// square, the other takes it off the tiles to its right, of which the first is the square of the
// next panel and is factored at once. A matrix without a factor is NaN from there on; at the end it
// is tried again with jitter by one block, while the others of the batch are done.

constexpr int blocked_blocks_each = 3;

__device__ cholesky::TileMemory& tile_memory() {
  extern __shared__ __align__(16) double cholesky_memory[];
  return *reinterpret_cast<cholesky::TileMemory*>(cholesky_memory);
}

__global__ void __launch_bounds__(block_size, blocked_blocks_each)
    factor_first_square(const __grid_constant__ BatchedCholesky kernel) {
  if (!kernel.active()) return;
  for (std::int64_t item = blockIdx.x; item < kernel.matrix.items; item += gridDim.x) {
    cholesky::factor_square(cholesky::Item(kernel, item), 0, tile_memory());
  }
}

template <int together>
__global__ void __launch_bounds__(block_size, blocked_blocks_each)
    solve_panel(const __grid_constant__ BatchedCholesky kernel, int first, std::int64_t tasks) {
  if (!kernel.active()) return;
  for (std::int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    const cholesky::Item item(kernel, task % kernel.matrix.items);
    const int below = static_cast<int>(task / kernel.matrix.items) + 1;
    const int row = first + below * cholesky::tile;
    cholesky::clear_mirrored(item, first, row);
    cholesky::solve_tile<together>(item, first, row, tile_memory());
  }
}

// The tiles that are factored come first, since they take longest.
template <int together>
__global__ void __launch_bounds__(block_size, blocked_blocks_each)
    update_rest_of(const __grid_constant__ BatchedCholesky kernel, int first, std::int64_t tasks) {
  if (!kernel.active()) return;
  const int begin = first + cholesky::tile;
  for (std::int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    const cholesky::Item item(kernel, task % kernel.matrix.items);
    const cholesky::TilePlace at(task / kernel.matrix.items);
    cholesky::update_tile<together>(item, first, begin + at.row * cholesky::tile,
                                    begin + at.column * cholesky::tile, tile_memory());
    if (at.row == 0) cholesky::factor_square(item, begin, tile_memory());
  }
}

// By one block.
__device__ void factor_alone(const cholesky::Item& item) {
  constexpr int tile = cholesky::tile;
  for (int first = 0; first < item.n; first += tile) {
    cholesky::factor_square(item, first, tile_memory());
    if (item.failure() != 0) return;
    for (int row = first + tile; row < item.n; row += tile) {
      cholesky::solve_tile<1>(item, first, row, tile_memory());
    }
    for (int row = first + tile; row < item.n; row += tile) {
      for (int column = first + tile; column <= row; column += tile) {
        cholesky::update_tile<1>(item, first, row, column, tile_memory());
      }
    }
  }
}

__global__ void __launch_bounds__(block_size)
    finish(const __grid_constant__ BatchedCholesky kernel) {
  if (!kernel.active()) return;
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t i = blockIdx.x; i < kernel.matrix.items; i += gridDim.x) {
    cholesky::Item item(kernel, i);
    BatchedCholesky::Attempts attempts;
    while (item.failure() != 0) {
      double sum = 0;
      for (int d = thread; d < item.n; d += block_size) sum += item.matrix(d, d);
      const double failure = item.failure();
      if (!attempts.again(kernel, failure, BlockTeam::sum(sum) / item.n)) break;
      item.added = attempts.added;
      factor_alone(item);
    }
    const bool failed = item.failure() != 0;
    if (!failed) attempts.succeed();
    double logs = 0;
    for (int d = thread; d < item.n; d += block_size) logs += 2 * log(item.factor(d, d));
    logs = BlockTeam::sum(logs);
    if (failed) {
      for (int r = thread / warp_size; r < item.n; r += block_size / warp_size) {
        for (int c = thread % warp_size; c <= r; c += warp_size) {
          item.factor(r, c) = exact::not_a_number();
        }
      }
    }
    if (thread == 0) {
      item.failure() = 0;
      kernel.store(i, attempts, logs);
    }
    __syncthreads();
  }
}

unsigned blocks_of(std::int64_t tasks) {
  return static_cast<unsigned>(std::min<std::int64_t>(tasks, 1 << 20));
}

void launch_resident(const BatchedCholesky& kernel, Queue& queue) {
  const std::int64_t n = kernel.matrix.rows;
  const std::size_t bytes = static_cast<std::size_t>(Triangle::doubles(n) + n) * sizeof(double);
  reserve_shared(queue, factor_resident, bytes, BatchedCholesky::name);
  factor_resident<<<blocks_of(kernel.matrix.items), block_size, bytes, stream_of(queue)>>>(kernel);
  check_launch(BatchedCholesky::name);
}

template <int together>
void launch_blocked(const BatchedCholesky& kernel, Queue& queue) {
  constexpr std::size_t bytes = sizeof(cholesky::TileMemory);
  reserve_shared(queue, factor_first_square, bytes, BatchedCholesky::name);
  reserve_shared(queue, solve_panel<together>, bytes, BatchedCholesky::name);
  reserve_shared(queue, update_rest_of<together>, bytes, BatchedCholesky::name);
  reserve_shared(queue, finish, bytes, BatchedCholesky::name);
  const cudaStream_t stream = stream_of(queue);
  const std::int64_t items = kernel.matrix.items, n = kernel.matrix.rows;
  factor_first_square<<<blocks_of(items), block_size, bytes, stream>>>(kernel);
  for (std::int64_t first = 0;; first += cholesky::tile) {
    const std::int64_t below = cholesky::tiles_below(n, first), solved = items * below;
    if (below == 0) break;
    const std::int64_t updated = items * below * (below + 1) / 2;
    const int at = static_cast<int>(first);
    solve_panel<together><<<blocks_of(solved), block_size, bytes, stream>>>(kernel, at, solved);
    update_rest_of<together>
        <<<blocks_of(updated), block_size, bytes, stream>>>(kernel, at, updated);
  }
  finish<<<blocks_of(items), block_size, bytes, stream>>>(kernel);
  check_launch(BatchedCholesky::name);
}

// Pairs of doubles may be copied at once where each lies in one row and is aligned.
template <class T>
bool in_pairs(const MatrixBatch<T>& m) {
  return m.rows % 2 == 0 && m.stride % 2 == 0 && m.item_stride % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
}

}  // namespace

template <>
void launch(const BatchedCholesky& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.matrix", BatchedCholesky::refusal);
  if (kernel.matrix.items <= 0) return;
  if (kernel.matrix.rows <= BatchedCholesky::resident) return launch_resident(kernel, queue);
  if (in_pairs(kernel.matrix) && in_pairs(kernel.factor)) return launch_blocked<2>(kernel, queue);
  launch_blocked<1>(kernel, queue);
}

}  // namespace kiln::cuda
