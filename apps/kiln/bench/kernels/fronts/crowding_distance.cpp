// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/crowding_distance.hpp"

#include <string>

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace crowding_distance_bench {

struct CrowdingArrays {
  CrowdingArrays(Queue& queue, std::int64_t groups, std::int64_t size)
      : points(queue, groups, size, 3),
        rank(queue, ranks(groups * size)),
        distance(queue, groups * size),
        scratch(queue, CrowdingDistance::scratch_bytes(points.groups, points.count())) {}
  static std::vector<std::int32_t> ranks(std::int64_t count) {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<std::int32_t>(i % 20));
    return all;
  }
  PointArrays points;
  DeviceArray<std::int32_t> rank;
  DeviceArray<double> distance;
  DeviceArray<std::byte> scratch;
};

KernelCase case_of(std::int64_t groups, std::int64_t size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<CrowdingArrays>(queue, groups, size);
    Launches launches{[data, &queue](std::uint32_t) {
      queue.launch(CrowdingDistance{data->points.values(), data->points.groups, data->rank.view(),
                                    data->distance.view(), data->scratch.view()});
    }};
    launches.most = 50;
    return {launches, data->points.bytes() +
                          static_cast<double>(data->rank.bytes() + data->distance.bytes())};
  };
  return {(groups > 1 ? std::to_string(groups) + " groups of " : "") + std::to_string(size) +
              " points, 3 objectives",
          prepare};
}

}  // namespace crowding_distance_bench

template <>
std::vector<KernelCase> bench_cases<CrowdingDistance>() {
  using namespace crowding_distance_bench;
  return {case_of(1, 10000), case_of(1000, 200)};
}

}  // namespace kiln::cli
