// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/summarize.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace summarize_bench {

struct Data {
  Data(Queue& queue, std::int64_t replicas)
      : energy(queue, replicas),
        accepted(queue, replicas),
        not_finite(queue, replicas),
        beta(queue, std::vector<double>{1.0}),
        control(queue, std::vector<RunControl>{{}}),
        summary(queue, 1) {
    energy.zero();
    accepted.zero();
    not_finite.zero();
  }
  DeviceArray<double> energy;
  DeviceArray<std::uint64_t> accepted, not_finite;
  DeviceArray<double> beta;
  DeviceArray<RunControl> control;
  DeviceArray<RunSummary> summary;
};

PreparedKernel prepare(BenchContext& context, std::int64_t replicas) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, replicas);
  const auto launch = [data, replicas, &queue](std::uint32_t) {
    queue.launch(Summarize{data->control.data(),
                           data->energy.view(),
                           data->accepted.view(),
                           data->not_finite.view(),
                           data->beta.view(),
                           replicas,
                           {data->summary.data()}});
  };
  return {{launch}, 24.0 * static_cast<double>(replicas)};
}

}  // namespace summarize_bench

template <>
std::vector<KernelCase> bench_cases<Summarize>() {
  using namespace summarize_bench;
  return {{"1024 replicas", [](BenchContext& c) { return prepare(c, 1024); }},
          {"32768 replicas", [](BenchContext& c) { return prepare(c, 32768); }}};
}

}  // namespace kiln::cli
