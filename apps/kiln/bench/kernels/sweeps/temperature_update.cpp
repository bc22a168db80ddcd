// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace temperature_update_bench {

constexpr std::int64_t groups = 1000;
constexpr std::int64_t group_size = 32;
constexpr std::int64_t window = 10;

Cooling cooling_of(CoolingKind kind) {
  Cooling cooling;
  cooling.kind = kind;
  cooling.beta_begin = 0.2;
  cooling.beta_end = 3;
  cooling.log_rate = 2.7;
  cooling.length = std::int64_t{1} << 50;  // no round ends while it is measured
  cooling.feedback.target_begin = 0.44;
  cooling.feedback.target_log_rate = -6;
  cooling.feedback.gain = 0.5;
  return cooling;
}

struct Data {
  Data(Queue& queue, CoolingKind kind)
      : cooling(queue, std::vector<Cooling>(groups, cooling_of(kind))),
        beta(queue, groups),
        restart(queue, groups),
        list(queue, 0),
        accepted(queue, groups * group_size),
        rates(queue, groups * window),
        control(queue, std::vector<RunControl>{{}}) {
    accepted.zero();
    rates.zero();
  }

  TemperatureUpdate kernel() {
    TemperatureUpdate kernel{cooling.view(), beta.view(), restart.view(), list.view(),
                             control.data()};
    kernel.accepted = accepted.view();
    kernel.window = {rates.data(), groups, window, window};
    kernel.group_size = group_size;
    kernel.attempts_per_sweep = 1000 * group_size;
    return kernel;
  }

  DeviceArray<Cooling> cooling;
  DeviceArray<double> beta;
  DeviceArray<std::uint32_t> restart;
  DeviceArray<double> list;
  DeviceArray<std::uint64_t> accepted;
  DeviceArray<std::uint64_t> rates;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context, CoolingKind kind) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, kind);
  const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->kernel()); };
  double per_group = 2 * sizeof(Cooling) + 8 + 4;
  if (is_feedback(kind)) per_group += 8 * group_size + 2 * 4;
  return {{launch}, per_group * groups};
}

}  // namespace temperature_update_bench

template <>
std::vector<KernelCase> bench_cases<TemperatureUpdate>() {
  using namespace temperature_update_bench;
  const auto of = [](CoolingKind kind) {
    return [kind](BenchContext& context) { return prepare(context, kind); };
  };
  return {{"1000 groups, geometric cooling", of(CoolingKind::geometric), 10.0},
          {"1000 groups of 32 replicas, adaptive cooling", of(CoolingKind::adaptive), 10.0}};
}

}  // namespace kiln::cli
