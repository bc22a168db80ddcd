// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "kernels/grid.cuh"
#include "single_product.hpp"

namespace kiln::cuda {
namespace {

// A block makes tile x tile elements, 8 columns of A at a time, and a thread of it groups of 4 x 4
// elements that lie 64 apart: with 64 x 64 a matrix of 512 rows fills half an H200 with blocks,
// with 128 x 128 a thread reads less for each product. Slices wait in registers while those before
// them are multiplied.
constexpr int single_depth = 8;

template <int tile>
struct SingleSlices {
  static constexpr int stride = tile + 4;  // keeps four floats together
  float a[2][single_depth * stride];       // columns of A
  float b[2][single_depth * stride];       // rows of B
};

// One slice as the threads of a block hold it between two memories.
template <class In, int tile>
struct SingleLoad {
  static constexpr int each = tile * single_depth / block_size;
  float a[each], b[each];

  __device__ static float element(const View2<const In>& m, std::int64_t row, std::int64_t column) {
    return row < m.rows && column < m.columns ? static_cast<float>(m(row, column)) : 0.0f;
  }
  __device__ void read(const View2<const In>& from_a, const View2<const In>& from_b,
                       std::int64_t first_row, std::int64_t first_column, std::int64_t k) {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * block_size;
      a[i] = element(from_a, first_row + at / single_depth, k + at % single_depth);
      b[i] = element(from_b, k + at / tile, first_column + at % tile);
    }
  }
  __device__ void write(SingleSlices<tile>& to, int buffer) const {
    constexpr int stride = SingleSlices<tile>::stride;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * block_size;
      to.a[buffer][at % single_depth * stride + at / single_depth] = a[i];
      to.b[buffer][at / tile * stride + at % tile] = b[i];
    }
  }
};

// Four floats of each group of a thread.
template <int groups>
__device__ void read_groups(const float* line, int first, float (&out)[4 * groups]) {
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const float4 four = *reinterpret_cast<const float4*>(line + first + 64 * g);
    out[4 * g] = four.x, out[4 * g + 1] = four.y, out[4 * g + 2] = four.z, out[4 * g + 3] = four.w;
  }
}

template <int n>
__device__ void store_single(const MatrixProduct& kernel, std::int64_t first_row,
                             std::int64_t first_column, const float (&sum)[n][n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const std::int64_t r = first_row + i / 4 * 64 + i % 4;
      const std::int64_t c = first_column + j / 4 * 64 + j % 4;
      if (r >= kernel.c.rows || c >= kernel.c.columns) continue;
      const double value = kernel.epilogue(static_cast<double>(sum[i][j]), r, c);
      if (kernel.c.element == ProductElement::float64) {
        kernel.c.view<double>()(r, c) = value;
      } else {
        kernel.c.view<float>()(r, c) = static_cast<float>(value);
      }
    }
  }
}

template <class In, int tile>
__global__ void __launch_bounds__(block_size, 2)
    multiply_single(const __grid_constant__ MatrixProduct kernel) {
  if (!kernel.active()) return;
  constexpr int groups = tile / 64, n = 4 * groups, stride = SingleSlices<tile>::stride;
  __shared__ __align__(16) SingleSlices<tile> memory;
  const View2<const In> a = kernel.a.view<In>(), b = kernel.b.view<In>();
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * tile;
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;

  float sum[n][n] = {};
  SingleLoad<In, tile> next;
  next.read(a, b, first_row, first_column, 0);
  next.write(memory, 0);
  __syncthreads();
  int buffer = 0;
  for (std::int64_t k = 0; k < a.columns; k += single_depth) {
    const bool more = k + single_depth < a.columns;
    if (more) next.read(a, b, first_row, first_column, k + single_depth);
#pragma unroll
    for (int step = 0; step < single_depth; ++step) {
      float left[n], right[n];
      read_groups<groups>(memory.a[buffer] + step * stride, row, left);
      read_groups<groups>(memory.b[buffer] + step * stride, column, right);
#pragma unroll
      for (int i = 0; i < n; ++i) {
#pragma unroll
        for (int j = 0; j < n; ++j) sum[i][j] = __fmaf_rn(left[i], right[j], sum[i][j]);
      }
    }
    buffer = 1 - buffer;
    if (more) next.write(memory, buffer);
    __syncthreads();
  }
  store_single(kernel, first_row + row, first_column + column, sum);
}

template <class In, int tile>
void launch_tiles(const MatrixProduct& product, Queue& queue) {
  const auto down = static_cast<unsigned>((product.c.rows + tile - 1) / tile);
  const auto across = static_cast<unsigned>((product.c.columns + tile - 1) / tile);
  multiply_single<In, tile><<<dim3(down, across), block_size, 0, stream_of(queue)>>>(product);
  check_launch(MatrixProduct::name);
}

template <class In>
void launch_single_of(const MatrixProduct& product, Queue& queue) {
  const std::int64_t large = (product.c.rows + 127) / 128 * ((product.c.columns + 127) / 128);
  if (large >= limits_of(queue).multiprocessors) return launch_tiles<In, 128>(product, queue);
  launch_tiles<In, 64>(product, queue);
}

}  // namespace

void launch_single(const MatrixProduct& product, Queue& queue) {
  if (product.a.element == ProductElement::float32) {
    return launch_single_of<float>(product, queue);
  }
  launch_single_of<double>(product, queue);
}

}  // namespace kiln::cuda
