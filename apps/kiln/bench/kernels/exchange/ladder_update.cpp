// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_update.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace ladder_update_bench {

struct Data {
  explicit Data(Queue& queue)
      : ladders(queue, 1024, 32),
        plan(queue, std::vector<LadderPlan>{{1, std::int64_t{1} << 50}}),
        barrier(queue, 32),
        slope(queue, 32),
        fresh(queue, 32) {}
  LadderArrays ladders;
  DeviceArray<LadderPlan> plan;
  DeviceArray<double> barrier, slope, fresh;
};

// No round ends while it is measured: what nearly every tick pays.
PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t) {
    LadderUpdate kernel;
    kernel.plan = data->plan.view();
    kernel.beta = data->ladders.beta.view();
    kernel.sums = data->ladders.sums.view();
    kernel.counts = data->ladders.counts();
    kernel.barrier = data->barrier.view();
    kernel.slope = data->slope.view();
    kernel.fresh = data->fresh.view();
    kernel.control = data->ladders.control.data();
    queue.launch(kernel);
  };
  return {{launch}, sizeof(LadderPlan)};
}

}  // namespace ladder_update_bench

template <>
std::vector<KernelCase> bench_cases<LadderUpdate>() {
  using namespace ladder_update_bench;
  return {{"1024 ladders of 32 rungs, count only", prepare}};
}

}  // namespace kiln::cli
