// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/end_tick.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace end_tick_bench {

constexpr const char* instance = "gset:G22";

// What nearly every tick pays: the first launch finds all best states, the others none.
PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto pairwise = std::make_shared<ObjectiveBatch>(context, instance);
  const auto launch = [pairwise, &queue](std::uint32_t) {
    ReplicaBatch& batch = pairwise->batch();
    EndTick kernel{};
    kernel.best.state[0] = batch.state(0);
    kernel.best.best[0] = batch.best_state(0);
    kernel.best.n_blocks = 1;
    kernel.best.replicas = batch.replicas();
    kernel.best.energy = batch.energy();
    kernel.best.best_energy = batch.best_energy();
    kernel.best.best_step = batch.best_step();
    kernel.best.improved = batch.improved();
    kernel.best.control = pairwise->control();
    kernel.advance = {pairwise->control(), 1};
    queue.launch(kernel);
  };
  launch(0);
  const auto slots = static_cast<double>(pairwise->batch().slots());
  return {{launch}, 16 * slots, 0, pairwise->batch().replicas()};
}

}  // namespace end_tick_bench

template <>
std::vector<KernelCase> bench_cases<EndTick>() {
  using namespace end_tick_bench;
  return {{std::string("none improves, ") + instance, prepare}};
}

}  // namespace kiln::cli
