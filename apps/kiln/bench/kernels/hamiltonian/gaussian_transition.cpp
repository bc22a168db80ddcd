// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace gaussian_transition_bench {

KernelCase case_of(std::int64_t dimension, std::int64_t chains, bool at_once) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<BatchedArrays>(queue, dimension, chains);
    std::vector<double> identity(static_cast<std::size_t>(dimension * dimension));
    for (std::int64_t i = 0; i < dimension; ++i) {
      identity[static_cast<std::size_t>(i * (dimension + 1))] = 1;
    }
    const auto precision = std::make_shared<DeviceArray<double>>(queue, identity);
    const auto launch = [=, &queue](std::uint32_t step) {
      auto kernel = data->kernel<GaussianTransition>(step);
      kernel.precision = {precision->data(), dimension, dimension, dimension};
      if (at_once) return queue.launch(kernel);
      kernel.launch_parts([&](const auto& part) { queue.launch(part); });
    };
    PreparedKernel prepared{{launch}, 40.0 * data->values()};
    prepared.gradients = 50.0 * static_cast<double>(chains);
    return prepared;
  };
  std::string shape = std::to_string(chains) + " chains in " + std::to_string(dimension) +
                      " dimensions, 50 leapfrogs";
  return {at_once ? shape : shape + ", a launch for each part", prepare};
}

}  // namespace gaussian_transition_bench

template <>
std::vector<KernelCase> bench_cases<GaussianTransition>() {
  using namespace gaussian_transition_bench;
  return {case_of(64, 1024, true),  case_of(64, 1024, false), case_of(10, 1024, true),
          case_of(10, 1024, false), case_of(64, 16384, true), case_of(64, 16384, false)};
}

}  // namespace kiln::cli
