// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_sweep.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {
namespace density_sweep_bench {

template <class Density>
KernelCase case_of(const std::string& shape, const Density& density, std::int64_t on_gpu,
                   ChainLayout layout) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    struct Data {
      ChainArrays chains;
      DeviceArray<double> width;
      DeviceArray<std::uint64_t> sweeps;
    };
    Queue& queue = context.queue();
    const std::int64_t chains = chains_of_case(context, on_gpu);
    const auto values = static_cast<std::size_t>(dimension_of(density) * chains);
    const std::shared_ptr<Data> data(new Data{{queue, density, chains, HmcTuning{}},
                                              {queue, std::vector<double>(values, 0.5)},
                                              {queue, chains}});
    data->sweeps.zero();
    const auto launch = [data, layout, &queue](std::uint32_t index) {
      DensitySweep kernel;
      kernel.density = data->chains.density;
      kernel.chains = data->chains.state();
      kernel.chains.step_offset = index;
      kernel.widths = {data->chains.matrix(data->width), data->sweeps.view(), 1e-100, 1e100, false};
      kernel.layout = layout;
      kernel.scratch = data->chains.scratch.view();
      queue.launch(kernel);
    };
    // Position and width, in and out.
    const double attempts =
        static_cast<double>(dimension_of(density)) * static_cast<double>(chains);
    return {{launch}, data->chains.bytes(), attempts, chains};
  };
  return {shape, prepare};
}

}  // namespace density_sweep_bench

template <>
std::vector<KernelCase> bench_cases<DensitySweep>() {
  using namespace density_sweep_bench;
  TestFunction rastrigin;
  rastrigin.kind = TestFunctionKind::rastrigin;
  rastrigin.n = 128;
  TestFunction short_vector = rastrigin;
  short_vector.n = 10;
  return {case_of("eight schools", EightSchools{}, 65536, ChainLayout::thread),
          case_of("Rastrigin in 10 dimensions", short_vector, 131072, ChainLayout::thread),
          case_of("Rastrigin in 128 dimensions", rastrigin, 4096, ChainLayout::warp)};
}

}  // namespace kiln::cli
