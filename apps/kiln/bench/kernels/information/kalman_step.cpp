// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/kalman_step.hpp"

#include <memory>
#include <vector>

#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace kalman_step_bench {

struct Shape {
  std::int64_t filters, n, m, steps;
};

struct Arrays {
  DeviceArray<double> transition, state_noise, observation, observation_noise, rows, state,
      covariance, log_likelihood, distance;
  DeviceArray<std::int64_t> observed;
  DeviceArray<std::uint32_t> status;
};

// A matrix of `rows` x `columns` with equal elements on its diagonal, the same for all filters.
std::vector<double> diagonal(std::int64_t rows, std::int64_t columns, std::int64_t filters,
                             double value) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      all.insert(all.end(), static_cast<std::size_t>(filters), i == j ? value : 0.0);
    }
  }
  return all;
}

PreparedKernel prepare(BenchContext& context, const Shape& shape) {
  Queue& queue = context.queue();
  const std::int64_t count = shape.filters, n = shape.n, m = shape.m;
  const auto constant = [&queue](std::int64_t size, auto value) {
    return DeviceArray(queue, std::vector<decltype(value)>(static_cast<std::size_t>(size), value));
  };
  const auto arrays = std::make_shared<Arrays>(Arrays{{queue, diagonal(n, n, count, 0.9)},
                                                      {queue, diagonal(n, n, count, 0.1)},
                                                      {queue, diagonal(m, n, count, 1)},
                                                      {queue, diagonal(m, m, count, 0.5)},
                                                      constant(shape.steps * m, 1.0),
                                                      constant(n * count, 0.0),
                                                      {queue, diagonal(n, n, count, 1)},
                                                      constant(count, 0.0),
                                                      constant(count, 0.0),
                                                      constant(count, std::int64_t{0}),
                                                      constant(count, std::uint32_t{0})});
  KalmanStep kernel;
  kernel.state_size = static_cast<std::int32_t>(n);
  kernel.observation_size = static_cast<std::int32_t>(m);
  kernel.filters_per_series = count;
  kernel.transition = {arrays->transition.data(), n * n, count, count};
  kernel.state_noise = {arrays->state_noise.data(), n * n, count, count};
  kernel.observation = {arrays->observation.data(), m * n, count, count};
  kernel.observation_noise = {arrays->observation_noise.data(), m * m, count, count};
  kernel.rows = {arrays->rows.data(), shape.steps * m, 1, 1};
  kernel.state = {arrays->state.data(), n, count, count};
  kernel.covariance = {arrays->covariance.data(), n * n, count, count};
  kernel.log_likelihood = arrays->log_likelihood.view();
  kernel.distance = arrays->distance.view();
  kernel.observed = arrays->observed.view();
  kernel.status = arrays->status.view();
  const auto launch = [arrays, kernel, &queue](std::uint32_t) { queue.launch(kernel); };
  return {{launch}, kernel.bytes(), 0, count};
}

}  // namespace kalman_step_bench

template <>
std::vector<KernelCase> bench_cases<KalmanStep>() {
  using namespace kalman_step_bench;
  return {{"2048 filters, state 2, 1 observation, 64 steps",
           [](BenchContext& context) {
             return prepare(context, {2048, 2, 1, 64});
           }},
          {"2048 filters, state 8, 4 observations, 4 steps", [](BenchContext& context) {
             return prepare(context, {2048, 8, 4, 4});
           }}};
}

}  // namespace kiln::cli
