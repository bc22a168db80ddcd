// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kiln/errors.hpp"

#include "blocked_solve.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t rows_per_task = 64;
constexpr std::int64_t shared_from = 256;  // rows of a part on which several threads work

using ForEach = FunctionRef<void(std::int64_t, FunctionRef<void(std::int64_t)>)>;

// A matrix on its way to its factor, by halves: the factor of one half, the rows below it as the
// solutions of a triangular system, their squares taken off the other half, and its factor.
class Factorization {
 public:
  Factorization(const View2<const double>& matrix, const BlockedSolver& solver, ForEach for_each)
      : matrix_(matrix),
        solver_(solver),
        for_each_(for_each),
        n_(matrix.rows),
        values_(static_cast<std::size_t>(n_ * n_)),
        turned_(static_cast<std::size_t>(n_ * n_ / 4 + n_ * BlockedSolver::undivided)),
        least_(static_cast<std::size_t>(n_)) {}

  const double* row(std::int64_t i) const { return values_.data() + i * n_; }
  /// @return whether all pivots are positive; if not, `pivot` is the first other one.
  bool run(double added, double& pivot) {
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) at(i)[j] = matrix_(i, j);
      at(i)[i] += added;
      least_[static_cast<std::size_t>(i)] = BatchedCholesky::min_pivot(n_, at(i)[i]);
    }
    return factor(0, n_, pivot);
  }

 private:
  double* at(std::int64_t i) { return values_.data() + i * n_; }

  bool factor(std::int64_t first, std::int64_t count, double& pivot) {
    if (count <= BlockedSolver::undivided) return factor_undivided(first, count, pivot);
    const std::int64_t half = BlockedSolver::half(count), below = count - half;
    if (!factor(first, half, pivot)) return false;
    const std::int64_t parts = (below + rows_per_task - 1) / rows_per_task;
    share(parts, count, [&](std::int64_t part) { solve_rows(first, half, below, part); });
    share(parts, count, [&](std::int64_t part) { subtract_squares(first, half, below, part); });
    return factor(first + half, below, pivot);
  }

  void share(std::int64_t parts, std::int64_t count, FunctionRef<void(std::int64_t)> task) {
    if (count >= shared_from) return for_each_(parts, task);
    for (std::int64_t part = 0; part < parts; ++part) task(part);
  }

  // Column after column, each taken off what is to the right of it at once.
  bool factor_undivided(std::int64_t first, std::int64_t count, double& pivot) {
    double column[BlockedSolver::undivided];
    for (std::int64_t k = 0; k < count; ++k) {
      pivot = at(first + k)[first + k];
      if (!(pivot > 0 && pivot > least_[static_cast<std::size_t>(first + k)] &&
            std::isfinite(pivot))) {
        return false;
      }
      const double root = std::sqrt(pivot);
      at(first + k)[first + k] = root;
      for (std::int64_t i = k + 1; i < count; ++i) column[i] = at(first + i)[first + k] /= root;
      for (std::int64_t i = k + 1; i < count; ++i) {
        double* const rest = at(first + i) + first;
        for (std::int64_t j = k + 1; j <= i; ++j) rest[j] -= column[i] * column[j];
      }
    }
    return true;
  }

  // Rows below a factor L, as columns of right-hand sides: L x = b.
  void solve_rows(std::int64_t first, std::int64_t half, std::int64_t below, std::int64_t part) {
    const std::int64_t start = part * rows_per_task;
    const std::int64_t rows = std::min(rows_per_task, below - start);
    const View2<double> turned{turned_.data() + start, half, rows, below};
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* const from = at(first + half + start + i) + first;
      for (std::int64_t j = 0; j < half; ++j) turned(j, i) = from[j];
    }
    solver_.solve<true>({at(first) + first, half, half, n_}, turned);
    for (std::int64_t i = 0; i < rows; ++i) {
      double* const to = at(first + half + start + i) + first;
      for (std::int64_t j = 0; j < half; ++j) to[j] = turned(j, i);
    }
  }

  // Up to the end of the square on the diagonal; nothing reads what is above the diagonal.
  void subtract_squares(std::int64_t first, std::int64_t half, std::int64_t below,
                        std::int64_t part) {
    const std::int64_t start = part * rows_per_task;
    ProductBlock<double> block;
    block.a = turned_.data() + start;
    block.b = turned_.data();
    block.c = at(first + half + start) + first + half;
    block.a_stride = block.b_stride = below;
    block.c_stride = n_;
    block.rows = std::min(rows_per_task, below - start);
    block.inner = half;
    block.columns = start + block.rows;
    block.a_transposed = true;
    block.use = ProductUse::subtract;
    solver_.subtract(block);
  }

  View2<const double> matrix_;
  const BlockedSolver& solver_;
  ForEach for_each_;
  std::int64_t n_;
  std::vector<double> values_, turned_, least_;
};

double mean_diagonal(const View2<const double>& matrix) {
  double sum = 0;
  for (std::int64_t i = 0; i < matrix.rows; ++i) sum += matrix(i, i);
  return sum / static_cast<double>(matrix.rows);
}

void factor_item(const BatchedCholesky& kernel, std::int64_t item, const BlockedSolver& solver,
                 ForEach for_each) {
  const View2<const double> matrix = kernel.matrix[item];
  const std::int64_t n = matrix.rows;
  Factorization work(matrix, solver, for_each);
  BatchedCholesky::Attempts attempts;
  for (bool again = true; again;) {
    double pivot = 0;
    again = !work.run(attempts.added, pivot);
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
  const BlockedSolver solver(queue.alarm());
  const QueueThreads threads = pool_of(queue);
  const std::int64_t items = kernel.matrix.items;
  // Threads share the items, or the work on each where there are fewer. The bits are the same.
  const auto alone = [](std::int64_t count, FunctionRef<void(std::int64_t)> task) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
  };
  const auto together = [&](std::int64_t count, FunctionRef<void(std::int64_t)> task) {
    threads.for_each(count, task);
  };
  if (items >= threads.pool.threads()) {
    threads.for_each(items, [&](std::int64_t i) { factor_item(kernel, i, solver, alone); });
  } else {
    for (std::int64_t i = 0; i < items; ++i) factor_item(kernel, i, solver, together);
  }
}

}  // namespace kiln::cpu
