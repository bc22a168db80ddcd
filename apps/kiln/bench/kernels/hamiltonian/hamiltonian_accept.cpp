// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hamiltonian_accept.hpp"

#include "bench/batched_fixture.hpp"

namespace kiln::cli {
namespace hamiltonian_accept_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BatchedArrays>(queue);
  const auto launch = [data, &queue](std::uint32_t index) {
    queue.launch(data->kernel<HamiltonianAccept>(index));
  };
  return {{launch}, 40.0 * data->values()};
}

}  // namespace hamiltonian_accept_bench

template <>
std::vector<KernelCase> bench_cases<HamiltonianAccept>() {
  using namespace hamiltonian_accept_bench;
  return {{"1024 chains in 1000 dimensions", prepare}};
}

}  // namespace kiln::cli
