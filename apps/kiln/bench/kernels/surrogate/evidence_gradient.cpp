// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/evidence_gradient.hpp"

#include <memory>
#include <string>

#include "bench/fit_fixture.hpp"
#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace evidence_gradient_bench {

// Studies with eight starts each, as a fit has them.
KernelCase case_of(std::int64_t items, std::int64_t n, std::int64_t dimension) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    constexpr std::int64_t starts = 8;
    const auto data = std::make_shared<FitArrays>(queue, items / starts, n, dimension, starts);
    const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->evidence()); };
    const double bytes = static_cast<double>(data->points.bytes() + data->target.bytes() +
                                             2 * data->parameter.bytes() + data->value.bytes());
    return {{launch}, bytes};
  };
  return {std::to_string(items) + " fits of " + std::to_string(n) + " points in " +
              std::to_string(dimension) + " dimensions",
          prepare};
}

}  // namespace evidence_gradient_bench

template <>
std::vector<KernelCase> bench_cases<EvidenceGradient>() {
  using namespace evidence_gradient_bench;
  return {case_of(64, 50, 6), case_of(8000, 60, 6)};
}

}  // namespace kiln::cli
