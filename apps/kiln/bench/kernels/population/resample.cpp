// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/resample.hpp"

#include "bench/population_fixture.hpp"

namespace kiln::cli {
namespace resample_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<PopulationArrays>(queue, 1, 65536);
  const auto launch = [data, &queue](std::uint32_t) {
    Resample kernel;
    kernel.weight = data->weight.view();
    kernel.begins = data->begins.view();
    kernel.energy = data->energy.view();
    kernel.family = data->family.view();
    kernel.source = data->source.view();
    kernel.copies_before = data->copies_before.view();
    kernel.extra_before = data->extra_before.view();
    kernel.members = data->members.view();
    kernel.totals = data->totals.view();
    kernel.parts = data->resample_parts.view();
    kernel.group_size = data->replicas;
    kernel.draw_ids = {data->key.view(), data->replica.view()};
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 16.0 * static_cast<double>(data->slots())};
}

}  // namespace resample_bench

template <>
std::vector<KernelCase> bench_cases<Resample>() {
  using namespace resample_bench;
  return {{"65536 replicas", prepare}};
}

}  // namespace kiln::cli
