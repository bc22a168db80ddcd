// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_association.hpp"

#include <string>

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace reference_association_bench {

struct AssociationArrays {
  AssociationArrays(Queue& queue, std::int64_t size, std::int64_t objectives, std::int64_t lines)
      : points(queue, 1, size, objectives, PointCloud::sphere),
        directions(queue, 1, lines, objectives),
        ideal(queue, objectives),
        nadir(queue, std::vector<double>(static_cast<std::size_t>(objectives), 1.0)),
        line(queue, size),
        distance(queue, size) {
    ideal.zero();
  }
  PointArrays points, directions;
  DeviceArray<double> ideal, nadir;
  DeviceArray<std::int32_t> line;
  DeviceArray<double> distance;
};

KernelCase case_of(std::int64_t size, std::int64_t objectives, std::int64_t lines) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<AssociationArrays>(queue, size, objectives, lines);
    const auto launch = [data, objectives, &queue](std::uint32_t) {
      ReferenceAssociation kernel;
      kernel.value = data->points.values();
      kernel.groups = data->points.groups;
      kernel.ideal = {data->ideal.data(), objectives, 1, 1};
      kernel.nadir = {data->nadir.data(), objectives, 1, 1};
      kernel.direction = data->directions.values();
      kernel.line = data->line.view();
      kernel.distance = data->distance.view();
      queue.launch(kernel);
    };
    return {{launch},
            data->points.bytes() + data->directions.bytes() +
                static_cast<double>(data->line.bytes() + data->distance.bytes())};
  };
  return {std::to_string(size) + " points, " + std::to_string(objectives) + " objectives, " +
              std::to_string(lines) + " reference lines",
          prepare};
}

}  // namespace reference_association_bench

template <>
std::vector<KernelCase> bench_cases<ReferenceAssociation>() {
  using namespace reference_association_bench;
  return {case_of(10000, 3, 91), case_of(100000, 10, 275)};
}

}  // namespace kiln::cli
