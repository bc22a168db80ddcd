// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_gradient.hpp"

#include <memory>
#include <string>

#include "bench/fit_fixture.hpp"
#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace acquisition_gradient_bench {

// Candidates of one study.
struct SearchArrays {
  SearchArrays(Queue& queue, std::int64_t candidates, std::int64_t n, std::int64_t dimension)
      : process(queue, 1, n, dimension),
        best(queue, std::vector<double>{0.1}),
        at(queue, ProcessArrays::draw(candidates * dimension)),
        value(queue, candidates),
        gradient(queue, candidates * dimension) {
    queue.launch(process.weights());
  }
  AcquisitionGradient kernel(bool slopes) {
    AcquisitionGradient of;
    const std::int64_t d = process.fit.dimension, n = process.fit.n, p = process.fit.parameters();
    of.dimension = of.layout.lengths = d;
    of.points = process.fit.point_sets();
    of.parameter = {process.fit.parameter.data(), 1, p, p};
    of.mean = process.mean.view();
    of.inverse_factor = MatrixBatch<const double>::dense(process.inverse.data(), 1, n, n);
    of.weight = MatrixBatch<const double>::dense(process.weight.data(), 1, 1, n);
    of.best = {best.data(), 1, 1, 1};
    of.items_per_study = value.size();
    of.at = {at.data(), value.size(), d, d};
    of.value = value.view();
    if (slopes) of.gradient = {gradient.data(), value.size(), d, d};
    return of;
  }

  FittedArrays process;
  DeviceArray<double> best, at, value, gradient;
};

KernelCase case_of(std::int64_t candidates, std::int64_t n, std::int64_t dimension, bool slopes) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<SearchArrays>(queue, candidates, n, dimension);
    const auto launch = [=, &queue](std::uint32_t) { queue.launch(data->kernel(slopes)); };
    const double bytes = static_cast<double>(
        data->process.inverse.bytes() + data->process.fit.points.bytes() + data->at.bytes() +
        data->value.bytes() + (slopes ? data->gradient.bytes() : 0));
    return {{launch}, bytes};
  };
  return {std::to_string(candidates) + " candidates, " + std::to_string(n) + " observations, " +
              std::to_string(dimension) + " dimensions" + (slopes ? "" : ", no gradients"),
          prepare};
}

}  // namespace acquisition_gradient_bench

template <>
std::vector<KernelCase> bench_cases<AcquisitionGradient>() {
  using namespace acquisition_gradient_bench;
  return {case_of(4096, 60, 6, true), case_of(4096, 60, 6, false), case_of(1024, 1000, 10, true)};
}

}  // namespace kiln::cli
