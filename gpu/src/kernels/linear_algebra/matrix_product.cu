// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include "kernels/grid.cuh"
#include "packed_product.hpp"
#include "single_product.hpp"
#include "tensor_cores.cuh"

namespace kiln::cuda {
namespace {

// A block of eight warps makes 32 down_ warps_down_ rows of C, a warp 16 down_ x 8 across_
// elements.
//
// Small tiles fill the device with small products: two blocks to a multiprocessor, so that one
// multiplies while the other waits. Large tiles read less of shared memory for each product, and
// their deeper slices let warps wait for each other half as often.
template <int down_, int across_, int warps_down_, int blocks_, int depth_, int stages_>
struct TileShape {
  static constexpr int depth = depth_, stages = stages_;  // columns of A in a slice, slices
  static constexpr int steps = depth / 8;                 // products of 16 x 8 along a slice
  static constexpr int down = down_, across = across_;    // products of 16 x 8 in a warp
  static constexpr int warps_down = warps_down_, warps = 8, blocks = blocks_;
  static constexpr int rows = warps_down * 16 * down;
  static constexpr int columns = warps / warps_down * 8 * across;
  // Doubles from a row to the next: 4 more than a multiple of 16, so that the 16 lanes of half a
  // warp read from 16 places.
  static constexpr int stride_a = depth + 4, stride_b = columns + 4;
  static constexpr int doubles_a = rows * stride_a, doubles_b = depth * stride_b;
  static constexpr std::size_t shared_bytes = sizeof(double) * stages * (doubles_a + doubles_b);
  static_assert(steps % 2 == 0 && warps * 32 == block_size);
};
using SmallTile = TileShape<2, 2, 2, 2, 16, 4>;
using LargeTile = TileShape<4, 4, 2, 1, 32, 3>;

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
template <class Shape>
struct LanePlace {
  int group = static_cast<int>(threadIdx.x) % 32 / 4, place = static_cast<int>(threadIdx.x) % 4;
  int row = static_cast<int>(threadIdx.x) / 32 % Shape::warps_down * 16 * Shape::down;
  int column = static_cast<int>(threadIdx.x) / 32 / Shape::warps_down * 8 * Shape::across;
};

// A product of doubles as blocks see it.
struct DoubleProduct {
  View2<const double> a, b;
  View2<double> c;
  Epilogue epilogue;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  explicit DoubleProduct(const MatrixProduct& of)
      : a(of.a.view<double>()),
        b(of.b.view<double>()),
        c(of.c.view<double>()),
        epilogue(of.epilogue),
        control(of.control),
        step_offset(of.step_offset) {}
  __device__ bool active() const { return control == nullptr || control->active(step_offset); }
};

template <class Shape>
using Sums = double[Shape::down][Shape::across][4];

// What a lane has of 8 columns of A and 8 rows of B.
template <class Shape>
struct Operands {
  static constexpr int down = Shape::down, across = Shape::across;
  static constexpr int stride_a = Shape::stride_a, stride_b = Shape::stride_b;
  double left[down][4], right[across][2];

