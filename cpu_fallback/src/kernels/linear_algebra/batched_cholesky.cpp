// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include <cmath>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t columns_per_look = 8;

// The lower triangle of a matrix on its way to its factor, and a column of it side by side, so that
// the innermost loop goes along rows of both.
struct Work {
  explicit Work(std::int64_t n_)
      : n(n_), values(static_cast<std::size_t>(n_ * n_)), column(static_cast<std::size_t>(n_)) {}
  double* row(std::int64_t i) { return values.data() + i * n; }

  std::int64_t n;
  std::vector<double> values, column;
};

void load(const View2<const double>& matrix, double added, Work& work) {
  for (std::int64_t i = 0; i < work.n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) work.row(i)[j] = matrix(i, j);
    work.row(i)[i] += added;
  }
}

// Column after column, each taken off what is to the right of it at once. False: a pivot is not
// positive, `pivot` is it. A matrix of thousands of rows takes seconds, so that it is given up
// within.
bool factor(Work& work, double& pivot, const Alarm* alarm) {
  const std::int64_t n = work.n;
  std::vector<double> least(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    least[static_cast<std::size_t>(i)] = BatchedCholesky::min_pivot(n, work.row(i)[i]);
  }
  double* const column = work.column.data();
  for (std::int64_t k = 0; k < n; ++k) {
    if (alarm != nullptr && k % columns_per_look == 0) end_if_due(*alarm);
    pivot = work.row(k)[k];
    if (!(pivot > 0 && pivot > least[static_cast<std::size_t>(k)] && std::isfinite(pivot))) {
      return false;
    }
    const double root = std::sqrt(pivot);
    work.row(k)[k] = root;
    for (std::int64_t i = k + 1; i < n; ++i) column[i] = work.row(i)[k] /= root;
    for (std::int64_t i = k + 1; i < n; ++i) {
      double* const row = work.row(i);
      const double left = column[i];
      for (std::int64_t j = k + 1; j <= i; ++j) row[j] -= left * column[j];
    }
  }
  return true;
}

double mean_diagonal(const View2<const double>& matrix) {
  double sum = 0;
  for (std::int64_t i = 0; i < matrix.rows; ++i) sum += matrix(i, i);
  return sum / static_cast<double>(matrix.rows);
}

void factor_item(const BatchedCholesky& kernel, std::int64_t item, const Alarm* alarm) {
  const View2<const double> matrix = kernel.matrix[item];
  const std::int64_t n = matrix.rows;
  Work work(n);
  BatchedCholesky::Attempts attempts;
  for (bool again = true; again;) {
    load(matrix, attempts.added, work);
    double pivot = 0;
    again = !factor(work, pivot, alarm);
    if (!again) {
      attempts.succeed();
    } else {
      again = attempts.again(kernel, pivot, mean_diagonal(matrix));
    }
  }
  const View2<double> out = kernel.factor[item];
  double log_determinant = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    log_determinant += 2 * std::log(work.row(i)[i]);
    for (std::int64_t j = 0; j <= i; ++j) {
      out(i, j) = attempts.failed() ? exact::not_a_number() : work.row(i)[j];
    }
    for (std::int64_t j = i + 1; j < n; ++j) out(i, j) = 0;
  }
  kernel.store(item, attempts, log_determinant);
}

}  // namespace

template <>
void launch(const BatchedCholesky& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.matrix", BatchedCholesky::refusal);
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.matrix.items,
                          [&](std::int64_t item) { factor_item(kernel, item, queue.alarm()); });
}

}  // namespace kiln::cpu
