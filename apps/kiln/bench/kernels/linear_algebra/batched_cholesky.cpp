// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace batched_cholesky_bench {

struct FactorArrays {
  FactorArrays(Queue& queue, std::int64_t items, std::int64_t n)
      : process(queue, items, n, 10),
        factor(queue, items * n * n),
        jitter(queue, items),
        log_determinant(queue, items),
        status(queue, items) {
    queue.launch(process.covariance());
  }
  BatchedCholesky kernel() {
    BatchedCholesky of;
    const std::int64_t n = process.count;
    of.matrix = MatrixBatch<const double>::dense(process.matrix.data(), process.items, n, n);
    of.factor = MatrixBatch<double>::dense(factor.data(), process.items, n, n);
    of.jitter = jitter.view();
    of.log_determinant = log_determinant.view();
    of.status = status.view();
    return of;
  }

  ProcessArrays process;
  DeviceArray<double> factor, jitter, log_determinant;
  DeviceArray<FactorStatus> status;
};

KernelCase case_of(std::int64_t items, std::int64_t n, std::optional<double> gate_us) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<FactorArrays>(queue, items, n);
    Launches launches{[data, &queue](std::uint32_t) { queue.launch(data->kernel()); }};
    launches.most = 20;
    return {launches, 1.5 * static_cast<double>(data->factor.bytes())};
  };
  return {std::to_string(items) + (items > 1 ? " matrices of " : " matrix of ") +
              std::to_string(n) + " rows",
          prepare, gate_us};
}

}  // namespace batched_cholesky_bench

template <>
std::vector<KernelCase> bench_cases<BatchedCholesky>() {
  using namespace batched_cholesky_bench;
  return {case_of(1024, 64, std::nullopt), case_of(1024, 128, 500.0),
          case_of(64, 512, std::nullopt), case_of(64, 1000, 5000.0), case_of(1, 1000, 1500.0)};
}

}  // namespace kiln::cli
