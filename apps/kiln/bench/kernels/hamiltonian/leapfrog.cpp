// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/leapfrog.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace leapfrog_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BatchedArrays>(queue);
  const auto launch = [data, &queue](std::uint32_t index) {
    auto kernel = data->kernel<Leapfrog>(index);
    kernel.index = 1;
    queue.launch(kernel);
  };
  return {{launch}, 40.0 * data->values()};
}

}  // namespace leapfrog_bench

template <>
std::vector<KernelCase> bench_cases<Leapfrog>() {
  using namespace leapfrog_bench;
  return {{"1024 chains in 1000 dimensions", prepare}};
}

}  // namespace kiln::cli
