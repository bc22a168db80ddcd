// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include <memory>
#include <string>

#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace batched_triangular_solve_bench {

// Factors of covariance matrices.
struct SystemArrays {
  SystemArrays(Queue& queue, std::int64_t items, std::int64_t n, std::int64_t columns_)
      : process(queue, items, n, 10),
        lower(queue, items * n * n),
        right(queue, ProcessArrays::draw(items * n * columns_)),
        solution(queue, items * n * columns_),
        columns(columns_) {
    queue.launch(process.covariance());
    BatchedCholesky cholesky;
    cholesky.matrix = MatrixBatch<const double>::dense(process.matrix.data(), items, n, n);
    cholesky.factor = MatrixBatch<double>::dense(lower.data(), items, n, n);
    queue.launch(cholesky);
  }
  MatrixBatch<const double> factor() const {
    const std::int64_t n = process.count;
    return MatrixBatch<const double>::dense(lower.data(), process.items, n, n);
  }
  BatchedTriangularSolve kernel(TriangularForm form) {
    BatchedTriangularSolve of;
    const std::int64_t items = process.items, n = process.count;
    of.form = form;
    of.factor = factor();
    of.right = MatrixBatch<const double>::dense(right.data(), items, n, columns);
    of.solution = MatrixBatch<double>::dense(solution.data(), items, n, columns);
    return of;
  }

  ProcessArrays process;
  DeviceArray<double> lower, right, solution;
  std::int64_t columns;
};

KernelCase case_of(std::int64_t items, std::int64_t n, std::int64_t columns, TriangularForm form,
                   std::optional<double> gate_us = std::nullopt) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<SystemArrays>(queue, items, n, columns);
    Launches launches{[data, form, &queue](std::uint32_t) { queue.launch(data->kernel(form)); }};
    launches.most = 20;
    return {launches, static_cast<double>(data->lower.bytes()) / 2 +
                          static_cast<double>(2 * data->right.bytes())};
  };
  return {std::to_string(items) + (items > 1 ? " systems of " : " system of ") + std::to_string(n) +
              " unknowns, " + std::to_string(columns) +
              (columns == 1 ? " right-hand side" : " right-hand sides"),
          prepare, gate_us};
}

}  // namespace batched_triangular_solve_bench

template <>
std::vector<KernelCase> bench_cases<BatchedTriangularSolve>() {
  using namespace batched_triangular_solve_bench;
  return {case_of(1024, 128, 1, TriangularForm::both),
          case_of(1024, 128, 64, TriangularForm::forward),
          case_of(1, 1000, 1000, TriangularForm::both, 2000.0),
          case_of(1, 1000, 4096, TriangularForm::forward, 1500.0)};
}

}  // namespace kiln::cli
