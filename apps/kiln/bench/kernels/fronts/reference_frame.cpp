// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_frame.hpp"

#include <limits>

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace reference_frame_bench {

struct FrameArrays {
  FrameArrays(Queue& queue, std::int64_t groups, std::int64_t size, std::int64_t objectives)
      : points(queue, groups, size, objectives, PointCloud::sphere),
        rank(queue, groups * size),
        ideal(queue, filled(objectives * groups, infinity)),
        nadir(queue, objectives * groups),
        extreme(queue, filled(objectives * objectives * groups, infinity)) {
    rank.zero();
  }
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  PointArrays points;
  DeviceArray<std::int32_t> rank;
  DeviceArray<double> ideal, nadir, extreme;
};

KernelCase case_of(std::int64_t groups, std::int64_t size, std::int64_t objectives) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<FrameArrays>(queue, groups, size, objectives);
    const auto launch = [data, objectives, &queue](std::uint32_t) {
      ReferenceFrame kernel;
      kernel.value = data->points.values();
      kernel.groups = data->points.groups;
      kernel.rank = data->rank.view();
      kernel.ideal = matrix_of(data->ideal, objectives);
      kernel.nadir = matrix_of(data->nadir, objectives);
      kernel.extreme = matrix_of(data->extreme, objectives * objectives);
      queue.launch(kernel);
    };
    return {{launch}, data->points.bytes() + static_cast<double>(data->rank.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, " + std::to_string(objectives) + " objectives",
          prepare};
}

}  // namespace reference_frame_bench

template <>
std::vector<KernelCase> bench_cases<ReferenceFrame>() {
  using namespace reference_frame_bench;
  return {case_of(64, 184, 3), case_of(1, 10000, 5)};
}

}  // namespace kiln::cli
