// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/gp_covariance.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace gp_covariance_bench {

KernelCase case_of(std::int64_t items, std::int64_t points, std::optional<double> gate_us) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<ProcessArrays>(queue, items, points, 10);
    const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->covariance()); };
    return {{launch}, static_cast<double>(data->points.bytes() + data->matrix.bytes())};
  };
  return {(items > 1 ? std::to_string(items) + " sets of " : "") + std::to_string(points) +
              " points in 10 dimensions",
          prepare, gate_us};
}

}  // namespace gp_covariance_bench

template <>
std::vector<KernelCase> bench_cases<GpCovariance>() {
  using namespace gp_covariance_bench;
  return {case_of(1, 100, 10.0), case_of(1, 1000, 25.0), case_of(1024, 128, std::nullopt)};
}

}  // namespace kiln::cli
