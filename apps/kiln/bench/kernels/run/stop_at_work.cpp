// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/stop_at_work.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace stop_at_work_bench {

constexpr std::int64_t chains = 32768;

struct Data {
  explicit Data(Queue& queue)
      : counts(queue, std::vector<std::uint64_t>(chains, 7)),
        control(queue, std::vector<RunControl>{{}}) {}
  DeviceArray<std::uint64_t> counts;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(StopAtWork{data->counts.view(), ~std::uint64_t{0}, data->control.data()});
  };
  return {{launch}, 8.0 * static_cast<double>(chains)};
}

}  // namespace stop_at_work_bench

template <>
std::vector<KernelCase> bench_cases<StopAtWork>() {
  using namespace stop_at_work_bench;
  return {{"32768 chains", prepare}};
}

}  // namespace kiln::cli
