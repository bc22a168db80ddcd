// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/recombination/cluster_crossover.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace cluster_crossover_bench {

// Random states stay as they are after the first launch: each pair has its better clusters then.
PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto states = std::make_shared<ObjectiveBatch>(context, "torus:100x80,1");
  const auto launch = [states, &queue](std::uint32_t) {
    ReplicaBatch& batch = states->batch();
    ClusterCrossover kernel;
    kernel.model = states->objective().as<PairwiseModelled>()->pairwise_model();
    kernel.state = batch.state(0).packed();
    kernel.energy = batch.energy();
    kernel.group_size = batch.replicas();
    kernel.symmetric = true;
    queue.launch(kernel);
  };
  return {{launch}, 2 * states->state_bytes(), 0, states->batch().replicas() / 2};
}

}  // namespace cluster_crossover_bench

template <>
std::vector<KernelCase> bench_cases<ClusterCrossover>() {
  using namespace cluster_crossover_bench;
  return {{"torus:100x80,1, pairs of replicas", prepare}};
}

}  // namespace kiln::cli
