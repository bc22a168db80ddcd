// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/state_swap.hpp"

#include "bench/fixtures.hpp"
#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace state_swap_bench {

constexpr std::int64_t spins = 2000, ladders = 1024, rungs = 32;

// Every replica changes places with its neighbour. The kernel brings them home, so what the next
// launch is to move is copied back first; that is 8 bytes a slot beside the states.
struct Data {
  explicit Data(Queue& queue)
      : states(queue, Block{BlockKind::spin, spins, -1, 1}, Layout::packed32, ladders * rungs),
        ladder(queue, ladders, rungs),
        swapped(queue, neighbours()) {}

  static std::vector<std::int32_t> neighbours() {
    std::vector<std::int32_t> all;
    for (std::int32_t slot = 0; slot < ladders * rungs; ++slot) all.push_back(slot ^ 1);
    return all;
  }

  BlockBatch states;
  LadderArrays ladder;
  DeviceArray<std::int32_t> swapped;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t) {
    queue.copy(data->ladder.slot_of.data(), data->swapped.data(), data->swapped.bytes());
    StateSwap kernel;
    kernel.arrays[0] = SlotArray(data->states.block());
    kernel.n_arrays = 1;
    kernel.rung_of = data->ladder.rung_of.view();
    kernel.slot_of = data->ladder.slot_of.view();
    kernel.places = {ladders, rungs, 0};
    kernel.control = data->ladder.control.data();
    queue.launch(kernel);
  };
  return {{launch}, 2 * data->states.bytes() + 8.0 * static_cast<double>(ladders * rungs)};
}

}  // namespace state_swap_bench

template <>
std::vector<KernelCase> bench_cases<StateSwap>() {
  using namespace state_swap_bench;
  return {{"32768 replicas of 2000 spins, packed32", prepare}};
}

}  // namespace kiln::cli
