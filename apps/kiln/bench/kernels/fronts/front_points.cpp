// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/front_points.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace front_points_bench {

struct MemberArrays {
  MemberArrays(Queue& queue, std::int64_t groups, std::int64_t members, std::int64_t objectives)
      : pool(queue, groups, 2 * members, objectives),
        ideal(queue, filled(objectives, 0)),
        nadir(queue, filled(objectives, 1)),
        front(queue, objectives * groups * members) {}
  PoolArrays pool;
  DeviceArray<double> ideal, nadir, front;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<MemberArrays>(queue, 64, 1600, 3);
  const auto launch = [data, &queue](std::uint32_t) {
    FrontPoints kernel;
    kernel.value = data->pool.points.values();
    kernel.violation = data->pool.violation.view();
    kernel.rank = data->pool.rank.view();
    kernel.columns = {1600, 3200, 0};
    kernel.ideal = data->ideal.view();
    kernel.nadir = data->nadir.view();
    kernel.front = matrix_of(data->front, 3);
    queue.launch(kernel);
  };
  // Of the pool the half that are members.
  const double of_pool =
      data->pool.points.bytes() +
      static_cast<double>(data->pool.violation.bytes() + data->pool.rank.bytes());
  return {{launch}, of_pool / 2 + static_cast<double>(data->front.bytes())};
}

}  // namespace front_points_bench

template <>
std::vector<KernelCase> bench_cases<FrontPoints>() {
  using namespace front_points_bench;
  return {{"64 groups of 1600 members, 3 objectives", prepare}};
}

}  // namespace kiln::cli
