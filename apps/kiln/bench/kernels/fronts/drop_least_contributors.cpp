// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/drop_least_contributors.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace drop_contributors_bench {

struct ContributionArrays {
  ContributionArrays(Queue& queue, std::int64_t groups, std::int64_t size)
      : pool(queue, groups, size, 2, PointCloud::sphere),
        rank(queue, groups * size),
        front(queue, 2 * groups * size),
        score(queue, groups * size),
        excess(queue, groups) {
    rank.zero();
  }
  // Half of a single front is too many.
  DropLeastContributors kernel() {
    DropLeastContributors all;
    all.value = pool.points.values();
    all.groups = pool.groups();
    all.rank = rank.view();
    all.keep = pool.groups().size / 2;
    all.front = matrix_of(front, 2);
    all.contribution = pool.score.view();
    all.score = score.view();
    all.excess = excess.view();
    all.control = pool.control.data();
    return all;
  }
  PoolArrays pool;
  DeviceArray<std::int32_t> rank;
  DeviceArray<double> front, score;
  DeviceArray<std::int32_t> excess;
};

KernelCase first_launch(std::int64_t groups, std::int64_t size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<ContributionArrays>(queue, groups, size);
    const auto launch = [data, &queue](std::uint32_t) { queue.launch(data->kernel()); };
    return {
        {launch},
        data->pool.points.bytes() +
            static_cast<double>(data->rank.bytes() + data->front.bytes() + data->score.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, 2 objectives, first launch", prepare};
}

// Each launch of a batch drops one point of every group.
KernelCase one_point(std::int64_t groups, std::int64_t size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<ContributionArrays>(queue, groups, size);
    Launches launches;
    launches.most = size / 2;
    launches.reset = [data, &queue] { queue.launch(data->kernel()); };
    launches.launch = [data, size, &queue](std::uint32_t index) {
      DropLeastContributors kernel = data->kernel();
      kernel.begin = false;
      kernel.rounds_left = size / 2 - index;
      queue.launch(kernel);
    };
    return {launches, static_cast<double>(data->front.bytes() / 2 + data->pool.score.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, 2 objectives, one drop per group", prepare};
}

}  // namespace drop_contributors_bench

template <>
std::vector<KernelCase> bench_cases<DropLeastContributors>() {
  using namespace drop_contributors_bench;
  return {first_launch(64, 200), one_point(64, 200)};
}

}  // namespace kiln::cli
