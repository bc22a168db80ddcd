// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include "bench/population_fixture.hpp"

namespace kiln::cli {
namespace population_step_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<PopulationArrays>(queue, 1, 65536);
  const auto launch = [data, &queue](std::uint32_t) {
    PopulationStep kernel;
    kernel.energy = data->energy.view();
    kernel.populations = data->populations.view();
    kernel.choice = data->choice.view();
    kernel.beta = data->beta.view();
    kernel.begins = data->begins.view();
    kernel.weight = data->weight.view();
    kernel.parts = data->step_parts.view();
    kernel.ends = data->ends.view();
    kernel.records = data->records.view();
    kernel.history = data->history.view();
    kernel.totals = data->totals.view();
    kernel.group_size = data->replicas;
    kernel.plan.beta_max = 1e9;  // no round ends while it is measured
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 16.0 * static_cast<double>(data->slots())};
}

}  // namespace population_step_bench

template <>
std::vector<KernelCase> bench_cases<PopulationStep>() {
  using namespace population_step_bench;
  return {{"65536 replicas", prepare}};
}

}  // namespace kiln::cli
