// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"

#include "bench/adaptation_fixture.hpp"

namespace kiln::cli {
namespace add_pool_moments_bench {

KernelCase case_of(std::int64_t dimensions, std::int64_t chains) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<AdaptationArrays>(queue, dimensions, chains);
    const auto launch = [data, &queue](std::uint32_t) {
      queue.launch(AddPoolMoments{data->pools(),
                                  data->const_vector(0),
                                  data->const_vector(1),
                                  data->adaptation.view(),
                                  {},
                                  data->pool_moments(),
                                  data->control.data(),
                                  0});
    };
    return {{launch}, 16.0 * static_cast<double>(dimensions * chains), 0, chains};
  };
  return {std::to_string(dimensions) + " dimensions", prepare};
}

}  // namespace add_pool_moments_bench

template <>
std::vector<KernelCase> bench_cases<AddPoolMoments>() {
  using namespace add_pool_moments_bench;
  return {case_of(10, 65536), case_of(25, 4)};
}

}  // namespace kiln::cli
