// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_energy.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {
namespace density_energy_bench {

template <class Density>
KernelCase case_of(const std::string& shape, const Density& density, std::int64_t on_gpu,
                   ChainLayout layout) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t chains = chains_of_case(context, on_gpu);
    const std::shared_ptr<ChainArrays> data =
        std::make_shared<ChainArrays>(queue, density, chains, HmcTuning{});
    const auto launch = [data, layout, &queue](std::uint32_t) {
      DensityEnergy kernel;
      kernel.density = data->density;
      const View2<double> x = data->matrix(data->position);
      kernel.position = {x.data, x.rows, x.columns, x.stride};
      kernel.replicas = data->chains;
      kernel.energy = data->energy.view();
      kernel.gradient = data->matrix(data->gradient);
      kernel.rung_of = data->rung_of.view();
      kernel.layout = layout;
      kernel.scratch = data->scratch.view();
      queue.launch(kernel);
    };
    return {{launch}, 0.5 * data->bytes(), 0, chains};
  };
  return {shape, prepare};
}

}  // namespace density_energy_bench

template <>
std::vector<KernelCase> bench_cases<DensityEnergy>() {
  using namespace density_energy_bench;
  TestFunction rosenbrock;
  rosenbrock.kind = TestFunctionKind::rosenbrock;
  rosenbrock.n = 128;
  return {case_of("eight schools", EightSchools{}, 65536, ChainLayout::thread),
          case_of("Rosenbrock in 128 dimensions", rosenbrock, 4096, ChainLayout::warp)};
}

}  // namespace kiln::cli
