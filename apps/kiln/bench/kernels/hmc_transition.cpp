// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hmc_transition.hpp"

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
      queue.launch(data->transition<HmcTransition>(index, layout));
    };
    return {{launch}, data->bytes(), 0, chains};
  };
  return {shape, prepare};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<HmcTransition>() {
  HmcTuning tuning;
  tuning.step_size = 0.3;
  tuning.leapfrogs = 10;
  TestFunction rastrigin;
  rastrigin.kind = TestFunctionKind::rastrigin;
  rastrigin.n = 128;
  HmcTuning short_steps = tuning;
  short_steps.step_size = 0.02;
  return {
      case_of("eight schools, 10 leapfrogs", EightSchools{}, 65536, tuning, ChainLayout::thread),
      case_of("rastrigin 128, 10 leapfrogs", rastrigin, 4096, short_steps, ChainLayout::warp)};
}

}  // namespace kiln::cli
