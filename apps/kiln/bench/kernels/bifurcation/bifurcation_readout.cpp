// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"

#include <memory>

#include "bench/kernels/bifurcation/oscillators.hpp"

namespace kiln::cli {
namespace bifurcation_readout_bench {

PreparedKernel prepare(BenchContext& context, const char* instance) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<BenchOscillators>(context, instance);
  const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->readout()); };
  return {{launch}, data->readout().bytes(), 0, BenchOscillators::replicas};
}

KernelCase of(const char* instance) {
  return {instance, [instance](BenchContext& context) { return prepare(context, instance); }};
}

}  // namespace bifurcation_readout_bench

template <>
std::vector<KernelCase> bench_cases<BifurcationReadout>() {
  using bifurcation_readout_bench::of;
  return {of("k2000")};
}

}  // namespace kiln::cli
