// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/objective_values.hpp"

#include "kiln/problems/vector_functions/wfg.hpp"
#include "kiln/problems/vector_functions/zdt.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace objective_values_bench {

struct ValueArrays {
  ValueArrays(Queue& queue, std::int64_t variables, std::int64_t objectives, std::int64_t slots)
      : state(queue, Block{BlockKind::real, variables, 0, 1}, Layout::f64, slots),
        value(queue, objectives * slots),
        violation(queue, slots) {}
  BlockBatch state;
  DeviceArray<double> value, violation;
};

template <class Function>
KernelCase case_of(const std::string& shape, const Function& function, std::int64_t variables,
                   std::int64_t slots) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t m = function.objectives();
    const auto data = std::make_shared<ValueArrays>(queue, variables, m, slots);
    const auto launch = [=, &queue](std::uint32_t) {
      ObjectiveValues kernel;
      kernel.function = VectorFunctionRef(function);
      kernel.state[0] = data->state.block();
      kernel.n_blocks = 1;
      kernel.replicas = slots;
      kernel.columns = {slots, slots, 0};
      kernel.value = {data->value.data(), m, slots, slots};
      kernel.violation = data->violation.view();
      kernel.control = data->state.control();
      queue.launch(kernel);
    };
    return {
        {launch},
        data->state.bytes() + static_cast<double>(data->value.bytes() + data->violation.bytes())};
  };
  return {shape, prepare};
}

}  // namespace objective_values_bench

template <>
std::vector<KernelCase> bench_cases<ObjectiveValues>() {
  using namespace objective_values_bench;
  return {case_of("ZDT1, 100000 states of 30 reals", Zdt{1, 30}, 30, 100000),
          case_of("WFG4, 100000 states of 24 reals", Wfg{4, 3, 4, 20}, 24, 100000)};
}

}  // namespace kiln::cli
