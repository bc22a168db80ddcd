// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/random_state.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace random_state_bench {

PreparedKernel prepare(BenchContext& context, const Block& block, Layout layout,
                       std::int64_t slots) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BlockBatch>(queue, block, layout, slots);
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(
        RandomState{data->block(), 0, data->rung_of(), {}, data->draw_ids(), data->control()});
  };
  return {{launch}, data->bytes() + 12.0 * static_cast<double>(slots)};
}

}  // namespace random_state_bench

template <>
std::vector<KernelCase> bench_cases<RandomState>() {
  using namespace random_state_bench;
  const Block spins{BlockKind::spin, 2000, -1, 1};
  const Block reals{BlockKind::real, 100, -5, 5};
  return {{"4096 replicas of 100 reals, f64",
           [=](BenchContext& c) { return prepare(c, reals, Layout::f64, 4096); }},
          {"4096 replicas of 2000 spins, packed32",
           [=](BenchContext& c) { return prepare(c, spins, Layout::packed32, 4096); }},
          {"33792 replicas of 2000 spins, packed32",
           [=](BenchContext& c) { return prepare(c, spins, Layout::packed32, 33792); }}};
}

}  // namespace kiln::cli
