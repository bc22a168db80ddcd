// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/sorted_orders.hpp"

#include <memory>

#include "kiln/device/rng_domains.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace sorted_orders_bench {

constexpr std::int64_t n = 1000000;

struct SortArrays {
  explicit SortArrays(Queue& queue)
      : values(queue, uniform()), order(queue, n), room(queue, SortedOrders::room_bytes(n)) {}
  static std::vector<double> uniform() {
    const DrawName name{1, 0, 0, RngDomain::initial_state, 0};
    std::vector<double> all;
    for (std::uint32_t i = 0; i < n; ++i) all.push_back(open_unit(draw_word(name, i)) - 0.5);
    return all;
  }
  DeviceArray<double> values;
  DeviceArray<std::int32_t> order;
  DeviceArray<std::uint8_t> room;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<SortArrays>(queue);
  const SortedOrders kernel{table_of(data->values, 1), matrix_of(data->order, 1),
                            data->room.view()};
  Launches launches{[=, &queue](std::uint32_t) {
    static_cast<void>(data);  // owns what the kernel reads
    queue.launch(kernel);
  }};
  launches.most = 50;
  return {launches, kernel.bytes()};
}

}  // namespace sorted_orders_bench

template <>
std::vector<KernelCase> bench_cases<SortedOrders>() {
  return {{"1000000 numbers", sorted_orders_bench::prepare}};
}

}  // namespace kiln::cli
