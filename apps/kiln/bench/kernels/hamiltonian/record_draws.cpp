// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/record_draws.hpp"

#include "bench/adaptation_fixture.hpp"

namespace kiln::cli {
namespace record_draws_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<AdaptationArrays>(queue, 10, 65536);
  const auto launch = [data, &queue](std::uint32_t) {
    const std::int64_t half = 2 * data->d * data->chains;
    RecordDraws kernel;
    kernel.pools = data->pools();
    kernel.half = ~0ull;
    kernel.dimension = data->d;
    kernel.position = data->const_vector(0);
    kernel.energy = data->scalar(2);
    kernel.statistics = data->statistics();
    kernel.moments = {{data->chain_moments.data(), half},
                      {data->chain_moments.data() + half, half}};
    kernel.gradients = data->total(0);
    kernel.warmup_gradients = data->total(1);
    kernel.divergences = data->total(2);
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 40.0 * static_cast<double>(data->d * data->chains), 0, data->chains};
}

}  // namespace record_draws_bench

template <>
std::vector<KernelCase> bench_cases<RecordDraws>() {
  using namespace record_draws_bench;
  return {{"10 dimensions, no draw kept", prepare}};
}

}  // namespace kiln::cli
