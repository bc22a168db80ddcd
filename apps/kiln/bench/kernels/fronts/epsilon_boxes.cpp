// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/epsilon_boxes.hpp"

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace epsilon_boxes_bench {

struct BoxArrays {
  explicit BoxArrays(Queue& queue)
      : points(queue, 1, 200000, 3),
        epsilon(queue, std::vector<double>(3, 0.01)),
        box(queue, 3 * points.count()) {}
  PointArrays points;
  DeviceArray<double> epsilon, box;
};

}  // namespace epsilon_boxes_bench

template <>
std::vector<KernelCase> bench_cases<EpsilonBoxes>() {
  using namespace epsilon_boxes_bench;
  const auto prepare = [](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<BoxArrays>(queue);
    Launches launches{[data, &queue](std::uint32_t) {
      const std::int64_t n = data->points.count();
      queue.launch(EpsilonBoxes{
          data->points.values(), data->epsilon.view(), {data->box.data(), 3, n, n}, nullptr});
    }};
    launches.most = 100;
    return {launches, 2 * data->points.bytes()};
  };
  return {{"200000 points, 3 objectives", prepare}};
}

}  // namespace kiln::cli
