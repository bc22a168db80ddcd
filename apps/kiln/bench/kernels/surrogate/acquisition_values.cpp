// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_values.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace acquisition_values_bench {

struct AcquisitionArrays {
  AcquisitionArrays(Queue& queue, std::int64_t points)
      : mean(queue, ProcessArrays::draw(points)),
        variance(queue, std::vector<double>(static_cast<std::size_t>(points), 0.01)),
        best(queue, std::vector<double>{0.1}),
        value(queue, points),
        by_mean(queue, points),
        by_deviation(queue, points) {}
  DeviceArray<double> mean, variance, best, value, by_mean, by_deviation;
};

// Gains from -9 to 1 standard deviations: half of the points are in the tail.
KernelCase case_of(std::int64_t points) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<AcquisitionArrays>(queue, points);
    const auto launch = [data, points, &queue](std::uint32_t) {
      AcquisitionValues kernel;
      kernel.mean = data->mean.view();
      kernel.variance = data->variance.view();
      kernel.group_size = points;
      kernel.best = data->best.view();
      kernel.value = data->value.view();
      kernel.by_mean = data->by_mean.view();
      kernel.by_deviation = data->by_deviation.view();
      queue.launch(kernel);
    };
    return {{launch}, 5.0 * static_cast<double>(data->mean.bytes())};
  };
  return {std::to_string(points) + " points", prepare};
}

}  // namespace acquisition_values_bench

template <>
std::vector<KernelCase> bench_cases<AcquisitionValues>() {
  using namespace acquisition_values_bench;
  return {case_of(4096), case_of(1 << 20)};
}

}  // namespace kiln::cli
