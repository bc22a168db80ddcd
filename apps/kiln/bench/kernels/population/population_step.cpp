// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include "bench/population_fixture.hpp"

namespace kiln::cli {
namespace population_step_bench {

PreparedKernel prepare(BenchContext& context, std::int64_t groups, std::int64_t replicas,
                       bool at_once) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<PopulationArrays>(queue, groups, replicas);
  const auto launch = [data, at_once, &queue](std::uint32_t) {
    PopulationStep kernel;
    kernel.energy = data->energy.view();
    kernel.populations = data->populations.view();
    kernel.choice = data->choice.view();
    kernel.beta = data->beta.view();
    kernel.begins = data->begins.view();
    kernel.weight = data->weight.view();
    kernel.parts = data->step_parts.view();
    if (at_once) kernel.arrivals = data->arrivals.view();
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
  const auto one = [](std::string shape, std::int64_t groups, std::int64_t replicas, bool at_once) {
    return KernelCase{std::move(shape), [=](BenchContext& context) {
                        return prepare(context, groups, replicas, at_once);
                      }};
  };
  return {one("65536 replicas", 1, 65536, true),
          one("65536 replicas, a launch for each pass", 1, 65536, false),
          one("64 populations of 1024 replicas", 64, 1024, true),
          one("64 populations of 1024 replicas, a launch for each pass", 64, 1024, false)};
}

}  // namespace kiln::cli
