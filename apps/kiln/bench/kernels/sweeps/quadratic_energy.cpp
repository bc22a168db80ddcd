// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/quadratic_energy.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace quadratic_energy_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BatchedArrays>(queue);
  const auto launch = [data, &queue](std::uint32_t index) {
    static_cast<void>(index);
    const auto of_chains = data->kernel<BatchedArguments>(0);
    QuadraticEnergy kernel;
    const View2<double>& x = of_chains.trajectory.proposal;
    kernel.position = {x.data, x.rows, x.columns, x.stride};
    kernel.product = of_chains.trajectory.gradient;
    kernel.replicas = data->of_chains.chains;
    kernel.energy = of_chains.trajectory.term;
    queue.launch(kernel);
  };
  return {{launch}, 16.0 * data->values()};
}

}  // namespace quadratic_energy_bench

template <>
std::vector<KernelCase> bench_cases<QuadraticEnergy>() {
  using namespace quadratic_energy_bench;
  return {{"1024 chains in 1000 dimensions", prepare}};
}

}  // namespace kiln::cli
