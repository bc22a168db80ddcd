// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include <algorithm>

#include "blocked_solve.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t columns_per_task = 64;

void solve_columns(const BatchedTriangularSolve& kernel, std::int64_t item, std::int64_t first,
                   const BlockedSolver& solver) {
  const View2<const double> factor = kernel.factor[item], right = kernel.right[item];
  const View2<double> x = kernel.solution[item];
  const std::int64_t end = std::min(x.columns, first + columns_per_task);
  if (x.data != right.data) {
    for (std::int64_t r = 0; r < x.rows; ++r) {
      std::copy_n(&right(r, first), end - first, &x(r, first));
    }
  }
  const View2<double> mine{x.data + first, x.rows, end - first, x.stride};
  if (kernel.form != TriangularForm::backward) solver.solve<true>(factor, mine);
  if (kernel.form != TriangularForm::forward) solver.solve<false>(factor, mine);
}

}  // namespace

template <>
void launch(const BatchedTriangularSolve& kernel, Queue& queue) {
  if (!kernel.active()) return;
  const std::int64_t parts = (kernel.solution.columns + columns_per_task - 1) / columns_per_task;
  const BlockedSolver solver(queue.alarm());
  pool_of(queue).for_each(kernel.solution.items * parts, [&](std::int64_t task) {
    solve_columns(kernel, task / parts, task % parts * columns_per_task, solver);
  });
}

}  // namespace kiln::cpu
