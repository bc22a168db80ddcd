// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ar_forecast.hpp"

#include <memory>
#include <vector>

#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace ar_forecast_bench {

constexpr std::int64_t order = 4, horizon = 32;

struct Arrays {
  DeviceArray<double> last, coefficients, noise, mean, variance, psi;
};

PreparedKernel prepare(BenchContext& context, std::int64_t series) {
  Queue& queue = context.queue();
  const auto constant = [&queue, series](std::int64_t rows, double value) {
    return DeviceArray<double>(queue,
                               std::vector<double>(static_cast<std::size_t>(rows * series), value));
  };
  const auto arrays = std::make_shared<Arrays>(Arrays{constant(order, 1), constant(order + 1, 0.2),
                                                      constant(1, 1), constant(horizon, 0),
                                                      constant(horizon, 0), constant(horizon, 0)});
  ArForecast kernel;
  kernel.last = {arrays->last.data(), order, series, series};
  kernel.coefficients = {arrays->coefficients.data(), order + 1, series, series};
  kernel.noise_variance = arrays->noise.view();
  kernel.mean = {arrays->mean.data(), horizon, series, series};
  kernel.variance = {arrays->variance.data(), horizon, series, series};
  kernel.psi = {arrays->psi.data(), horizon, series, series};
  const auto launch = [arrays, kernel, &queue](std::uint32_t) { queue.launch(kernel); };
  return {{launch}, kernel.bytes(), 0, series};
}

}  // namespace ar_forecast_bench

template <>
std::vector<KernelCase> bench_cases<ArForecast>() {
  using namespace ar_forecast_bench;
  return {{"1024 series, order 4, 32 steps",
           [](BenchContext& context) { return prepare(context, 1024); }},
          {"65536 series, order 4, 32 steps",
           [](BenchContext& context) { return prepare(context, 65536); }}};
}

}  // namespace kiln::cli