  __device__ void read(const LanePlace<Shape>& at, const double* a, const double* b, int k) {
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
  __device__ void add_to(Sums<Shape>& sum) const {
#pragma unroll
    for (int d = 0; d < down; ++d) {
#pragma unroll
      for (int c = 0; c < across; ++c) {
        multiply_add(sum[d][c], left[d], right[c][0], right[c][1]);
      }
    }
  }
};

template <class Shape>
__device__ void store(const DoubleProduct& kernel, const LanePlace<Shape>& at,
                      std::int64_t first_row, std::int64_t first_column, const Sums<Shape>& sum) {
#pragma unroll
  for (int d = 0; d < Shape::down; ++d) {
#pragma unroll
    for (int c = 0; c < Shape::across; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t r = first_row + at.row + 16 * d + at.group + 8 * (i / 2);
        const std::int64_t n = first_column + at.column + 8 * c + 2 * at.place + i % 2;
        if (r >= kernel.c.rows || n >= kernel.c.columns) continue;
        kernel.c(r, n) = kernel.epilogue(sum[d][c][i], r, n);
      }
    }
  }
}

template <class Shape, int together>
__global__ void __launch_bounds__(block_size, Shape::blocks)
    multiply(const __grid_constant__ DoubleProduct kernel) {
  if (!kernel.active()) return;
  extern __shared__ __align__(16) double product_memory[];
  constexpr int doubles_a = Shape::doubles_a, doubles_b = Shape::doubles_b;
  constexpr int depth = Shape::depth, stages = Shape::stages, steps = Shape::steps;
  const LanePlace<Shape> at{};
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * Shape::rows;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * Shape::columns;
  const int slices = static_cast<int>((kernel.a.columns + depth - 1) / depth);
  const auto start = [&](int slice) {
    if (slice < slices) {
      double* a = product_memory + slice % stages * (doubles_a + doubles_b);
      const std::int64_t k = static_cast<std::int64_t>(slice) * depth;
      load<together, Shape::rows, depth, Shape::stride_a>(kernel.a, first_row, k, a);
      load<together, depth, Shape::columns, Shape::stride_b>(kernel.b, k, first_column,
                                                             a + doubles_a);
    }
    end_group_of_copies();
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) start(s);

  // Operands are read one step ahead: a scheduler has too few warps to hide the reads of one behind
  // the products of another.
  Sums<Shape> sum = {};
  Operands<Shape> operands[2];
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
bool in_pairs(const ConstProductMatrix& m) {
  return m.stride % 2 == 0 && m.columns % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
}

std::int64_t tiles_of(std::int64_t count, int tile) { return (count + tile - 1) / tile; }

template <class Shape, int together>
void launch_tiles_of(const MatrixProduct& kernel, Queue& queue) {
  reserve_shared(queue, multiply<Shape, together>, Shape::shared_bytes, MatrixProduct::name);
  const dim3 blocks(static_cast<unsigned>(tiles_of(kernel.c.rows, Shape::rows)),
                    static_cast<unsigned>(tiles_of(kernel.c.columns, Shape::columns)));
  multiply<Shape, together>
      <<<blocks, block_size, Shape::shared_bytes, stream_of(queue)>>>(DoubleProduct(kernel));
  check_launch(MatrixProduct::name);
}

// The order of each sum does not depend on the tile.
template <int together>
void launch_with(const MatrixProduct& kernel, Queue& queue) {
  constexpr std::int64_t many = 3;  // large tiles for each multiprocessor
  const std::int64_t tiles =
      tiles_of(kernel.c.rows, LargeTile::rows) * tiles_of(kernel.c.columns, LargeTile::columns);
  const DeviceLimits& limits = limits_of(queue);
  if (tiles >= many * limits.multiprocessors &&
      limits.shared_bytes >= static_cast<std::int64_t>(LargeTile::shared_bytes)) {
    return launch_tiles_of<LargeTile, together>(kernel, queue);
  }
  launch_tiles_of<SmallTile, together>(kernel, queue);
}

}  // namespace

template <>
void launch(const MatrixProduct& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.matrix_product", MatrixProduct::refusal);
  if (kernel.c.rows <= 0 || kernel.c.columns <= 0) return;
  if (kernel.path == ProductPath::float32) return launch_single(kernel, queue);
  if (is_packed(kernel.path)) {
    if (!has_packed_products(queue)) {
      throw InvalidArgument("kernel.matrix_product",
                            std::string("this device has no path ") + name_of(kernel.path),
                            "FP64 or FP32, or a GPU of compute capability 9.0");
    }
    if (kernel.scratch.size < kernel.scratch_bytes()) {
      throw InvalidArgument("kernel.matrix_product", MatrixProduct::scratch_refusal);
    }
    return launch_packed(kernel, queue);
  }
  if (in_pairs(kernel.a) && in_pairs(kernel.b)) return launch_with<2>(kernel, queue);
  launch_with<1>(kernel, queue);
}

}  // namespace kiln::cuda
