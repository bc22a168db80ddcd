// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace pathwise_samples_bench {

constexpr std::int64_t dimension = 20, features = 1024;

// One study. What the weights are makes no difference to the time.
struct PathArrays {
  PathArrays(Queue& queue, std::int64_t paths, std::int64_t candidates, std::int64_t observations)
      : process(queue, 1, observations, dimension),
        points(queue, ProcessArrays::draw(dimension * candidates)),
        observed(queue, ProcessArrays::draw(observations)),
        weight(queue, ProcessArrays::draw(observations * paths)),
        value(queue, paths * candidates),
        keys(queue, std::vector<std::uint64_t>{1}) {
    kernel.dimension = dimension;
    kernel.paths = paths;
    kernel.features = features;
    kernel.training = {
        process.points.data(), observations, observations, observations * dimension, {}};
    kernel.points = {points.data(), candidates, candidates, candidates * dimension, {}};
    kernel.parameters = process.covariance().parameters;
    kernel.keys = keys.view();
    kernel.observed = {observed.data(), 1, observations, observations};
    kernel.residual = MatrixBatch<double>::dense(weight.data(), 1, observations, paths);
    kernel.weight = MatrixBatch<const double>::dense(weight.data(), 1, observations, paths);
    kernel.value = MatrixBatch<double>::dense(value.data(), 1, paths, candidates);
  }

  ProcessArrays process;
  DeviceArray<double> points, observed, weight, value;
  DeviceArray<std::uint64_t> keys;
  PathwiseSamples kernel;
};

KernelCase case_of(PathwiseStage stage, std::int64_t paths, std::int64_t candidates,
                   std::int64_t observations, std::optional<double> gate_us = std::nullopt) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<PathArrays>(queue, paths, candidates, observations);
    data->kernel.stage = stage;
    Launches launches{[data, &queue](std::uint32_t) { queue.launch(data->kernel); }};
    launches.most = 20;
    const bool values = stage == PathwiseStage::values;
    return {launches,
            static_cast<double>(data->process.points.bytes() + data->weight.bytes() +
                                (values ? data->points.bytes() + data->value.bytes() : 0))};
  };
  const std::string where = stage == PathwiseStage::residual
                                ? "residuals at " + std::to_string(observations) + " observations"
                                : std::to_string(candidates) + " points, " +
                                      std::to_string(observations) + " observations";
  return {std::to_string(paths) + " paths, " + where + ", 20 dimensions", prepare, gate_us};
}

}  // namespace pathwise_samples_bench

template <>
std::vector<KernelCase> bench_cases<PathwiseSamples>() {
  using namespace pathwise_samples_bench;
  return {case_of(PathwiseStage::residual, 64, 1, 500),
          case_of(PathwiseStage::values, 64, 5000, 500, 20000.0)};
}

}  // namespace kiln::cli
