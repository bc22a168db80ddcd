// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/variation_operator.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace vary_states_bench {

struct VariationArrays {
  VariationArrays(Queue& queue, std::int64_t variables, std::int64_t n_slots)
      : slots(n_slots),
        parent(queue, Block{BlockKind::real, variables, 0, 1}, Layout::f64, slots),
        child(queue, Block{BlockKind::real, variables, 0, 1}, Layout::f64, slots),
        parents(queue, pairs(slots)) {}
  // Parents far apart in memory, as after a tournament.
  static std::vector<std::int32_t> pairs(std::int64_t slots) {
    std::vector<std::int32_t> all;
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        all.push_back(static_cast<std::int32_t>((slot / 2 * 7919 + row * 104729) % slots));
      }
    }
    return all;
  }
  std::int64_t slots;
  BlockBatch parent, child;
  DeviceArray<std::int32_t> parents;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data =
      std::make_shared<VariationArrays>(queue, 30, context.cuda() ? 65536 : std::int64_t{1024});
  const auto launch = [data, &queue](std::uint32_t index) {
    VariationOperator kernel;
    kernel.parent = data->parent.block();
    kernel.child = data->child.block();
    kernel.parents = {data->parents.data(), 2, data->slots, data->slots};
    kernel.rule.crossover = Crossover::simulated_binary;
    kernel.rule.mutation = Mutation::polynomial;
    kernel.rule.mutate = 1.0 / 30;
    kernel.draw_ids = data->child.draw_ids();
    kernel.control = data->child.control();
    kernel.step_offset = index;
    queue.launch(kernel);
  };
  return {{launch},
          data->parent.bytes() + data->child.bytes() + 8.0 * double(data->slots),
          0,
          data->slots};
}

}  // namespace vary_states_bench

template <>
std::vector<KernelCase> bench_cases<VariationOperator>() {
  using namespace vary_states_bench;
  return {{"SBX and polynomial mutation of 30 reals", prepare}};
}

}  // namespace kiln::cli
