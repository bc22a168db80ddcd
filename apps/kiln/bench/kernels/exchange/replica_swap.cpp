// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace replica_swap_bench {

PreparedKernel prepare(BenchContext& context, std::int64_t ladders, std::int64_t rungs) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<LadderArrays>(queue, ladders, rungs);
  const auto launch = [data, &queue](std::uint32_t) {
    ReplicaSwap kernel;
    kernel.energy = data->energy.view();
    kernel.beta = data->beta.view();
    kernel.rung_of = data->rung_of.view();
    kernel.slot_of = data->slot_of.view();
    kernel.ladders = data->states.view();
    kernel.last_end = data->last_end.view();
    kernel.round_trips = data->round_trips.view();
    kernel.counts = data->counts();
    kernel.draw_ids = {data->key.view(), data->replica.view()};
    kernel.control = data->control.data();
    kernel.rungs = data->rungs;
    queue.launch(kernel);
  };
  return {{launch}, 32.0 * static_cast<double>(ladders * rungs)};
}

}  // namespace replica_swap_bench

template <>
std::vector<KernelCase> bench_cases<ReplicaSwap>() {
  using namespace replica_swap_bench;
  const auto of = [](std::int64_t ladders, std::int64_t rungs) {
    return [=](BenchContext& context) { return prepare(context, ladders, rungs); };
  };
  return {{"4 ladders of 25 rungs", of(4, 25), 5.0},
          {"3125 ladders of 32 rungs", of(3125, 32), 20.0}};
}

}  // namespace kiln::cli
