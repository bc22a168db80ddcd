// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include <algorithm>

#include "kiln/alarm.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t columns_per_task = 64;
constexpr std::int64_t rows_per_look = 16;

// In place, columns first, ..., end - 1; given up where the alarm is due.
template <bool forward>
void solve(const SolvingOrder<forward>& order, const View2<double>& x, std::int64_t first,
           std::int64_t end, const Alarm* alarm) {
  for (std::int64_t p = 0; p < x.rows; ++p) {
    if (alarm != nullptr && p % rows_per_look == 0) end_if_due(*alarm);
    double* const row = &x(order.row(p), 0);
    for (std::int64_t q = 0; q < p; ++q) {
      const double factor = order(p, q);
      const double* const known = &x(order.row(q), 0);
      for (std::int64_t c = first; c < end; ++c) row[c] -= factor * known[c];
    }
    const double pivot = order(p, p);
    for (std::int64_t c = first; c < end; ++c) row[c] /= pivot;
  }
}

void solve_columns(const BatchedTriangularSolve& kernel, std::int64_t item, std::int64_t first,
                   const Alarm* alarm) {
  const View2<const double> factor = kernel.factor[item], right = kernel.right[item];
  const View2<double> x = kernel.solution[item];
  const std::int64_t end = std::min(x.columns, first + columns_per_task);
  if (x.data != right.data) {
    for (std::int64_t r = 0; r < x.rows; ++r) {
      std::copy_n(&right(r, first), end - first, &x(r, first));
    }
  }
  if (kernel.form != TriangularForm::backward) solve<true>({factor}, x, first, end, alarm);
  if (kernel.form != TriangularForm::forward) solve<false>({factor}, x, first, end, alarm);
}

}  // namespace

template <>
void launch(const BatchedTriangularSolve& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t parts = (kernel.solution.columns + columns_per_task - 1) / columns_per_task;
  pool_of(queue).for_each(kernel.solution.items * parts, [&](std::int64_t task) {
    solve_columns(kernel, task / parts, task % parts * columns_per_task, queue.alarm());
  });
}

}  // namespace kiln::cpu
