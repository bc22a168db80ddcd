// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/pairwise_family_energy.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace {

PreparedKernel prepare(BenchContext& context) {
  const auto data = std::make_shared<ObjectiveBatch>(context, bench_family());
  Queue& queue = context.queue();
  const auto evaluate = [data, &queue](std::uint32_t) {
    data->objective().evaluate({data->batch(), data->batch().energy(), {}, data->control()}, queue);
  };
  constexpr double per_slot = 3 * 8;
  return {{evaluate}, data->state_bytes() + per_slot * data->slots(), 0, data->batch().replicas()};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<PairwiseFamilyEnergy>() {
  return {{"torus with a field, 2000 spins", prepare}};
}

}  // namespace kiln::cli
