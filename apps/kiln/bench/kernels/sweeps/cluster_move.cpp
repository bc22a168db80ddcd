// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/cluster_move.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace cluster_move_bench {

struct Data {
  explicit Data(BenchContext& context)
      : states(context, "torus:50x40,1"),
        n_rungs(32),
        n_ladders(states.batch().replicas() / n_rungs / 2 * 2),
        slots(context.queue(), numbers(n_ladders * n_rungs)),
        moved(context.queue(), n_ladders * n_rungs),
        open(context.queue(), std::vector<std::uint32_t>(static_cast<std::size_t>(n_rungs), 1)),
        moves(context.queue(), n_rungs),
        sizes(context.queue(), n_rungs) {
    moves.zero();
    sizes.zero();
  }

  static std::vector<std::int32_t> numbers(std::int64_t n) {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::int32_t>(i));
    return all;
  }

  ObjectiveBatch states;
  std::int64_t n_rungs, n_ladders;
  DeviceArray<std::int32_t> slots;
  DeviceArray<std::uint32_t> moved, open;
  DeviceArray<std::uint64_t> moves, sizes;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(context);
  const auto launch = [data, &queue](std::uint32_t) {
    ClusterMove kernel;
    kernel.model = data->states.objective().as<PairwiseModelled>()->pairwise_model();
    kernel.state = data->states.batch().state(0).packed();
    kernel.slot_of = data->slots.view();
    kernel.moved = data->moved.view();
    kernel.open = data->open.view();
    kernel.moves = data->moves.view();
    kernel.sizes = data->sizes.view();
    kernel.draw_ids = data->states.batch().draw_ids();
    kernel.control = data->states.control();
    kernel.symmetric = true;
    queue.launch(kernel);
  };
  return {{launch}, 2 * data->states.state_bytes(), 0, data->n_ladders * data->n_rungs};
}

}  // namespace cluster_move_bench

template <>
std::vector<KernelCase> bench_cases<ClusterMove>() {
  using namespace cluster_move_bench;
  return {{"torus:50x40,1, pairs at equal temperature", prepare}};
}

}  // namespace kiln::cli
