// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace ladder_statistics_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<LadderArrays>(queue, 1024, 32);
  const auto launch = [data, &queue](std::uint32_t) {
    LadderStatistics kernel;
    kernel.energy = data->energy.view();
    kernel.best_energy = data->best_energy.view();
    kernel.beta = data->beta.view();
    kernel.slot_of = data->slot_of.view();
    kernel.best_rung = data->best_rung.view();
    kernel.sums = data->sums.view();
    kernel.cells = data->cells.view();
    kernel.ladders = data->ladders;
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 36.0 * static_cast<double>(data->ladders * data->rungs)};
}

}  // namespace ladder_statistics_bench

template <>
std::vector<KernelCase> bench_cases<LadderStatistics>() {
  using namespace ladder_statistics_bench;
  return {{"1024 ladders of 32 rungs", prepare}};
}

}  // namespace kiln::cli
