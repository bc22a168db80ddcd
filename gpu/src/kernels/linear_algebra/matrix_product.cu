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
// Small tiles fill the device with small products: a multiprocessor has room for two blocks or
// more, so that one multiplies while the other waits. Large tiles read less of shared memory for
// each product.
template <int down_, int across_, int warps_down_, int blocks_, int depth_, int stages_>
struct TileShape {
  static constexpr int depth = depth_, stages = stages_;  // columns of A in a slice, slices
  static constexpr int down = down_, across = across_;    // products of 16 x 8 in a warp
  static constexpr int warps_down = warps_down_, warps = 8, blocks = blocks_;
  static constexpr int rows = warps_down * 16 * down;
  static constexpr int columns = warps / warps_down * 8 * across;
  // Doubles from a row to the next: 4 more than a multiple of 16, so that the 16 lanes of half a
  // warp read from 16 places.
  static constexpr int stride_a = depth + 4, stride_b = columns + 4;
  static constexpr int doubles_a = rows * stride_a, doubles_b = depth * stride_b;
  static constexpr std::size_t shared_bytes = sizeof(double) * stages * (doubles_a + doubles_b);
  static_assert(warps * 32 == block_size);
};
using TinyTile = TileShape<1, 1, 2, 2, 16, 4>;
using NarrowTile = TileShape<1, 2, 2, 2, 16, 4>;
using SmallTile = TileShape<2, 2, 2, 1, 16, 4>;
using LargeTile = TileShape<4, 4, 2, 1, 16, 5>;

// A matrix of shared memory from rows first_row, ... and columns first_column, ... of `from`, with
// zeros beyond its ends; `together` doubles per copy, which must lie in one row and be aligned.
template <int together, int rows, int columns, int stride>
__device__ void load(const View2<const double>& from, std::int64_t first_row,
                     std::int64_t first_column, double* to) {
  constexpr int pieces = columns / together;
  for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += block_size) {
    const int r = i / pieces, c = i % pieces * together;
    const bool there = first_row + r < from.rows && first_column + c < from.columns;
    const double* source = there ? &from(first_row + r, first_column + c) : from.data;
    copy_to_shared<8 * together>(to + r * stride + c, source, there);
  }
}

// The pieces of such a matrix that a thread copies: the same columns of some rows. What is the same
// for all slices is computed once, because a slice leaves little time for it.
template <int together, int rows, int columns, int stride>
class ThreadCopies {
  static constexpr int pieces = columns / together;  // of a row
  static constexpr int apart = block_size / pieces, count = rows / apart;
  static_assert(block_size % pieces == 0 && rows % apart == 0);

 public:
  __device__ ThreadCopies(const View2<const double>& from, std::int64_t first_row,
                          std::int64_t first_column)
      : from_(from.data), step_(apart * from.stride) {
    const int row = static_cast<int>(threadIdx.x) / pieces;
    const int column = static_cast<int>(threadIdx.x) % pieces * together;
    from_ += (first_row + row) * from.stride + first_column + column;
    to_ = row * stride + column;
#pragma unroll
    for (int p = 0; p < count; ++p) {
      const bool there =
          first_row + row + p * apart < from.rows && first_column + column < from.columns;
      there_ |= (there ? 1u : 0u) << p;
    }
  }
  // Starts the copies of a slice, and moves on to the next one, `distance` doubles later.
  __device__ void start(double* to, std::int64_t distance) {
    const double* from = from_;
#pragma unroll
    for (int p = 0; p < count; ++p, from += step_) {
      copy_to_shared<8 * together>(to + to_ + p * (apart * stride), from, (there_ >> p & 1) != 0);
    }
    from_ += distance;
  }

 private:
  const double* from_;
  std::int64_t step_;
  int to_ = 0;
  unsigned there_ = 0;  // a bit for each piece
};

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

// Slices of A and B on their way through shared memory.
template <class Shape, int together>
struct Slices {
  static constexpr int doubles = Shape::doubles_a + Shape::doubles_b;
  static constexpr int depth = Shape::depth, stages = Shape::stages;

  const DoubleProduct& kernel;
  double* memory;
  std::int64_t first_row, first_column;
  int count;
  ThreadCopies<together, Shape::rows, depth, Shape::stride_a> of_a;
  ThreadCopies<together, depth, Shape::columns, Shape::stride_b> of_b;

  __device__ Slices(const DoubleProduct& product, double* shared, std::int64_t row,
                    std::int64_t column)
      : kernel(product),
        memory(shared),
        first_row(row),
        first_column(column),
        count(static_cast<int>((product.a.columns + depth - 1) / depth)),
        of_a(product.a, row, 0),
        of_b(product.b, 0, column) {}

  __device__ double* a(int slice) const { return memory + slice % stages * doubles; }
  static __device__ const double* b(const double* a) { return a + Shape::doubles_a; }
  __device__ void start(int slice) {
    double* const to = a(slice);
    const std::int64_t k = static_cast<std::int64_t>(slice) * depth;
    if (k + depth <= kernel.a.columns) {
      of_a.start(to, depth);
      of_b.start(to + Shape::doubles_a, depth * kernel.b.stride);
    } else if (slice < count) {
      load<together, Shape::rows, depth, Shape::stride_a>(kernel.a, first_row, k, to);
      load<together, depth, Shape::columns, Shape::stride_b>(kernel.b, k, first_column,
                                                             to + Shape::doubles_a);
    }
    end_group_of_copies();
  }
  __device__ void begin() {
#pragma unroll
    for (int s = 0; s < stages - 1; ++s) start(s);
    wait_for_copies<stages - 2>();
    __syncthreads();
  }
  // Waits for the next slice, and starts one in the place of that before this one.
  __device__ void advance(int slice) {
    wait_for_copies<stages - 3>();
    __syncthreads();  // the next slice is there, and the one before this is read
    start(slice + stages - 1);
  }
};

