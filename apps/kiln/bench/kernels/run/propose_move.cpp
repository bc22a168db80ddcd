// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/propose_move.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace propose_move_bench {

constexpr std::int64_t slots = 32768;

PreparedKernel prepare(BenchContext& context, const Block& block, Layout layout,
                       double bytes_per_slot) {
  struct Data {
    BlockBatch batch;
    DeviceArray<std::int32_t> first, second;
    DeviceArray<double> value;
  };
  Queue& queue = context.queue();
  const std::shared_ptr<Data> data(
      new Data{{queue, block, layout, slots}, {queue, slots}, {queue, slots}, {queue, slots}});
  const auto variables = static_cast<std::uint32_t>(block.count);
  const auto launch = [data, variables, &queue](std::uint32_t index) {
    queue.launch(ProposeMove{data->batch.block(),
                             index % variables,
                             index,
                             {data->first.view(), data->second.view(), data->value.view()},
                             data->batch.draw_ids(),
                             data->batch.control()});
  };
  return {{launch}, bytes_per_slot * static_cast<double>(slots)};
}

}  // namespace propose_move_bench

template <>
std::vector<KernelCase> bench_cases<ProposeMove>() {
  using namespace propose_move_bench;
  const Block spins{BlockKind::spin, 100, -1, 1};
  const Block reals{BlockKind::real, 100, -5, 5};
  const Block tour{BlockKind::permutation, 64, 0, 63};
  constexpr double names = 8 + 4;
  return {{"32768 replicas of 100 spins, i8",
           [=](BenchContext& c) { return prepare(c, spins, Layout::i8, names + 4 + 8 + 2 * 1); }},
          {"32768 replicas of 100 reals, f64",
           [=](BenchContext& c) { return prepare(c, reals, Layout::f64, names + 4 + 8 + 2 * 8); }},
          // On average a third of the places change.
          {"32768 permutations of 64 items, i32", [=](BenchContext& c) {
             return prepare(c, tour, Layout::i32, names + 2 * 4 + 2 * 4 * 64.0 / 3);
           }}};
}

}  // namespace kiln::cli
