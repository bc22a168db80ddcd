// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/word_swap.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace word_swap_bench {

constexpr std::int64_t spins = 2000, blocks = 33, rungs = 32;

// Every second rung exchanges half of its replicas with the next one.
struct Data {
  explicit Data(Queue& queue)
      : states(queue, Block{BlockKind::spin, spins, -1, 1}, Layout::packed32, 32 * blocks * rungs),
        swapped(queue, masks()),
        control(queue, std::vector<RunControl>{{}}) {}

  static std::vector<std::uint32_t> masks() {
    std::vector<std::uint32_t> all;
    for (std::int64_t i = 0; i < blocks * rungs; ++i) all.push_back(i % 2 == 0 ? 0x5A5A5A5Au : 0);
    return all;
  }

  BlockBatch states;
  DeviceArray<std::uint32_t> swapped;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t) {
    WordSwap kernel;
    kernel.state = data->states.block().packed();
    kernel.swapping = data->swapped.view();
    kernel.rungs = rungs;
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 2 * data->states.bytes()};
}

}  // namespace word_swap_bench

template <>
std::vector<KernelCase> bench_cases<WordSwap>() {
  using namespace word_swap_bench;
  return {{"33792 replicas of 2000 spins", prepare}};
}

}  // namespace kiln::cli
