// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/walker_swap.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace walker_swap_bench {

// The last rung of each ladder, and its slots, stand for the walkers.
PreparedKernel prepare(BenchContext& context, std::int64_t ladders, std::int64_t rungs) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<LadderArrays>(queue, ladders, rungs);
  const auto counts = std::make_shared<DeviceArray<WalkerCounts>>(queue, ladders);
  counts->zero();
  const auto launch = [data, counts, &queue](std::uint32_t) {
    WalkerSwap kernel;
    kernel.energy = data->energy.view();
    kernel.best_energy = data->best_energy.view();
    kernel.beta = data->beta.view();
    kernel.rung_of = data->rung_of.view();
    kernel.slot_of = data->slot_of.view();
    kernel.best_rung = data->best_rung.view();
    kernel.last_end = data->last_end.view();
    kernel.counts = counts->view();
    kernel.draw_ids = {data->key.view(), data->replica.view()};
    kernel.control = data->control.data();
    kernel.rungs = data->rungs - 1;
    kernel.walkers = 1;
    queue.launch(kernel);
  };
  return {{launch}, 8.0 * static_cast<double>(ladders * rungs)};
}

}  // namespace walker_swap_bench

template <>
std::vector<KernelCase> bench_cases<WalkerSwap>() {
  using namespace walker_swap_bench;
  const auto of = [](std::int64_t ladders, std::int64_t rungs) {
    return [=](BenchContext& context) { return prepare(context, ladders, rungs); };
  };
  return {{"4 ladders of 24 rungs, 1 walker each", of(4, 25)},
          {"3125 ladders of 31 rungs, 1 walker each", of(3125, 32)}};
}

}  // namespace kiln::cli
