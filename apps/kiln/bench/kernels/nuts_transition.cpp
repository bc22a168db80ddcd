// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/nuts_transition.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {
namespace {

template <class Density>
KernelCase case_of(const std::string& shape, const Density& density, std::int64_t on_gpu,
                   const HmcTuning& tuning, ChainLayout layout) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t chains = context.cuda() ? on_gpu : on_gpu / 64;
    const std::shared_ptr<ChainArrays> data =
        std::make_shared<ChainArrays>(queue, density, chains, tuning);
    const auto launch = [data, layout, &queue](std::uint32_t index) {
      queue.launch(data->transition<NutsTransition>(index, layout));
    };
    return {{launch}, data->bytes(), 0, chains};
  };
  return {shape, prepare};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<NutsTransition>() {
  HmcTuning tuning;
  tuning.step_size = 0.3;
  TestFunction sphere;
  sphere.n = 128;
  return {case_of("eight schools", EightSchools{}, 16384, tuning, ChainLayout::warp),
          case_of("normal 128", sphere, 4096, tuning, ChainLayout::warp)};
}

}  // namespace kiln::cli
