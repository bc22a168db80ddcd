// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_descent.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {
namespace density_descent_bench {

// One step in every launch is straight down, along which Rosenbrock's valley takes thousands: all
// launches do as much work.
KernelCase case_of(int n, std::int64_t on_gpu) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    TestFunction valley;
    valley.kind = TestFunctionKind::rosenbrock;
    valley.n = n;
    const auto data =
        std::make_shared<ChainArrays>(queue, valley, chains_of_case(context, on_gpu), HmcTuning{});
    data->beta.upload({std::numeric_limits<double>::infinity()});
    const auto launch = [data, &queue](std::uint32_t index) {
      DensityDescent kernel;
      kernel.density = data->density;
      kernel.chains = data->state();
      kernel.chains.step_offset = index;
      kernel.steps = 1;
      kernel.scratch = data->scratch.view();
      queue.launch(kernel);
    };
    return {{launch}, data->bytes(), 0, data->chains};
  };
  return {"Rosenbrock in " + std::to_string(n) + " dimensions, 1 L-BFGS step", prepare};
}

}  // namespace density_descent_bench

template <>
std::vector<KernelCase> bench_cases<DensityDescent>() {
  using namespace density_descent_bench;
  return {case_of(10, 16384), case_of(128, 4096)};
}

}  // namespace kiln::cli
