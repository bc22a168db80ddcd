// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/assign_variable.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace assign_variable_bench {

struct Data {
  Data(Queue& queue, std::int64_t slots)
      : states(queue, Block{BlockKind::category, 10, 0, 7}, Layout::i8, slots),
        before(queue, slots) {}
  BlockBatch states;
  DeviceArray<double> before;
};

PreparedKernel prepare(BenchContext& context) {
  constexpr std::int64_t slots = 32768;
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, slots);
  const auto launch = [data, &queue](std::uint32_t) {
    AssignVariable kernel;
    kernel.block = data->states.block();
    kernel.before = data->before.view();
    kernel.control = data->states.control();
    queue.launch(kernel);
  };
  return {{launch}, 10.0 * static_cast<double>(slots)};
}

}  // namespace assign_variable_bench

template <>
std::vector<KernelCase> bench_cases<AssignVariable>() {
  using namespace assign_variable_bench;
  return {{"32768 replicas, i8", prepare}};
}

}  // namespace kiln::cli
