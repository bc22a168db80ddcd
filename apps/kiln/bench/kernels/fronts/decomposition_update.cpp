// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/decomposition_update.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace decomposition_update_bench {

struct DecompositionArrays {
  DecompositionArrays(Queue& queue, std::int64_t groups, std::int64_t problems,
                      std::int64_t n_objectives, std::int64_t n_near)
      : objectives(n_objectives),
        near(n_near),
        pool(queue, groups, 2 * problems, objectives),
        weight(queue, 1, problems, objectives),
        neighbors(queue, PoolArrays::neighbors(near, problems)),
        ideal(queue, filled(objectives * groups, 0)),
        nadir(queue, filled(objectives * groups, 1)),
        bids(queue, DecompositionUpdate::max_replacements * groups * problems),
        source(queue, groups * problems) {}
  std::int64_t objectives, near;
  PoolArrays pool;
  PointArrays weight;
  DeviceArray<std::int32_t> neighbors;
  DeviceArray<double> ideal, nadir;
  DeviceArray<std::int32_t> bids, source;
};

// After the first launch residents are as good as the children can make them.
KernelCase case_of(std::int64_t groups, std::int64_t problems) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<DecompositionArrays>(queue, groups, problems, 3, 20);
    const auto launch = [data, &queue](std::uint32_t) {
      DecompositionUpdate kernel;
      kernel.groups = data->pool.groups();
      kernel.value = data->pool.values();
      kernel.violation = data->pool.violation.view();
      kernel.weight = data->weight.values();
      kernel.neighbors = table_of(data->neighbors, data->near);
      kernel.ideal = table_of(data->ideal, data->objectives);
      kernel.nadir = table_of(data->nadir, data->objectives);
      kernel.bids = matrix_of(data->bids, DecompositionUpdate::max_replacements);
      kernel.source = data->source.view();
      kernel.control = data->pool.control.data();
      queue.launch(kernel);
    };
    return {{launch},
            data->pool.points.bytes() + data->weight.bytes() +
                static_cast<double>(data->pool.violation.bytes() + data->neighbors.bytes() +
                                    2 * data->bids.bytes() + data->source.bytes())};
  };
  return {shape_of_pools(groups, problems) + " subproblems, 3 objectives, 20 neighbours", prepare};
}

}  // namespace decomposition_update_bench

template <>
std::vector<KernelCase> bench_cases<DecompositionUpdate>() {
  using namespace decomposition_update_bench;
  return {case_of(64, 91), case_of(1, 1000)};
}

}  // namespace kiln::cli
