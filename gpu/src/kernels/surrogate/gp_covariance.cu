// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/gp_covariance.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A block makes tiles of 32 x 32 elements, a thread 4 x 2 of them, so that each number read from
// shared memory serves several differences; the matrix of 1000 points has four tiles for each
// multiprocessor.
constexpr int tile = 32, depth = 16, threads = 128;
constexpr int across = 16, rows_each = 4, columns_each = 2;
static_assert(across * columns_each == tile && threads / across * rows_each == tile);

// Coordinates of a tile, as many dimensions at a time as fit, and the tile on its way to the other
// side of the diagonal.
struct TileMemory {
  double row[depth][tile], column[depth][tile], inverse[depth];
  double turned[tile][tile + 1];
};

struct TilePlace {
  std::int64_t item = 0, row = 0, column = 0;  // of the first element
  int down = static_cast<int>(threadIdx.x) / across * rows_each;
  int right = static_cast<int>(threadIdx.x) % across;
};

using Squares = double[rows_each][columns_each];

__device__ void load(const PointSets& points, std::int64_t set, std::int64_t first, std::int64_t k0,
                     int dimensions, double (&to)[depth][tile]) {
  const std::int64_t count = points.count(set);
  for (int i = static_cast<int>(threadIdx.x); i < dimensions * tile; i += threads) {
    const std::int64_t point = first + i % tile;
    to[i / tile][i % tile] = point < count ? points(set, k0 + i / tile, point) : 0.0;
  }
}

template <class Difference>
__device__ void add_axis(const TilePlace& at, const TileMemory& memory, int k, Squares& square,
                         const Difference& difference) {
#pragma unroll
  for (int c = 0; c < columns_each; ++c) {
    const double y = memory.column[k][at.right + across * c];
#pragma unroll
    for (int r = 0; r < rows_each; ++r) {
      const double t = difference(memory.row[k][at.down + r], y);
      square[r][c] = fma(t, t, square[r][c]);
    }
  }
}

template <bool names>
__device__ void add_squares(const GpCovariance& kernel, const TilePlace& at, TileMemory& memory,
                            Squares& square) {
  const std::int64_t set = at.item / kernel.items_per_set;
  for (std::int64_t k0 = 0; k0 < kernel.dimension; k0 += depth) {
    const std::int64_t left = kernel.dimension - k0;
    const int dimensions = left < depth ? static_cast<int>(left) : depth;
    __syncthreads();  // the coordinates before these are read
    load(kernel.points, set, at.row, k0, dimensions, memory.row);
    load(kernel.columns(), set, at.column, k0, dimensions, memory.column);
    const int mine = static_cast<int>(threadIdx.x);
    if (mine < dimensions) {
      memory.inverse[mine] = 1.0 / kernel.parameters.length_of(k0 + mine, at.item);
    }
    __syncthreads();
    for (int k = 0; k < dimensions; ++k) {
      const double inverse = memory.inverse[k];
      if (names && kernel.axes.is_categorical(k0 + k)) {
        add_axis(at, memory, k, square,
                 [&](double x, double y) { return kernel.axes.distance(k0 + k, x, y) * inverse; });
      } else {
        add_axis(at, memory, k, square, [&](double x, double y) { return (x - y) * inverse; });
      }
    }
  }
}

template <CovarianceKind kind>
__device__ void store(const GpCovariance& kernel, const TilePlace& at, double variance,
                      const Squares& square, TileMemory& memory) {
  const std::int64_t set = at.item / kernel.items_per_set;
  const std::int64_t rows = kernel.points.count(set), columns = kernel.columns().count(set);
  const View2<double> matrix = kernel.matrix[at.item];
  const double alpha = kernel.alpha_of(at.item);
#pragma unroll
  for (int r = 0; r < rows_each; ++r) {
#pragma unroll
    for (int c = 0; c < columns_each; ++c) {
      const int right = at.right + across * c;
      const std::int64_t i = at.row + at.down + r, j = at.column + right;
      double value = variance * correlation<kind>(square[r][c], alpha);
      if (i >= rows || j >= columns) {
        value = kernel.missing(i, j);
      } else if (kernel.symmetric() && i == j) {
        value += kernel.parameters.noise_of(at.item);
      }
      memory.turned[at.down + r][right] = value;
      if (i < matrix.rows && j < matrix.columns) matrix(i, j) = value;
    }
  }
}

// The tile opposite, from shared memory, so that neighbouring lanes write neighbouring elements.
__device__ void store_turned(const GpCovariance& kernel, const TilePlace& at,
                             const TileMemory& memory) {
  const View2<double> matrix = kernel.matrix[at.item];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < tile * tile; i += threads) {
    const std::int64_t r = at.column + i / tile, c = at.row + i % tile;
    if (r < matrix.rows && c < matrix.columns) matrix(r, c) = memory.turned[i % tile][i / tile];
  }
}

// Tiles on and below the diagonal are counted row by row, or all of them where columns are other
// points.
__device__ void place_tile(const GpCovariance& kernel, std::int64_t index, TilePlace& at) {
  if (!kernel.symmetric()) {
    const std::int64_t wide = (kernel.matrix.columns + tile - 1) / tile;
    at.row = index / wide * tile, at.column = index % wide * tile;
    return;
  }
  std::int64_t row =
      static_cast<std::int64_t>((sqrt(8.0 * static_cast<double>(index) + 1) - 1) / 2);
  while (row * (row + 1) / 2 > index) --row;
  while ((row + 1) * (row + 2) / 2 <= index) ++row;
  at.row = row * tile, at.column = (index - row * (row + 1) / 2) * tile;
}

template <CovarianceKind kind, bool names>
__global__ void __launch_bounds__(threads)
    fill(const __grid_constant__ GpCovariance kernel, std::int64_t tiles) {
  __shared__ TileMemory memory;
  if (!kernel.active()) return;
  for (std::int64_t index = blockIdx.x; index < tiles * kernel.matrix.items; index += gridDim.x) {
    TilePlace at;
    at.item = index / tiles;
    place_tile(kernel, index % tiles, at);
    Squares square = {};
    add_squares<names>(kernel, at, memory, square);
    store<kind>(kernel, at, kernel.variance_of(at.item), square, memory);
    if (kernel.symmetric() && at.row != at.column) store_turned(kernel, at, memory);
    __syncthreads();  // the tile is read
  }
}

}  // namespace

template <>
void launch(const GpCovariance& kernel, Queue& queue) {
  const std::int64_t down = (kernel.matrix.rows + tile - 1) / tile;
  const std::int64_t wide = (kernel.matrix.columns + tile - 1) / tile;
  const std::int64_t tiles = kernel.symmetric() ? down * (down + 1) / 2 : down * wide;
  if (tiles <= 0 || kernel.matrix.items <= 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(tiles * kernel.matrix.items, 1 << 20));
  with_covariance(kernel.kind, [&](auto tag) {
    constexpr CovarianceKind kind = decltype(tag)::value;
    // Where no axis has categories nothing asks for any.
    if (kernel.axes.categorical) {
      fill<kind, true><<<blocks, threads, 0, stream_of(queue)>>>(kernel, tiles);
    } else {
      fill<kind, false><<<blocks, threads, 0, stream_of(queue)>>>(kernel, tiles);
    }
  });
  check_launch(GpCovariance::name);
}

}  // namespace kiln::cuda
