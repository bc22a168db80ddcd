// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/scalarize_objectives.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace scalarize_objectives_bench {

struct ScalarArrays {
  ScalarArrays(Queue& queue, std::int64_t groups, std::int64_t size, std::int64_t objectives)
      : pool(queue, groups, size, objectives),
        weight(queue, 1, groups, objectives),
        ideal(queue, filled(objectives, 0)),
        nadir(queue, filled(objectives, 1)) {}
  PoolArrays pool;
  PointArrays weight;
  DeviceArray<double> ideal, nadir;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<ScalarArrays>(queue, 100, 1000, 3);
  const auto launch = [data, &queue](std::uint32_t) {
    ScalarizeObjectives kernel;
    kernel.replicas = data->pool.count();
    kernel.group_size = data->pool.groups().size;
    kernel.value = data->pool.points.values();
    kernel.violation = data->pool.violation.view();
    kernel.ideal = data->ideal.view();
    kernel.nadir = data->nadir.view();
    kernel.weight = data->weight.values();
    kernel.scalarization.kind = ScalarizationKind::augmented_chebyshev;
    kernel.energy = data->pool.score.view();
    queue.launch(kernel);
  };
  return {{launch},
          data->pool.points.bytes() +
              static_cast<double>(data->pool.violation.bytes() + data->pool.score.bytes())};
}

}  // namespace scalarize_objectives_bench

template <>
std::vector<KernelCase> bench_cases<ScalarizeObjectives>() {
  using namespace scalarize_objectives_bench;
  return {{"100000 slots, 3 objectives", prepare}};
}

}  // namespace kiln::cli
