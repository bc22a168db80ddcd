// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_survivors.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace select_survivors_bench {

struct SurvivalArrays {
  SurvivalArrays(Queue& queue, std::int64_t groups, std::int64_t size)
      : pool(queue, groups, size, 2),
        source(queue, groups * size / 2),
        scratch(queue, SelectSurvivors::scratch_bytes(pool.groups())) {}
  PoolArrays pool;
  DeviceArray<std::int32_t> source;
  DeviceArray<std::byte> scratch;
};

// Half of the points stay. Once a launch has put them into the places of residents, those that
// follow in a batch choose again, but exchange nothing.
KernelCase case_of(std::int64_t groups, std::int64_t size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<SurvivalArrays>(queue, groups, size);
    Launches launches{[data, size, &queue](std::uint32_t) {
      SelectSurvivors kernel;
      kernel.groups = data->pool.groups();
      kernel.residents = size / 2;
      kernel.value = data->pool.values();
      kernel.violation = data->pool.violation.view();
      kernel.rank = data->pool.rank.view();
      kernel.score = data->pool.score.view();
      kernel.source = data->source.view();
      kernel.scratch = data->scratch.view();
      queue.launch(kernel);
    }};
    launches.most = 50;
    return {launches, static_cast<double>(data->pool.rank.bytes() + data->pool.score.bytes() +
                                          data->source.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, 2 objectives", prepare};
}

}  // namespace select_survivors_bench

template <>
std::vector<KernelCase> bench_cases<SelectSurvivors>() {
  using namespace select_survivors_bench;
  return {case_of(1, 200000), case_of(64, 200)};
}

}  // namespace kiln::cli
