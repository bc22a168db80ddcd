// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/track_best.hpp"

#include <limits>

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace track_best_bench {

constexpr const char* instance = "gset:G22";

struct Data {
  explicit Data(BenchContext& context)
      : pairwise(context, instance),
        infinite(context.queue(), std::vector<double>(static_cast<std::size_t>(slots()),
                                                      std::numeric_limits<double>::infinity())),
        best(context.queue(), infinite.size() * most),
        best_step(context.queue(), infinite.size()),
        improved(context.queue(), infinite.size() / 32) {
    forget_best(context.queue());
  }

  std::int64_t slots() { return pairwise.batch().slots(); }

  void forget_best(Queue& queue) {
    for (std::int64_t i = 0; i < most; ++i) {
      queue.copy(best.data() + i * slots(), infinite.data(), infinite.bytes());
    }
  }

  // Each launch of a batch has best energies of its own, so that each finds all of them worse.
  TrackBest kernel(std::int64_t index) {
    ReplicaBatch& batch = pairwise.batch();
    TrackBest kernel{};
    kernel.state[0] = batch.state(0);
    kernel.best[0] = batch.best_state(0);
    kernel.n_blocks = 1;
    kernel.replicas = batch.replicas();
    kernel.energy = batch.energy();
    kernel.best_energy = {best.data() + index * slots(), slots()};
    kernel.best_step = best_step.view();
    kernel.improved = improved.view();
    kernel.control = pairwise.control();
    return kernel;
  }

  static constexpr std::int64_t most = 32;
  ObjectiveBatch pairwise;
  DeviceArray<double> infinite, best;
  DeviceArray<std::uint64_t> best_step;
  DeviceArray<std::uint32_t> improved;
};

PreparedKernel prepare_none(BenchContext& context) {
  const auto data = std::make_shared<Data>(context);
  Queue& queue = context.queue();
  queue.launch(data->kernel(0));
  const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->kernel(0)); };
  const double slots = data->pairwise.slots();
  return {{launch}, 16 * slots + slots / 8, 0, data->pairwise.batch().replicas()};
}

PreparedKernel prepare_all(BenchContext& context) {
  const auto data = std::make_shared<Data>(context);
  Queue& queue = context.queue();
  const Launches launches{
      [data, &queue](std::uint32_t index) { queue.launch(data->kernel(index)); },
      [data, &queue] { data->forget_best(queue); }, Data::most};
  const double bytes = 2 * data->pairwise.state_bytes() + 32.125 * data->pairwise.slots();
  return {launches, bytes, 0, data->pairwise.batch().replicas()};
}

}  // namespace track_best_bench

template <>
std::vector<KernelCase> bench_cases<TrackBest>() {
  using namespace track_best_bench;
  return {{std::string("none improves, ") + instance, prepare_none},
          {std::string("all improve, ") + instance, prepare_all}};
}

}  // namespace kiln::cli
