// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include <memory>
#include <string>

#include "bench/fit_fixture.hpp"
#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace posterior_weights_bench {

KernelCase case_of(std::int64_t sets, std::int64_t n) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<FittedArrays>(queue, sets, n, 6);
    const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->weights()); };
    return {{launch}, static_cast<double>(data->inverse.bytes() + 3 * data->weight.bytes())};
  };
  return {
      std::to_string(sets) + (sets > 1 ? " sets of " : " set of ") + std::to_string(n) + " points",
      prepare};
}

}  // namespace posterior_weights_bench

template <>
std::vector<KernelCase> bench_cases<PosteriorWeights>() {
  using namespace posterior_weights_bench;
  return {case_of(1, 1000), case_of(64, 50), case_of(1024, 128)};
}

}  // namespace kiln::cli
