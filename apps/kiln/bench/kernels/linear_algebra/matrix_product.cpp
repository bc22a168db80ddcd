// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include <memory>

#include "kiln/kernels/sweeps/quadratic_energy.hpp"
#include "kiln/objectives/batched_transition.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace matrix_product_bench {

// A dense Gaussian: precision I + 1/d, all of it stored and multiplied.
struct DenseGaussianArrays {
  DenseGaussianArrays(Queue& queue, std::int64_t d, std::int64_t chains)
      : arrays(queue, d, chains), precision(queue, matrix(d)), transition(queue, d, chains, 50) {}

  MatrixProduct product(View2<const double> x, View2<double> y) {
    MatrixProduct kernel;
    const std::int64_t d = arrays.of_chains.dimension;
    kernel.a = {precision.data(), d, d, d};
    kernel.b = x;
    kernel.c = y;
    return kernel;
  }
  void differentiate(const BatchedEvaluation& at, Queue& queue) {
    MatrixProduct kernel = product(at.position, at.gradient);
    if (!at.term) kernel.epilogue.scale = at.term_weight;
    queue.launch(kernel);
    if (!at.term) return;
    QuadraticEnergy energy;
    energy.position = at.position;
    energy.product = at.gradient;
    energy.replicas = arrays.of_chains.chains;
    energy.weight = at.term_weight;
    energy.energy = at.term;
    queue.launch(energy);
  }
  static std::vector<double> matrix(std::int64_t d) {
    std::vector<double> all(static_cast<std::size_t>(d * d), 1.0 / static_cast<double>(d));
    for (std::int64_t i = 0; i < d; ++i) all[static_cast<std::size_t>(i * d + i)] += 1;
    return all;
  }

  BatchedArrays arrays;
  DeviceArray<double> precision;
  BatchedTransition transition;
};

std::int64_t chains_on(const BenchContext& context) { return context.cuda() ? 1024 : 16; }

PreparedKernel prepare_product(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<DenseGaussianArrays>(queue, 1000, chains_on(context));
  const auto launch = [data, &queue](std::uint32_t) {
    const auto of = data->arrays.kernel<BatchedArguments>(0);
    const View2<double>& x = of.trajectory.proposal;
    queue.launch(data->product({x.data, x.rows, x.columns, x.stride}, of.trajectory.gradient));
  };
  return {{launch}, 16.0 * data->arrays.values() + 8e6, 0, chains_on(context)};
}

// A whole transition of 50 leapfrogs: 51 products and what lies between them.
PreparedKernel prepare_transition(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<DenseGaussianArrays>(queue, 1000, chains_on(context));
  const auto launch = [data, &queue](std::uint32_t index) {
    ChainArrays& chains = data->arrays.of_chains;
    ChainState state = chains.state();
    state.step_offset = index;
    const MetricView metric{MetricKind::diagonal, 1000, 0, chains.scale.view(), {}, {}, {}};
    data->transition.enqueue(
        state, metric, chains.tuning.view(), {},
        [&](const BatchedEvaluation& at, Queue& on) { data->differentiate(at, on); }, queue);
  };
  Launches launches{launch};
  launches.most = 20;
  PreparedKernel prepared{launches, 51 * (16.0 + 40.0) * data->arrays.values()};
  prepared.gradients = 51.0 * static_cast<double>(chains_on(context));
  prepared.replicas = chains_on(context);
  return prepared;
}

}  // namespace matrix_product_bench

template <>
std::vector<KernelCase> bench_cases<MatrixProduct>() {
  using namespace matrix_product_bench;
  return {{"1000 x 1000 matrix", prepare_product},
          {"dense Gaussian in 1000 dimensions, 50 leapfrogs", prepare_transition, 4000.0}};
}

}  // namespace kiln::cli
