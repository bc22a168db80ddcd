// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"

#include "bench/adaptation_fixture.hpp"

namespace kiln::cli {
namespace hmc_adapt_bench {

KernelCase case_of(std::int64_t dimensions, std::int64_t chains, bool learns_length) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<AdaptationArrays>(queue, dimensions, chains);
    const auto launch = [data, learns_length, &queue](std::uint32_t) {
      const std::int64_t d = data->d;
      HmcAdapt kernel;
      kernel.plan.warmup = ~0ull;
      kernel.plan.windows = data->windows.view();
      kernel.plan.adapts_length = learns_length;
      kernel.pools = data->pools();
      kernel.statistics = data->statistics();
      kernel.position = data->vector(0);
      kernel.gradient = data->const_vector(1);
      kernel.moments = data->pool_moments();
      kernel.adaptation = data->adaptation.view();
      kernel.tuning = data->tuning.view();
      double* metric = data->metric.data();
      kernel.metric = {static_cast<int>(d), static_cast<int>(d),     {metric, d},
                       {metric + d, d * d}, {metric + d + d * d, d}, data->used.view()};
      kernel.scratch = data->scratch.view();
      kernel.control = data->control.data();
      queue.launch(kernel);
    };
    return {{launch}, 8.0 * static_cast<double>(chains), 0, chains};
  };
  return {std::to_string(dimensions) + " dimensions" + (learns_length ? ", ChEES" : ""), prepare};
}

}  // namespace hmc_adapt_bench

template <>
std::vector<KernelCase> bench_cases<HmcAdapt>() {
  using namespace hmc_adapt_bench;
  return {case_of(10, 65536, true), case_of(25, 4, false)};
}

}  // namespace kiln::cli
