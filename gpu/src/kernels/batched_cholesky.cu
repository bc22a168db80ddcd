// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "kiln/cuda/team.cuh"
#include "kiln/errors.hpp"
#include "kiln/kernels/batched_cholesky.hpp"

#include "cholesky_storage.cuh"

namespace kiln::cuda {
namespace {

// A block has a matrix and factors it in panels of 16 columns: one warp the square on the diagonal,
// in registers; a thread each of the rows below; then all threads take the panel off what is to its
// right, in tiles of 4 x 4. Three blocks of 128 rows share a multiprocessor, so one's diagonal is
// behind another's tiles.
constexpr int stride = panel_width + 1;

struct Diagonal {
  double square[panel_width * stride];  // of the current panel, factored
  double inverse[panel_width];          // of its diagonal
  double pivot;                         // that ended the attempt
  int failed;
};

// Least pivots follow the storage in shared memory.
template <class Storage>
struct Work {
  Storage storage;
  double* least;
  Diagonal* diagonal;
};

// By one warp, a row for each lane; lanes from 16 on do as the ones before. What lies beyond the
// end is the identity.
template <class Storage>
__device__ void factor_square(const Work<Storage>& work, int first, int width) {
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
template <class Storage>
__device__ void solve_rows(const Work<Storage>& work, int first) {
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

template <class Storage>
__device__ void update_tile(const Storage& storage, int row, int column) {
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
template <class Storage>
__device__ void update_rest(const Storage& storage, int begin) {
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
template <class Storage>
__device__ bool factor(Work<Storage>& work) {
  const int n = work.storage.n;
  for (int first = 0; first < n; first += panel_width) {
    const int width = min(panel_width, n - first);
    work.storage.begin_panel(first, width);
    __syncthreads();
    if (threadIdx.x < warp_size) factor_square(work, first, width);
    __syncthreads();
    if (work.diagonal->failed != 0) return false;
    solve_rows(work, first);
    __syncthreads();
    work.storage.end_panel(width);
    update_rest(work.storage, first + panel_width);
    __syncthreads();
  }
  return true;
}

template <class Storage>
__device__ void load(const BatchedCholesky& kernel, std::int64_t item, double added,
                     const Work<Storage>& work) {
  const View2<const double> matrix = kernel.matrix[item];
  const int n = work.storage.n, warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int i = warp; i < n; i += block_size / warp_size) {
    for (int j = static_cast<int>(threadIdx.x) % warp_size; j <= i; j += warp_size) {
      const double value = i == j ? matrix(i, j) + added : matrix(i, j);
      work.storage.at(i, j) = value;
      if (i == j) work.least[i] = BatchedCholesky::least_pivot(n, value);
    }
  }
  if (threadIdx.x == 0) work.diagonal->failed = 0;
  __syncthreads();
}

template <class Storage>
__device__ void store(const BatchedCholesky& kernel, std::int64_t item,
                      const BatchedCholesky::Attempts& attempts, const Storage& storage) {
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

template <class Storage>
__device__ void factor_item(const BatchedCholesky& kernel, std::int64_t item, Work<Storage>& work) {
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

template <class Storage>
std::size_t shared_bytes(std::int64_t n) {
  return static_cast<std::size_t>(Storage::doubles(n) + n) * sizeof(double);
}

template <class Storage>
__global__ void __launch_bounds__(block_size, Storage::blocks_each)
    factor_all(const __grid_constant__ BatchedCholesky kernel) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) double cholesky_memory[];
  __shared__ Diagonal diagonal;
  const int n = static_cast<int>(kernel.matrix.rows);
  Work<Storage> work{};
  work.storage.n = n;
  work.least = cholesky_memory + Storage::doubles(n);
  work.diagonal = &diagonal;
  for (std::int64_t item = blockIdx.x; item < kernel.matrix.items; item += gridDim.x) {
    if constexpr (std::is_same_v<Storage, StreamedTriangle>) {
      work.storage.columns = cholesky_memory;
      work.storage.factor = kernel.factor[item];
    } else {
      work.storage.values = cholesky_memory;
    }
    factor_item(kernel, item, work);
  }
}

template <class Storage>
void launch_with(const BatchedCholesky& kernel, Queue& queue) {
  const std::size_t bytes = shared_bytes<Storage>(kernel.matrix.rows);
  cuda_check(cudaFuncSetAttribute(factor_all<Storage>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "reserve shared memory for batched_cholesky");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(kernel.matrix.items, 65535));
  factor_all<Storage><<<blocks, block_size, bytes, stream_of(queue)>>>(kernel);
  check_launch(BatchedCholesky::name);
}

constexpr std::int64_t largest = 1536;  // the panel of which fits into shared memory
static_assert((StreamedTriangle::doubles(largest) + largest) * 8 + sizeof(Diagonal) <= 220 * 1024);

void refuse_unless(bool good, const std::string& message) {
  if (!good) throw InvalidArgument("kernel.matrix", message);
}

}  // namespace

template <>
void launch(const BatchedCholesky& kernel, Queue& queue) {
  if (kernel.matrix.items <= 0) return;
  const std::int64_t n = kernel.matrix.rows;
  if (n <= BatchedCholesky::resident) return launch_with<ResidentTriangle>(kernel, queue);
  refuse_unless(n <= largest, "batched_cholesky takes matrices of up to " +
                                  std::to_string(largest) + " rows on a GPU, not " +
                                  std::to_string(n));
  refuse_unless(kernel.matrix.data != kernel.factor.data,
                "batched_cholesky factors only matrices of up to " +
                    std::to_string(BatchedCholesky::resident) + " rows in place on a GPU");
  launch_with<StreamedTriangle>(kernel, queue);
}

}  // namespace kiln::cuda
