// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kiln/errors.hpp"

#include "eigen_product.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t tile_rows = 4, tile_columns = 32;  // of C, in registers and the first cache

using ProductTile = std::int32_t[tile_rows][tile_columns];

// The sums of a tile of C. What lies beyond the end is computed and not stored, so that the loops
// over a tile have a constant length.
void multiply_tile(const View2<const std::int8_t>& a, const View2<const std::int8_t>& b,
                   std::int64_t row, std::int64_t column, ProductTile& sum) {
  const std::int64_t columns = std::min(tile_columns, b.columns - column);
  std::int32_t line[tile_columns] = {};
  for (std::int64_t k = 0; k < a.columns; ++k) {
    std::copy_n(&b(k, column), columns, line);
    for (std::int64_t r = 0; r < tile_rows; ++r) {
      const std::int32_t factor = a(std::min(row + r, a.rows - 1), k);
      for (std::int64_t j = 0; j < tile_columns; ++j) sum[r][j] += factor * line[j];
    }
  }
}

template <class Out>
void store_tile(const MatrixProduct& kernel, std::int64_t row, std::int64_t column,
                const ProductTile& sum) {
  const View2<Out> c = kernel.c.view<Out>();
  const std::int64_t rows = std::min(tile_rows, c.rows - row);
  const std::int64_t columns = std::min(tile_columns, c.columns - column);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if constexpr (std::is_same_v<Out, std::int32_t>) {
        c(row + r, column + j) = sum[r][j];
      } else {
        c(row + r, column + j) =
            static_cast<Out>(kernel.epilogue(static_cast<double>(sum[r][j]), row + r, column + j));
      }
    }
  }
}

template <class Out>
void multiply_integers(const MatrixProduct& kernel, Queue& queue) {
  const std::int64_t across = (kernel.c.columns + tile_columns - 1) / tile_columns;
  const std::int64_t down = (kernel.c.rows + tile_rows - 1) / tile_rows;
  pool_of(queue).for_each(down, [&](std::int64_t r) {
    for (std::int64_t c = 0; c < across; ++c) {
      ProductTile sum = {};
      multiply_tile(kernel.a.view<std::int8_t>(), kernel.b.view<std::int8_t>(), r * tile_rows,
                    c * tile_columns, sum);
      store_tile<Out>(kernel, r * tile_rows, c * tile_columns, sum);
    }
  });
}

// Reals are multiplied in double: the products of floats are exact, so every path meets its
// contract.
constexpr std::int64_t columns_per_task = 240;  // whole registers of any instruction set
constexpr std::int64_t rows_at_least = 16, rows_at_most = 256, tasks_per_thread = 4;

struct RealTask {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;  // a block of C
};

void multiply_doubles(const MatrixProduct& kernel, const RealTask& task, View2<double> c) {
  const View2<const double> a = kernel.a.view<double>(), b = kernel.b.view<double>();
  ProductBlock<double> block;
  block.rows = task.rows;
  block.columns = task.columns;
  block.inner = a.columns;
  block.a = a.data + task.row * a.stride;
  block.b = b.data + task.column;
  block.c = c.data;
  block.a_stride = a.stride;
  block.b_stride = b.stride;
  block.c_stride = c.stride;
  eigen_products().in_double(block);
}

// As many terms at a time as are added up before they are added to C, so with the same bits.
void multiply_floats(const MatrixProduct& kernel, const RealTask& task, View2<double> c) {
  constexpr std::int64_t terms = EigenProducts::inner_per_pass;
  const View2<const float> a = kernel.a.view<float>(), b = kernel.b.view<float>();
  std::vector<double> left(static_cast<std::size_t>(task.rows * terms));
  std::vector<double> right(static_cast<std::size_t>(terms * task.columns));
  ProductBlock<double> block;
  block.rows = task.rows;
  block.columns = task.columns;
  block.a = left.data();
  block.b = right.data();
  block.c = c.data;
  block.a_stride = terms;
  block.b_stride = task.columns;
  block.c_stride = c.stride;
  for (std::int64_t k = 0; k == 0 || k < a.columns; k += terms) {
    block.inner = std::min(terms, a.columns - k);
    for (std::int64_t r = 0; r < task.rows; ++r) {
      std::copy_n(a.data + (task.row + r) * a.stride + k, block.inner, left.data() + r * terms);
    }
    for (std::int64_t i = 0; i < block.inner; ++i) {
      std::copy_n(b.data + (k + i) * b.stride + task.column, task.columns,
                  right.data() + i * task.columns);
    }
    eigen_products().in_double(block);
    block.use = ProductUse::add;
  }
}

// Finished in place, or from doubles of the task where C has floats.
template <class Out>
void multiply_real_block(const MatrixProduct& kernel, const RealTask& task) {
  const View2<Out> c = kernel.c.view<Out>();
  std::vector<double> room;
  View2<double> sums{nullptr, task.rows, task.columns, task.columns};
  if constexpr (std::is_same_v<Out, double>) {
    sums.data = &c(task.row, task.column);
    sums.stride = c.stride;
  } else {
    room.resize(static_cast<std::size_t>(task.rows * task.columns));
    sums.data = room.data();
  }
  if (kernel.a.element == ProductElement::float32) {
    multiply_floats(kernel, task, sums);
  } else {
    multiply_doubles(kernel, task, sums);
  }
  if (std::is_same_v<Out, double> && !kernel.epilogue.changes()) return;
  for (std::int64_t r = 0; r < task.rows; ++r) {
    for (std::int64_t j = 0; j < task.columns; ++j) {
      const std::int64_t row = task.row + r, column = task.column + j;
      c(row, column) = static_cast<Out>(kernel.epilogue(sums(r, j), row, column));
    }
  }
}

// Blocks of C may follow the number of threads, because the bits of an element do not depend on its
// block.
template <class Out>
void multiply_reals(const MatrixProduct& kernel, Queue& queue) {
  const QueueThreads threads = pool_of(queue);
  const std::int64_t across = (kernel.c.columns + columns_per_task - 1) / columns_per_task;
  const std::int64_t wanted =
      std::max<std::int64_t>(1, tasks_per_thread * threads.pool.threads() / across);
  const std::int64_t share = (kernel.c.rows + wanted - 1) / wanted;
  const std::int64_t rows = std::clamp((share + 3) / 4 * 4, rows_at_least, rows_at_most);
  const std::int64_t down = (kernel.c.rows + rows - 1) / rows;
  threads.for_each(down * across, [&](std::int64_t i) {
    RealTask task;
    task.row = i / across * rows;
    task.column = i % across * columns_per_task;
    task.rows = std::min(rows, kernel.c.rows - task.row);
    task.columns = std::min(columns_per_task, kernel.c.columns - task.column);
    multiply_real_block<Out>(kernel, task);
  });
}

}  // namespace

template <>
void launch(const MatrixProduct& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.matrix_product", MatrixProduct::refusal);
  if (!kernel.active() || kernel.c.rows == 0 || kernel.c.columns == 0) return;
  if (kernel.c.element == ProductElement::int32) {
    return multiply_integers<std::int32_t>(kernel, queue);
  }
  const bool from_integers = kernel.a.element == ProductElement::int8;
  if (kernel.c.element == ProductElement::float64) {
    return from_integers ? multiply_integers<double>(kernel, queue)
                         : multiply_reals<double>(kernel, queue);
  }
  return from_integers ? multiply_integers<float>(kernel, queue)
                       : multiply_reals<float>(kernel, queue);
}

}  // namespace kiln::cpu
