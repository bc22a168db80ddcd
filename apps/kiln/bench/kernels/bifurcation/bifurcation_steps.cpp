// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include <memory>

#include "bench/kernels/bifurcation/oscillators.hpp"

namespace kiln::cli {
namespace bifurcation_steps_bench {

PreparedKernel prepare(BenchContext& context, const char* instance) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BenchOscillators>(context, instance);
  const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->kernel()); };
  return {{launch},
          data->kernel().bytes(),
          double{BenchOscillators::steps} * data->model().n_variables * BenchOscillators::replicas,
          BenchOscillators::replicas};
}

KernelCase of(const char* instance) {
  return {std::string("50 steps, ") + instance,
          [instance](BenchContext& context) { return prepare(context, instance); }};
}

}  // namespace bifurcation_steps_bench

template <>
std::vector<KernelCase> bench_cases<BifurcationSteps>() {
  using bifurcation_steps_bench::of;
  return {of("k2000"), of("gset:G22")};
}

}  // namespace kiln::cli
