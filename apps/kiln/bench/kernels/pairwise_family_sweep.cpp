// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/pairwise_family_sweep.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace {

PreparedKernel prepare(BenchContext& context) {
  const auto data = std::make_shared<ObjectiveBatch>(context, bench_family());
  Queue& queue = context.queue();
  const auto sweep = [data, &queue](std::uint32_t index) {
    data->objective().metropolis_sweep(
        {data->batch(), data->beta(), data->control(), index, data->inverse_scale(), false}, queue);
  };
  for (std::uint32_t i = 0; i < 20; ++i) sweep(1000 + i);  // towards the states of that temperature
  constexpr double per_slot = 2 * 8 + 8 + 4 + 4;           // counts in and out, names and rung in
  return {{sweep},
          2 * data->state_bytes() + per_slot * data->slots(),
          data->attempts(),
          data->batch().replicas()};
}

}  // namespace

template <>
std::vector<KernelCase> bench_cases<PairwiseFamilySweep>() {
  return {{"torus with a field, 2000 spins", prepare}};
}

}  // namespace kiln::cli
