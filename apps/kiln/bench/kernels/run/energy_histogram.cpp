// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/energy_histogram.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace energy_histogram_bench {

// Energies that fill the bins like a bell does: most of them meet in a few.
std::vector<double> energies(std::int64_t replicas) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < replicas; ++i) {
    const std::int64_t x = i * 7919 % 61, y = i * 104729 % 67;
    all.push_back(static_cast<double>(x + y));
  }
  return all;
}

std::vector<std::int32_t> rungs_of_slots(std::int64_t replicas, std::int64_t rungs) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < replicas; ++i) all.push_back(static_cast<std::int32_t>(i % rungs));
  return all;
}

struct Data {
  Data(Queue& queue, std::int64_t replicas, std::int64_t rungs)
      : energy(queue, energies(replicas)),
        range(queue, std::vector<double>{-0.5, 0.5}),
        rung_of(queue, rungs_of_slots(replicas, rungs)),
        count(queue, rungs * columns),
        control(queue, std::vector<RunControl>{{}}) {
    count.zero();
  }
  static constexpr std::int64_t columns = 66;
  DeviceArray<double> energy, range;
  DeviceArray<std::int32_t> rung_of;
  DeviceArray<std::uint64_t> count;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context, std::int64_t replicas, std::int64_t rungs) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, replicas, rungs);
  const auto launch = [data, replicas, rungs, &queue](std::uint32_t) {
    EnergyHistogram kernel;
    kernel.energy = data->energy.view();
    kernel.rung_of = data->rung_of.view();
    kernel.range = data->range.view();
    kernel.count = {data->count.data(), rungs, Data::columns, Data::columns};
    kernel.replicas = replicas;
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 12.0 * static_cast<double>(replicas)};
}

}  // namespace energy_histogram_bench

template <>
std::vector<KernelCase> bench_cases<EnergyHistogram>() {
  using namespace energy_histogram_bench;
  return {{"32768 replicas, 1 rung", [](BenchContext& c) { return prepare(c, 32768, 1); }},
          {"32768 replicas, 128 rungs", [](BenchContext& c) { return prepare(c, 32768, 128); }}};
}

}  // namespace kiln::cli
