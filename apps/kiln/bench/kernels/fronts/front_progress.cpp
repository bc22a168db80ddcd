// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_progress.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace front_progress_bench {

struct ProgressArrays {
  explicit ProgressArrays(Queue& queue)
      : volume(queue, std::vector<double>{0.5}),
        control(queue, std::vector<RunControl>{{}}),
        gate(queue, std::vector<RunControl>{{}}) {}
  DeviceArray<double> volume;
  DeviceArray<RunControl> control, gate;
};

KernelCase case_of(const std::string& shape, bool open) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<ProgressArrays>(queue);
    const auto launch = [data, open, &queue](std::uint32_t) {
      queue.launch(
          FrontProgress{data->volume.view(), data->control.data(), data->gate.data(), 5, open});
    };
    return {{launch}, 2 * sizeof(RunControl)};
  };
  return {shape, prepare};
}

}  // namespace front_progress_bench

template <>
std::vector<KernelCase> bench_cases<FrontProgress>() {
  using namespace front_progress_bench;
  return {case_of("1 run, before the hypervolume", true),
          case_of("1 run, after the hypervolume", false)};
}

}  // namespace kiln::cli