// What a lane has of 8 columns of A, 16 rows of them, and of 8 rows of B, 8 columns of them.
template <class Shape>
__device__ void read_left(double (&left)[4], const LanePlace<Shape>& at, const double* a, int down,
                          int k) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = at.row + 16 * down + at.group + 8 * (i % 2);
    left[i] = a[row * Shape::stride_a + k + at.place + 4 * (i / 2)];
  }
}
template <class Shape>
__device__ void read_right(double (&right)[2], const LanePlace<Shape>& at, const double* b,
                           int across, int k) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    right[i] = b[(k + at.place + 4 * i) * Shape::stride_b + at.column + 8 * across + at.group];
  }
}

// Operands are read ahead: a scheduler has too few warps to hide the reads of one behind the
// products of another. There are registers for 16 rows of A and the columns of B twice.
template <class Shape, int together>
__device__ void multiply_steps(Sums<Shape>& sum, Slices<Shape, together>& slices) {
  constexpr int steps = Shape::depth / 8, down = Shape::down, across = Shape::across;
  static_assert(steps % 2 == 0);
  const LanePlace<Shape> at{};
  double left[2][4], right[2][across][2];
  const auto read_columns = [&](int into, const double* a, int k) {
#pragma unroll
    for (int c = 0; c < across; ++c) read_right(right[into][c], at, slices.b(a), c, k);
  };
  read_left(left[0], at, slices.a(0), 0, 0);
  read_columns(0, slices.a(0), 0);
  for (int slice = 0; slice < slices.count; ++slice) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int d = 0; d < down; ++d) {
        const int now = (step * down + d) % 2, then = 1 - now;  // of `left`
        if (d + 1 < down) {
          read_left(left[then], at, slices.a(slice), d + 1, 8 * step);
        } else {
          const bool last = step == steps - 1;
          if (last) slices.advance(slice);
          const double* const next = slices.a(last ? slice + 1 : slice);
          read_left(left[then], at, next, 0, last ? 0 : 8 * (step + 1));
          read_columns((step + 1) % 2, next, last ? 0 : 8 * (step + 1));
        }
#pragma unroll
        for (int c = 0; c < across; ++c) {
          const auto& b = right[step % 2][c];
          multiply_add(sum[d][c], left[now], b[0], b[1]);
        }
      }
    }
  }
}

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
  const auto row_tiles = static_cast<unsigned>((kernel.c.rows + Shape::rows - 1) / Shape::rows);
  const std::int64_t first_row = std::int64_t{blockIdx.x % row_tiles} * Shape::rows;
  const std::int64_t first_column = std::int64_t{blockIdx.x / row_tiles} * Shape::columns;
  Slices<Shape, together> slices(kernel, product_memory, first_row, first_column);
  Sums<Shape> sum = {};
  slices.begin();
  multiply_steps(sum, slices);
  store(kernel, LanePlace<Shape>{}, first_row, first_column, sum);
}

// Pairs of doubles may be copied at once where no pair crosses the end of a row.
bool in_pairs(const ConstProductMatrix& m) {
  return m.stride % 2 == 0 && m.columns % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
}

std::int64_t tiles_of(std::int64_t count, int tile) { return (count + tile - 1) / tile; }

template <class Shape>
std::int64_t tiles_of(const MatrixProduct& kernel) {
  return tiles_of(kernel.c.rows, Shape::rows) * tiles_of(kernel.c.columns, Shape::columns);
}

template <class Shape, int together>
void launch_tiles_of(const MatrixProduct& kernel, Queue& queue) {
  reserve_shared(queue, multiply<Shape, together>, Shape::shared_bytes, MatrixProduct::name);
  const auto blocks = static_cast<unsigned>(tiles_of<Shape>(kernel));
  multiply<Shape, together>
      <<<blocks, block_size, Shape::shared_bytes, stream_of(queue)>>>(DoubleProduct(kernel));
  check_launch(MatrixProduct::name);
}

// The order of each sum does not depend on the tile.
template <int together>
void launch_with(const MatrixProduct& kernel, Queue& queue) {
  constexpr std::int64_t many = 3;  // large tiles for each multiprocessor
  const DeviceLimits& limits = limits_of(queue);
  const std::int64_t units = limits.multiprocessors;
  if (tiles_of<LargeTile>(kernel) >= many * units &&
      limits.shared_bytes >= static_cast<std::int64_t>(LargeTile::shared_bytes)) {
    return launch_tiles_of<LargeTile, together>(kernel, queue);
  }
  if (tiles_of<SmallTile>(kernel) >= units) {
    return launch_tiles_of<SmallTile, together>(kernel, queue);
  }
  if (2 * tiles_of<NarrowTile>(kernel) >= units) {
    return launch_tiles_of<NarrowTile, together>(kernel, queue);
  }
  launch_tiles_of<TinyTile, together>(kernel, queue);
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
