// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/categorical_energy.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace {

PreparedKernel prepare(BenchContext& context, const std::string& instance) {
  const auto data = std::make_shared<ObjectiveBatch>(context, instance);
  Queue& queue = context.queue();
  const auto evaluate = [data, &queue](std::uint32_t) {
    data->objective().evaluate({data->batch(), data->batch().energy(), {}, data->control()}, queue);
  };
  return {{evaluate}, data->state_bytes() + 8 * data->slots(), 0, data->batch().replicas()};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<CategoricalEnergy>() {
  std::vector<KernelCase> cases;
  for (const std::string& name : potts_instances()) {
    cases.push_back({name, [name](BenchContext& context) { return prepare(context, name); }});
  }
  return cases;
}

}  // namespace kiln::cli
