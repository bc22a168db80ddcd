// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_parents.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace select_parents_bench {

struct MatingArrays {
  MatingArrays(Queue& queue, std::int64_t slots)
      : pool(queue, 1, slots, 2), parents(queue, 2 * slots), immigrants(queue, slots) {}
  PoolArrays pool;
  DeviceArray<std::int32_t> parents, immigrants;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<MatingArrays>(queue, 100000);
  const auto launch = [data, &queue](std::uint32_t index) {
    SelectParents kernel;
    kernel.replicas = kernel.group_size = data->pool.count();
    kernel.columns = {kernel.group_size, kernel.group_size, 0};
    kernel.rank = data->pool.rank.view();
    kernel.score = data->pool.score.view();
    kernel.parents = matrix_of(data->parents, 2);
    kernel.immigrants = data->immigrants.view();
    kernel.draw_ids = data->pool.draw_ids();
    kernel.control = data->pool.control.data();
    kernel.step_offset = index;
    queue.launch(kernel);
  };
  return {{launch},
          static_cast<double>(data->pool.rank.bytes() + data->pool.score.bytes() +
                              data->pool.key.bytes() + data->pool.replica.bytes() +
                              data->parents.bytes() + data->immigrants.bytes())};
}

}  // namespace select_parents_bench

template <>
std::vector<KernelCase> bench_cases<SelectParents>() {
  using namespace select_parents_bench;
  return {{"tournaments for 100000 children", prepare}};
}

}  // namespace kiln::cli
