// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/categorical_sweep.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace {

// States, energies and counts in and out, names and rung in. Couplings are left out: they are few
// beside the states of thousands of replicas, and how often they are read is the kernel's affair.
double bytes_of(const ObjectiveBatch& data) {
  constexpr double per_slot = 2 * 8 + 2 * 8 + 8 + 4 + 4;
  return 2 * data.state_bytes() + per_slot * data.slots();
}

PreparedKernel prepare(BenchContext& context, const std::string& instance) {
  const auto data = std::make_shared<ObjectiveBatch>(context, instance);
  Queue& queue = context.queue();
  const auto sweep = [data, &queue](std::uint32_t index) {
    data->objective().metropolis_sweep(
        {data->batch(), data->beta(), data->control(), index, data->inverse_scale()}, queue);
  };
  for (std::uint32_t i = 0; i < 20; ++i) sweep(1000 + i);  // towards the states of that temperature
  return {{sweep}, bytes_of(*data), data->attempts(), data->batch().replicas()};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<CategoricalSweep>() {
  std::vector<KernelCase> cases;
  for (const std::string& name : potts_instances()) {
    cases.push_back({name, [name](BenchContext& context) { return prepare(context, name); }});
  }
  return cases;
}

}  // namespace kiln::cli
