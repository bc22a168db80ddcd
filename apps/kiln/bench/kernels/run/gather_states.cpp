// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/gather_states.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace gather_states_bench {

constexpr std::int64_t slots = 32768;

// Every slot from its neighbour, as in resampling: a few bits of each word come from the next.
struct Data {
  Data(Queue& queue, const Block& block)
      : from(queue, block, Layout::packed32, slots),
        to(queue, block, Layout::packed32, slots),
        source(queue, neighbours()) {}

  static std::vector<std::int32_t> neighbours() {
    std::vector<std::int32_t> all;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      all.push_back(static_cast<std::int32_t>((slot + 1) % slots));
    }
    return all;
  }

  BlockBatch from, to;
  DeviceArray<std::int32_t> source;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, Block{BlockKind::spin, 2000, -1, 1});
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(GatherStates{
        data->from.block(), data->to.block(), data->source.view(), {}, {}, data->from.control()});
  };
  return {{launch}, 2 * data->from.bytes() + 4.0 * static_cast<double>(slots)};
}

}  // namespace gather_states_bench

template <>
std::vector<KernelCase> bench_cases<GatherStates>() {
  using namespace gather_states_bench;
  return {{"32768 replicas of 2000 spins, packed32", prepare}};
}

}  // namespace kiln::cli
