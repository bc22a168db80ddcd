// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/momentum_refresh.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace momentum_refresh_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BatchedArrays>(queue);
  const auto launch = [data, &queue](std::uint32_t index) {
    queue.launch(data->kernel<MomentumRefresh>(index));
  };
  return {{launch}, 24.0 * data->values()};
}

}  // namespace momentum_refresh_bench

template <>
std::vector<KernelCase> bench_cases<MomentumRefresh>() {
  using namespace momentum_refresh_bench;
  return {{"1024 chains in 1000 dimensions", prepare}};
}

}  // namespace kiln::cli
