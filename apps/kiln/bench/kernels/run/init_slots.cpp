// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/init_slots.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace name_slots_bench {

struct Data {
  Data(Queue& queue, std::int64_t slots)
      : key(queue, slots),
        replica(queue, slots),
        rung_of(queue, slots),
        replica_of(queue, slots),
        energy(queue, slots),
        best_energy(queue, slots) {}
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<std::int32_t> rung_of, replica_of;
  DeviceArray<double> energy, best_energy;
};

PreparedKernel prepare(BenchContext& context) {
  constexpr std::int64_t slots = 32768, group_size = 32;
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, slots);
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(InitSlots{1, slots, group_size, data->key.view(), data->replica.view(),
                           data->rung_of.view(), data->replica_of.view(), data->energy.view(),
                           data->best_energy.view()});
  };
  return {{launch}, 36.0 * static_cast<double>(slots)};
}

}  // namespace name_slots_bench

template <>
std::vector<KernelCase> bench_cases<InitSlots>() {
  using namespace name_slots_bench;
  return {{"1024 groups of 32 replicas", prepare}};
}

}  // namespace kiln::cli
