// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/factor_append.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace factor_append_bench {

// Factors of covariance matrices and their last rows, which are appended over and over.
struct AppendArrays {
  AppendArrays(Queue& queue, std::int64_t items, std::int64_t n, std::int64_t added_)
      : process(queue, items, n, 10),
        factor(queue, items * n * n),
        counts(queue, std::vector<std::int32_t>(static_cast<std::size_t>(items),
                                                static_cast<std::int32_t>(n - added_))),
        status(queue, items),
        added(added_) {
    queue.launch(process.covariance());
    BatchedCholesky cholesky;
    cholesky.matrix = MatrixBatch<const double>::dense(process.matrix.data(), items, n, n);
    cholesky.factor = factors();
    queue.launch(cholesky);
  }
  MatrixBatch<double> factors() {
    return MatrixBatch<double>::dense(factor.data(), process.items, process.count, process.count);
  }
  FactorAppend kernel() {
    FactorAppend of;
    const std::int64_t n = process.count;
    of.factor = factors();
    of.counts = counts.view();
    of.rows = {process.matrix.data() + (n - added) * n, process.items, added, n, n, n * n};
    of.status = status.view();
    return of;
  }

  ProcessArrays process;
  DeviceArray<double> factor;
  DeviceArray<std::int32_t> counts;
  DeviceArray<FactorStatus> status;
  std::int64_t added;
};

KernelCase case_of(std::int64_t items, std::int64_t n, std::int64_t added) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<AppendArrays>(queue, items, n, added);
    Launches launches{[data, &queue](std::uint32_t) { queue.launch(data->kernel()); }};
    launches.most = 20;
    return {launches, static_cast<double>(data->factor.bytes()) / 2};
  };
  return {std::to_string(items) + " factors of " + std::to_string(n - added) + " rows, " +
              std::to_string(added) + (added == 1 ? " row" : " rows") + " appended",
          prepare};
}

}  // namespace factor_append_bench

template <>
std::vector<KernelCase> bench_cases<FactorAppend>() {
  using namespace factor_append_bench;
  return {case_of(64, 1000, 1), case_of(64, 1000, 16)};
}

}  // namespace kiln::cli
