// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/gp_covariance.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t rows_per_task = 16;

// Squares of the scaled distances of a row's point to the first `columns` points.
void add_squares(const GpCovariance& kernel, std::int64_t item, std::int64_t row,
                 std::int64_t columns, double* square) {
  std::fill_n(square, columns, 0.0);
  const std::int64_t set = item / kernel.items_per_set;
  for (std::int64_t k = 0; k < kernel.dimension; ++k) {
    const double x = kernel.points(set, k, row);
    const double inverse = 1.0 / kernel.parameters.length_of(k, item);
    const bool categorical = kernel.axes.is_categorical(k);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double y = kernel.columns()(set, k, j);
      const double t = (categorical ? kernel.axes.distance(k, x, y) : x - y) * inverse;
      square[j] += t * t;
    }
  }
}

// A row of a matrix, in the symmetric form up to the diagonal, and what lies opposite.
template <CovarianceKind kind>
void fill_row(const GpCovariance& kernel, std::int64_t item, std::int64_t row, double variance,
              double* square) {
  const View2<double> matrix = kernel.matrix[item];
  const std::int64_t set = item / kernel.items_per_set;
  const bool symmetric = kernel.symmetric();
  const std::int64_t width = symmetric ? row + 1 : matrix.columns;
  const std::int64_t there =
      row < kernel.points.count(set) ? std::min(width, kernel.columns().count(set)) : 0;
  const double alpha = kernel.alpha_of(item);
  add_squares(kernel, item, row, there, square);
  for (std::int64_t j = 0; j < there; ++j) {
    matrix(row, j) = variance * correlation<kind>(square[j], alpha);
  }
  for (std::int64_t j = there; j < width; ++j) matrix(row, j) = kernel.missing(row, j);
  if (!symmetric) return;
  if (there > row) matrix(row, row) += kernel.parameters.noise_of(item);
  for (std::int64_t j = 0; j < row; ++j) matrix(j, row) = matrix(row, j);
}

template <CovarianceKind kind>
void fill_rows(const GpCovariance& kernel, std::int64_t item, std::int64_t first) {
  const double variance = kernel.variance_of(item);
  const std::int64_t end = std::min(kernel.matrix.rows, first + rows_per_task);
  std::vector<double> square(static_cast<std::size_t>(kernel.matrix.columns));
  for (std::int64_t row = first; row < end; ++row) {
    fill_row<kind>(kernel, item, row, variance, square.data());
  }
}

}  // namespace

template <>
void launch(const GpCovariance& kernel, Queue& queue) {
  if (!kernel.active() || kernel.matrix.columns <= 0) return;
  const std::int64_t parts = (kernel.matrix.rows + rows_per_task - 1) / rows_per_task;
  with_covariance(kernel.kind, [&](auto tag) {
    pool_of(queue).for_each(kernel.matrix.items * parts, [&](std::int64_t task) {
      fill_rows<decltype(tag)::value>(kernel, task / parts, task % parts * rows_per_task);
    });
  });
}

}  // namespace kiln::cpu
